import { breakAddresses } from "../base/broken-address.ts";
import { cutText, plainText } from "../base/outside-text.ts";
import { asFlatlineError } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { parseRetryAfter, sendRequest, type HttpResponse } from "../base/http.ts";
import { redact, Secret } from "../base/secret.ts";
import { decoded } from "../base/url.ts";
import type { DeliveryOutcome, Receiver } from "../alerting/deliver/receiver.ts";

export type DeliveryContext = Pick<Parameters<Receiver["deliver"]>[1], "signal" | "nowMs">;

export interface DeliveryRequest {
  readonly url: Secret;
  /** They replace the default `user-agent` and `content-type` [none]. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** An error must not show them, as an answer may echo the request; the address is always hidden. */
  readonly secrets?: readonly Secret[];
}

// CONTRACT 7: up to 64 KiB of an answer are read; an error shows as much as a line of a list holds.
const maxAnswerBytes = 65_536;
/** The limit of a request's body (CONTRACT 7): nginx takes as much by default. */
export const maxBodyBytes = 1_024 * 1_024;
const maxShownCharacters = 300;
// Long segments of a webhook's path are its password; shorter ones are words like `api` or `v2`.
const shortestTokenCharacters = 8;

/**
 * POSTs once and returns the outcome (CONTRACT 7); `read` judges an answer with an accepting status
 * [accepted]. Never rejects because of the far side or the network.
 */
export async function deliverRequest(
  dispatcher: HttpDispatcher,
  request: DeliveryRequest,
  context: DeliveryContext,
  read?: (response: HttpResponse) => DeliveryOutcome,
): Promise<DeliveryOutcome> {
  const bytes = Buffer.byteLength(request.body);
  if (bytes > maxBodyBytes) {
    const error = `a body of ${bytes} bytes, and at most ${maxBodyBytes} are sent`;
    return { kind: "rejected", error, isTooLarge: true };
  }
  const secrets = [...addressSecrets(request.url), ...(request.secrets ?? [])];
  try {
    const response = await sendRequest(dispatcher, {
      method: "POST",
      url: request.url.reveal(),
      headers: { "user-agent": "flatline", "content-type": "application/json", ...request.headers },
      body: request.body,
      signal: context.signal,
      maxBodyBytes: maxAnswerBytes,
      // The status alone accepts a delivery: a retry after a truncated answer would deliver it twice.
      isBodyOptional: true,
    });
    const outcome = responseOutcome(response, context.nowMs, secrets);
    return outcome.kind === "accepted" && read !== undefined ? read(response) : outcome;
  } catch (error) {
    return failureOutcome(error, secrets);
  }
}

/** Returns what a status means for a delivery (CONTRACT 7); after 413 a shorter delivery is tried. */
function responseOutcome(
  response: Pick<HttpResponse, "status" | "headers" | "body">,
  nowMs: number,
  secrets: readonly Secret[],
): DeliveryOutcome {
  const { status } = response;
  const said = shown(response.body, secrets);
  const detail = said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
  if (status >= 200 && status < 300) return { kind: "accepted", detail };
  if (status === 408 || status === 429 || status >= 500) {
    return { kind: "retry", error: detail, retryAfterMs: parseRetryAfter(response.headers["retry-after"], nowMs) };
  }
  return { kind: "rejected", error: detail, ...(status === 413 ? { isTooLarge: true } : {}) };
}

/** Returns the outcome of an exception: a retry for network errors and timeouts, a rejection for bugs. */
export function failureOutcome(error: unknown, secrets: readonly Secret[]): DeliveryOutcome {
  const known = asFlatlineError(error);
  const message = shown(known.message, secrets);
  if (known.fault === "upstream") return { kind: "retry", error: message, retryAfterMs: null };
  return { kind: "rejected", error: message };
}

/** Returns the outcome of several requests of one delivery: a retry while any wants one, else a refusal. */
export function combineOutcomes(outcomes: readonly DeliveryOutcome[]): DeliveryOutcome {
  const retries = outcomes.filter((outcome) => outcome.kind === "retry");
  const rejections = outcomes.filter((outcome) => outcome.kind === "rejected");
  const failures = retries.length > 0 ? retries : rejections;
  const [failure] = failures;
  if (failure === undefined) return outcomes[0] ?? { kind: "accepted", detail: "nothing to send" };
  const counted = `${failures.length} of ${outcomes.length} requests failed, the first with ${failure.error}`;
  const error = outcomes.length === 1 ? failure.error : counted;
  const waits = retries.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  if (retries.length > 0) return { kind: "retry", error, retryAfterMs: waits.length === 0 ? null : Math.max(...waits) };
  const isTooLarge = rejections.some((outcome) => outcome.isTooLarge === true);
  return { kind: "rejected", error, ...(isTooLarge ? { isTooLarge } : {}) };
}

const knownAddresses = new WeakMap<Secret, readonly Secret[]>();

/** Returns the address and its secret parts: credentials, long segments of the path, values of the query. */
export function addressSecrets(address: Secret): readonly Secret[] {
  const known = knownAddresses.get(address) ?? partsOf(address);
  knownAddresses.set(address, known);
  return known;
}

function partsOf(address: Secret): readonly Secret[] {
  const text = address.reveal();
  const parts = new Set([text]);
  if (URL.canParse(text)) {
    const url = new URL(text);
    const tokens = [...url.pathname.split("/"), ...url.searchParams.values(), url.username];
    const [user, password] = [decoded(url.username), decoded(url.password)];
    if (password !== "") {
      // Basic authorization, AUTH PLAIN and AUTH LOGIN send it in these forms.
      const sent = [`${user}:${password}`, `\0${user}\0${password}`, password];
      for (const form of sent) parts.add(Buffer.from(form).toString("base64"));
      for (const form of [url.password, password]) parts.add(form);
    }
    for (const whole of [url.href, `${url.pathname}${url.search}`]) if (whole.length > 1) parts.add(whole);
    for (const token of tokens) {
      if (token.length < shortestTokenCharacters) continue;
      parts.add(token);
      parts.add(decoded(token));
    }
  }
  return [...parts].map((part) => new Secret(part));
}

/** Returns a secret as it is, and without a prefix: `Bearer ` of a header, `whsec_` of a key. */
export function bareSecrets(secret: Secret): readonly Secret[] {
  const value = secret.reveal();
  const bare = value.replace(/^(?:whsec_|\S+\s+)/, "");
  return bare === value || bare.length < shortestTokenCharacters ? [secret] : [secret, new Secret(bare)];
}

/** Returns text of a far side for logs, pages and commands, with addresses broken: it may echo dead assets. */
export function shown(text: string, secrets: readonly Secret[]): string {
  // Redacts before it cuts: half a secret would not be recognized.
  return cutText(breakAddresses(plainText(redact(text, secrets))), maxShownCharacters);
}
