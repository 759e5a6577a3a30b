import { copyText, say } from "./copy.ts";
import { knownToken } from "./token.ts";

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
