import { openDialog, textOf, type Problem } from "./dialog.ts";
import { escapeHtml } from "../parts/html.ts";

// Kept for the tab only: gone when it is closed, and never sent along by the browser itself.
const key = "flatline-token";

/** The service's answer to a caller that may write. */
export interface Answer {
  readonly ok: boolean;
  readonly message: string;
  readonly body: unknown;
  /** No answer came [one did]. */
  readonly isUnreachable?: boolean;
  /** The dialog that asked has a field for the token now [it has none]. */
  readonly needsToken?: boolean;
}

/** Returns the token that was given in this tab; null: none yet. */
export function knownToken(): string | null {
  return sessionStorage.getItem(key);
}

/** Returns whether a proxy says who reads this page, and no token was given that would decide instead. */
export function mayActWithoutToken(): boolean {
  return knownToken() === null && document.getElementById("main")?.dataset["known"] === "yes";
}

/** Asks for the token once; null when none is given. `problem` is why it is asked again. */
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
  return wrong === null ? token : askToken(`Not accepted: ${wrong}.`);
}

/** Keeps a token for this tab; why it cannot be one, else null. */
export function keepToken(token: string): string | null {
  if (token === "") return "it is empty";
  // No header can carry it: each request of this tab would fail before it is sent.
  if (/[^\t\u{20}-\u{ff}]/u.test(token)) return "no token has such a character";
  sessionStorage.setItem(key, token);
  return null;
}

/** Forgets a token that was not accepted. */
export function forgetToken(): void {
  sessionStorage.removeItem(key);
}

/**
 * Asks the API with the token; null when no one gave one. A token that is missing or wrong is asked for by a dialog, and
 * where one is open already in that: its next try takes what was given there.
 */
export async function callApi(method: string, path: string, body?: unknown): Promise<Answer | null> {
  let problem = "";
  for (;;) {
    const dialog = document.querySelector<HTMLDialogElement>("dialog[open]");
    const typed = dialog?.querySelector<HTMLInputElement>("[name=token]")?.value ?? "";
    const wrong = typed === "" || knownToken() !== null ? null : keepToken(typed);
    if (wrong !== null && dialog !== null) return askWithin(dialog, wrong);
    const isKnown = mayActWithoutToken() && problem === "";
    if (dialog !== null && knownToken() === null && !isKnown) return askWithin(dialog, "a token is needed");
    const token = isKnown ? null : await askToken(problem);
    if (token === null && !isKnown) return problem === "" ? null : { ok: false, message: problem, body: null };
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    let response: Response;
    try {
      response = await fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    } catch {
      return { ok: false, isUnreachable: true, message: "flatline could not be reached", body: null };
    }
    if (response.status === 401) {
      sessionStorage.removeItem(key);
      if (dialog !== null) return askWithin(dialog, "the token was not accepted");
      problem = "Not accepted. Nothing was changed.";
      continue;
    }
    const text = await response.text();
    const parsed = readJson(text);
    const message = hasMessage(parsed) ? parsed.message : response.ok ? "" : `HTTP ${response.status}`;
    return { ok: response.ok, message, body: parsed };
  }
}

/** Puts a field for the token into a dialog, as no second one opens over it. */
function askWithin(dialog: HTMLDialogElement, problem: string): Answer {
  let field = dialog.querySelector<HTMLInputElement>("[name=token]");
  if (field === null) {
    const label = document.createElement("label");
    label.innerHTML = 'Token<input type="password" name="token" autocomplete="off">';
    dialog.querySelector(".problem-line")?.before(label);
    field = label.querySelector("input");
  }
  if (field !== null) field.value = "";
  field?.focus();
  return { ok: false, needsToken: true, message: problem, body: null };
}

/** Returns why something was not done, for the dialog that asked for it. */
export function refusalOf(notDone: string, answer: Answer | null, after = ""): Problem {
  const why = answer === null ? "no token was given" : answer.message;
  return { message: `${notDone}: ${why}.${after}`, ...(answer?.needsToken === true ? { field: "token" } : {}) };
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
