import { openDialog, textOf } from "./dialog.ts";
import { escapeHtml } from "../page/parts/html.ts";

// Of the tab only: gone when it is closed, never sent along by the browser itself.
const key = "flatline-token";

/** What the service answered to somebody who may write. */
export interface Answer {
  readonly ok: boolean;
  readonly message: string;
  readonly body: unknown;
}

/** The token that was given in this tab; null: none yet. */
export function knownToken(): string | null {
  return sessionStorage.getItem(key);
}

/** Whether a proxy says who reads this page, and no token was given that would decide instead. */
export function mayActWithoutToken(): boolean {
  return knownToken() === null && document.getElementById("main")?.dataset["known"] === "yes";
}

/** Asks for the token once; null when nobody gives one. `problem` is why it is asked again. */
export async function askToken(problem = ""): Promise<string | null> {
  const known = knownToken();
  if (known !== null) return known;
  const form = await openDialog({
    title: "This needs a token",
    verb: "Go on",
    content: `<p>It is <code>server.token</code> of the configuration, kept until this tab is closed.</p>
<p class="bad" role="alert">${escapeHtml(problem)}</p><label>Token<input type="password" name="token" autocomplete="off" data-first></label>`,
    send: async (filled) => (textOf(filled, "token") === "" ? { message: "Give the token.", field: "token" } : null),
  });
  const token = form?.get("token");
  if (typeof token !== "string" || token === "") return null;
  const wrong = keepToken(token);
  return wrong === null ? token : askToken(wrong);
}

/** Keeps a token for this tab; why it cannot be one, else null. */
export function keepToken(token: string): string | null {
  if (token === "") return "Not accepted: it is empty.";
  // No header can carry it: each request of this tab would fail before it is sent.
  if (/[^\t\u{20}-\u{ff}]/u.test(token)) return "Not accepted: no token has such a character.";
  sessionStorage.setItem(key, token);
  return null;
}

/** Forgets a token that was not accepted. */
export function forgetToken(): void {
  sessionStorage.removeItem(key);
}

/** Asks the API with the token, which is asked for when it is not known or was wrong; null when nobody gave one. */
export async function callApi(method: string, path: string, body?: unknown): Promise<Answer | null> {
  let problem = "";
  for (;;) {
    const isKnown = mayActWithoutToken() && problem === "";
    const token = isKnown ? null : await askToken(problem);
    if (token === null && !isKnown) return problem === "" ? null : { ok: false, message: problem, body: null };
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    let response: Response;
    try {
      response = await fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    } catch {
      return { ok: false, message: "flatline could not be reached. Nothing was changed.", body: null };
    }
    if (response.status === 401) {
      sessionStorage.removeItem(key);
      problem = "Not accepted. Nothing was changed.";
      continue;
    }
    const text = await response.text();
    const parsed = readJson(text);
    const message = hasMessage(parsed) ? parsed.message : response.ok ? "" : `HTTP ${response.status}`;
    return { ok: response.ok, message, body: parsed };
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function hasMessage(value: unknown): value is { readonly message: string } {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}
