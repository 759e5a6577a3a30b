import { escapeHtml } from "../page/parts/html.ts";
import { openDialog } from "./dialog.ts";
import { knownToken } from "./token.ts";

// Long enough to be read.
const shownMs = 2_000;

/** Copies a text and says so on the button; a dialog shows it, selected, where the browser gives no clipboard. */
export async function copyText(button: HTMLButtonElement, text: string, title: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(button, "Copied");
  } catch {
    await openDialog({
      title,
      verb: "Done",
      cancel: "Close",
      kind: "wide",
      content: `<p>This browser does not let a page copy: the text is selected.</p><label><span class="sr">Text</span><textarea rows="${text.includes("\n") ? 16 : 3}" readonly data-first>${escapeHtml(text)}</textarea></label>`,
      update: (form) => form.querySelector("textarea")?.select(),
    });
  }
}

/** Shows a word in place of the button's own for a while. */
function say(button: HTMLButtonElement, said: string): void {
  const label = (button.dataset["label"] ??= button.innerHTML);
  button.textContent = said;
  setTimeout(() => (button.innerHTML = label), shownMs);
}

/** Copies the report of the alert that the button names; a dialog shows it where the browser gives no clipboard. */
export async function copyReport(button: HTMLButtonElement): Promise<void> {
  const text = await readReport(button.dataset["alert"] ?? "");
  if (text === null) return say(button, "Not read");
  await copyText(button, text, "The report of this alert");
}

async function readReport(id: string): Promise<string | null> {
  const token = knownToken();
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`/api/v1/alerts/${encodeURIComponent(id)}/report`, { headers });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
