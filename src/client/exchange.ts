import { readFileSync } from "node:fs";

import { abortError, FlatlineError, type ErrorCode } from "../base/errors.ts";
import { HttpFailure, sendRequest, type HttpResponse } from "../base/http.ts";
import { Secret } from "../base/secret.ts";
import { createSystemClock } from "../base/time.ts";
import type { Operation, OperationName } from "../contract/operations.ts";
import type { CallOptions } from "../contract/platform-api.ts";
import type { ConnectedClientOptions } from "./connected-client.ts";
import { accountOf, PauseRegistry } from "./pauses.ts";
import { refusal } from "./refusals.ts";
import { parseJson } from "./upstream-text.ts";

export interface ExchangeRequest {
  readonly operation: Operation & { readonly name: OperationName };
  /** Relative to the base URL, with the query. */
  readonly path: string;
  readonly body?: object;
}

// Documented answers have some kilobytes, a page of 100 reports about 200 kB (CONTRACT 9: at most 4 MiB).
const maxBodyBytes = 4 * 1_024 * 1_024;
// Full jitter over 0.5, 1, 2 … s: short for a check's interval, long enough for a restart of the service.
const firstBackoffMs = 500;
const longestBackoffMs = 8_000;

/**
 * Sends requests with one key to one origin: retries safe ones, waits as a Retry-After says, and maps failures to
 * `api_*` errors (CONTRACT 9, the client).
 * @throws invalid_config for a base URL or key that cannot be used
 */
export function createExchange(options: ConnectedClientOptions) {
  const { dispatcher, gate, timeoutMs = 30_000, retries = 2, random = Math.random } = options;
  const { clock = createSystemClock(), onRequest = () => undefined } = options;
  const { pauses = new PauseRegistry({ clock }), userAgent = `flatline/${ownVersion()}` } = options;
  const apiKey = usableKey(options.apiKey);
  const baseUrl = usableUrl(options.baseUrl);
  const account = accountOf(baseUrl.origin, apiKey);
  const headers = { accept: "application/json", "user-agent": userAgent, "x-api-key": apiKey.reveal() };

  /** Waits for the end of a Retry-After pause; rejects at once if that is longer than the timeout of an attempt. */
  async function awaitPause(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      if (signal?.aborted === true) {
        const late = "the timeout of this call expired before an answer came";
        throw abortError(signal, late, "stopped by the caller before an answer came");
      }
      const remainingMs = pauses.remainingMs(account);
      if (remainingMs === 0) return;
      if (remainingMs > timeoutMs) throw pausedError(remainingMs);
      await clock.sleep(remainingMs, signal);
    }
  }

  async function send({ operation, path, body }: ExchangeRequest, signal: AbortSignal | undefined) {
    const url = new URL(`${baseUrl.href.replace(/\/+$/, "")}${path}`);
    if (url.origin !== baseUrl.origin)
      throw new FlatlineError("internal", "the request is for another origin than the configured one");
    const deadline = clock.deadline(timeoutMs, signal);
    try {
      const response = await sendRequest(dispatcher, {
        method: operation.method,
        url,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: deadline.signal,
        maxBodyBytes,
        gate,
      });
      onRequest({ operation: operation.name, code: String(response.status) });
      return response;
    } catch (error) {
      if (error instanceof HttpFailure) onRequest({ operation: operation.name, code: error.kind });
      throw error;
    } finally {
      deadline.release();
    }
  }

  function refused(response: HttpResponse, { operation }: ExchangeRequest): FlatlineError {
    return refusal(response, { operation: operation.name, apiKey, nowMs: clock.nowMs() });
  }

  /** undefined: no JSON, or truncated. */
  function jsonOf({ isTruncated, body }: HttpResponse): unknown {
    return isTruncated ? undefined : parseJson(body, apiKey);
  }

  function described(failure: HttpFailure): FlatlineError {
    const messages: Readonly<Record<HttpFailure["kind"], string>> = {
      network: `no answer from ${baseUrl.host}: ${failure.message}`,
      timeout: `no complete answer from ${baseUrl.host} within ${timeoutMs} ms`,
      aborted: "stopped by the caller before the answer came",
    };
    return new FlatlineError(failure.code, messages[failure.kind], { cause: failure });
  }

  return {
    apiKey,
    /** Sends a request that may be repeated; returns the JSON of a 200. @throws FlatlineError api_* */
    repeatable: async (request: ExchangeRequest, { signal }: CallOptions): Promise<unknown> => {
      for (let attempt = 0; ; attempt++) {
        await awaitPause(signal);
        try {
          const response = await send(request, signal);
          if (response.status !== 200) throw refused(response, request);
          const json = jsonOf(response);
          if (json !== undefined) return json;
          const what = response.isTruncated ? `longer than ${maxBodyBytes} bytes` : "not JSON, or nested too deeply";
          throw invalid(`the answer is ${what}`);
        } catch (error) {
          const failure = error instanceof HttpFailure ? described(error) : error;
          if (!(failure instanceof FlatlineError) || !passing.has(failure.code)) throw failure;
          if (failure.retryAfterMs !== undefined) {
            pauses.pause(account, failure.retryAfterMs);
            const remainingMs = pauses.remainingMs(account);
            if (remainingMs > timeoutMs) throw pausedError(remainingMs, failure);
          }
          if (attempt >= retries || signal?.aborted === true) throw failure;
        }
        await clock.sleep(random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** attempt), signal);
      }
    },
    /** Sends a request at most once. @throws FlatlineError api_*; api_outcome_unknown if the answer was lost */
    once: async (request: ExchangeRequest, { signal }: CallOptions): Promise<unknown> => {
      await awaitPause(signal);
      const response = await send(request, signal).catch((error: unknown) => {
        if (!(error instanceof HttpFailure)) throw error;
        if (error.mayHaveBeenSent) throw outcomeUnknown(error.message, error);
        const message = `${error.message}; nothing was sent, so it may be tried again`;
        throw new FlatlineError(error.code, message, { cause: error });
      });
      // 502 and 504: a gateway lost the answer of the service behind it.
      if (response.status === 502 || response.status === 504)
        throw outcomeUnknown(`a gateway answered ${response.status}`, undefined);
      if (response.status < 200 || response.status > 299) throw refused(response, request);
      return jsonOf(response);
    },
  };
}

function usableUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isUsable)
    throw new FlatlineError("invalid_config", "the base URL is not an http(s) URL without query and fragment");
  return url;
}

/** Rejects a key that no header can hold, and an unset variable of plain JavaScript. */
function usableKey(given: string | Secret | undefined): Secret {
  const apiKey = given === undefined || typeof given === "string" ? new Secret(given ?? "") : given;
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(apiKey.reveal())) return apiKey;
  throw new FlatlineError("invalid_config", "the API key is empty or has characters that are not allowed in a header");
}

function ownVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

// Another attempt may succeed.
const passing: ReadonlySet<ErrorCode> = new Set(["api_timeout", "api_network", "api_rate_limited", "api_server_error"]);

/** The API does not document this answer. */
export function invalid(message: string): FlatlineError {
  return new FlatlineError("api_invalid_response", message);
}

export function outcomeUnknown(what: string, cause: unknown): FlatlineError {
  const advice =
    "whether the review was made is unknown, and it was not sent again: " +
    "read the proposal again from the reports listing before you decide again";
  return new FlatlineError("api_outcome_unknown", `${what}; ${advice}`, { cause });
}

function pausedError(remainingMs: number, cause?: FlatlineError): FlatlineError {
  const seconds = Math.ceil(remainingMs / 1_000);
  const message = `the service asked for a pause (Retry-After): no request with this API key for another ${seconds} s`;
  return new FlatlineError("api_rate_limited", message, { cause, retryAfterMs: remainingMs });
}
