import { escapeHtml } from "../page/parts/html.ts";
import { openDialog } from "./dialog.ts";
import { knownToken } from "./token.ts";

const shownMs = 2_000;

/** Copies the report of the alert that the button names; a dialog shows it where the browser gives no clipboard. */
export async function copyReport(button: HTMLButtonElement): Promise<void> {
  const text = await readReport(button.dataset["alert"] ?? "");
  if (text === null) return say(button, "Not read");
  try {
    await navigator.clipboard.writeText(text);
    say(button, "Copied");
  } catch {
    await openDialog({
      title: "The report of this alert",
      verb: "Done",
      cancel: "Close",
      kind: "wide",
      content: `<p>This browser does not let a page copy: the text is selected.</p><label><span class="sr">Report</span><textarea name="report" rows="16" readonly data-first>${escapeHtml(text)}</textarea></label>`,
      update: (form) => form.querySelector("textarea")?.select(),
    });
  }
}

function say(button: HTMLButtonElement, said: string): void {
  button.textContent = said;
  setTimeout(() => (button.textContent = "Copy report"), shownMs);
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
