import type { Problem } from "./dialog.ts";

/** The service's answer to a caller that may write. */
export interface Answer {
  readonly ok: boolean;
  readonly message: string;
  readonly body: unknown;
  /** No answer came [one did]. */
  readonly isUnreachable?: boolean;
  /** The session has ended meanwhile [it holds]. */
  readonly isSignedOut?: boolean;
}

/** Returns whether the browser says by itself who acts; else it goes to the sign-in, which leads back here. */
export function mayAct(): boolean {
  if (document.getElementById("main")?.dataset["known"] === "yes") return true;
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  return false;
}

/** Asks the API as who is signed in; null: nobody is, and the sign-in comes. */
export async function callApi(method: string, path: string, body?: unknown): Promise<Answer | null> {
  if (!mayAct()) return null;
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(path, { method, ...(body === undefined ? {} : json) });
  } catch {
    return { ok: false, isUnreachable: true, message: "flatline could not be reached", body: null };
  }
  // What is filled in stays: another tab can sign in.
  if (response.status === 401)
    return { ok: false, isSignedOut: true, message: "you are not signed in any more", body: null };
  const parsed = readJson(await response.text());
  const message = hasMessage(parsed) ? parsed.message : response.ok ? "" : `HTTP ${response.status}`;
  return { ok: response.ok, message, body: parsed };
}

/** Returns why something was not done, for the dialog that asked for it. */
export function refusalOf(notDone: string, answer: Answer | null, after = ""): Problem {
  return { message: `${notDone}: ${answer === null ? "you are not signed in" : answer.message}.${after}` };
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
