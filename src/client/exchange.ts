import { abortError, FlatlineError, type ErrorCode } from "../base/errors.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { HttpFailure, sendRequest, type BodyGate, type HttpResponse } from "../base/http.ts";
import type { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import type { Operation, OperationName } from "../contract/operations.ts";
import type { CallOptions } from "../contract/platform-api.ts";
import type { RequestEvent } from "./client.ts";
import { accountOf, type PauseRegistry } from "./pauses.ts";
import { refusal } from "./refusals.ts";
import { parseJson } from "./upstream-text.ts";

export interface ExchangeOptions {
  readonly baseUrl: URL;
  readonly apiKey: Secret;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly userAgent: string;
  readonly dispatcher: HttpDispatcher;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly pauses: PauseRegistry;
  readonly onRequest: (event: RequestEvent) => void;
  readonly gate: BodyGate | undefined;
}

export interface ExchangeRequest {
  readonly operation: Operation & { readonly name: OperationName };
  /** Relative to the base URL, with the query. */
  readonly path: string;
  readonly body?: object;
}

// Documented answers have some kilobytes; a page of 100 reports has about 200 kB (CONTRACT 9: at most 4 MiB).
const maxBodyBytes = 4 * 1_024 * 1_024;
// Full jitter over 0.5, 1, 2 … s: short compared to a check's interval, long enough for a restart of the service.
const firstBackoffMs = 500;
const longestBackoffMs = 8_000;

/**
 * Sends requests with one key to one origin, retries them where that is safe, waits where a Retry-After says so, and maps
 * failures to `api_*` errors (CONTRACT 9, the client).
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #account: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bodyHeaders: Readonly<Record<string, string>>;
  /** URLs of paths without variable parts, which are requested repeatedly. */
  readonly #urls = new Map<string, URL>();

  constructor(options: ExchangeOptions) {
    const { baseUrl, apiKey, userAgent } = options;
    this.#options = options;
    this.#account = accountOf(baseUrl.origin, apiKey);
    this.#headers = { accept: "application/json", "user-agent": userAgent, "x-api-key": apiKey.reveal() };
    this.#bodyHeaders = { ...this.#headers, "content-type": "application/json" };
  }

  /** Sends a request that may be repeated and returns the JSON of the 200. @throws FlatlineError api_* */
  async repeatable(request: ExchangeRequest, { signal }: CallOptions): Promise<unknown> {
    const { retries, clock, pauses, timeoutMs } = this.#options;
    for (let attempt = 0; ; attempt++) {
      await this.#awaitPause(signal);
      try {
        const response = await this.#send(request, signal);
        if (response.status !== 200) throw this.#refusal(response, request);
        const json = this.#jsonOf(response);
        if (json !== undefined) return json;
        const what = response.isTruncated ? `longer than ${maxBodyBytes} bytes` : "not JSON, or nested too deeply";
        throw invalid(`the answer is ${what}`);
      } catch (error) {
        const failure = error instanceof HttpFailure ? this.#described(error) : error;
        if (!(failure instanceof FlatlineError) || !passing.has(failure.code)) throw failure;
        if (failure.retryAfterMs !== undefined) {
          pauses.pause(this.#account, failure.retryAfterMs);
          const remainingMs = pauses.remainingMs(this.#account);
          if (remainingMs > timeoutMs) throw pausedError(remainingMs, failure);
        }
        if (attempt >= retries || signal?.aborted === true) throw failure;
      }
      await clock.sleep(this.#backoffMs(attempt), signal);
    }
  }

  /**
   * Sends a request at most once and returns the JSON of the 200.
   * @throws FlatlineError api_*; api_outcome_unknown if the answer was lost
   */
  async once(request: ExchangeRequest, { signal }: CallOptions): Promise<unknown> {
    await this.#awaitPause(signal);
    let response: HttpResponse;
    try {
      response = await this.#send(request, signal);
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      if (error.mayHaveBeenSent) throw outcomeUnknown(error.message, error);
      throw new FlatlineError(error.code, `${error.message}; nothing was sent, so it may be tried again`, {
        cause: error,
      });
    }
    // A gateway that stopped waiting (502, 504) lost the answer of the service behind it.
    if (response.status === 502 || response.status === 504)
      throw outcomeUnknown(`a gateway answered ${response.status}`, undefined);
    if (response.status < 200 || response.status > 299) throw this.#refusal(response, request);
    return this.#jsonOf(response);
  }

  /** Waits until the pause of a Retry-After ends; rejects at once if that takes longer than one attempt may. */
  async #awaitPause(signal: AbortSignal | undefined): Promise<void> {
    const { clock, pauses, timeoutMs } = this.#options;
    for (;;) {
      if (signal?.aborted === true) throw stopError(signal);
      const remainingMs = pauses.remainingMs(this.#account);
      if (remainingMs === 0) return;
      if (remainingMs > timeoutMs) throw pausedError(remainingMs);
      await clock.sleep(remainingMs, signal);
    }
  }

  async #send(request: ExchangeRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const { timeoutMs, dispatcher, clock, gate, onRequest } = this.#options;
    const headers = request.body === undefined ? this.#headers : this.#bodyHeaders;
    const operation = request.operation.name;
    const url = this.#urlOf(request);
    const deadline = clock.deadline(timeoutMs, signal);
    try {
      const response = await sendRequest(dispatcher, {
        method: request.operation.method,
        url,
        headers,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        signal: deadline.signal,
        maxBodyBytes,
        ...(gate === undefined ? {} : { gate }),
      });
      onRequest({ operation, code: String(response.status) });
      return response;
    } catch (error) {
      if (error instanceof HttpFailure) onRequest({ operation, code: error.kind });
      throw error;
    } finally {
      deadline.release();
    }
  }

  #urlOf({ path, operation }: ExchangeRequest): URL {
    const known = this.#urls.get(path);
    if (known !== undefined) return known;
    const { baseUrl } = this.#options;
    const url = new URL(`${baseUrl.href.replace(/\/+$/, "")}${path}`);
    if (url.origin !== baseUrl.origin)
      throw new FlatlineError("internal", "the request is for another origin than the configured one");
    if (path === operation.path) this.#urls.set(path, url);
    return url;
  }

  #refusal(response: HttpResponse, { operation }: ExchangeRequest): FlatlineError {
    const { apiKey, clock } = this.#options;
    return refusal(response, { operation: operation.name, apiKey, nowMs: clock.nowMs() });
  }

  /** undefined: it is none, or not whole. */
  #jsonOf({ isTruncated, body }: HttpResponse): unknown {
    return isTruncated ? undefined : parseJson(body, this.#options.apiKey);
  }

  #backoffMs(attempt: number): number {
    return this.#options.random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** attempt);
  }

  #described(failure: HttpFailure): FlatlineError {
    const { baseUrl, timeoutMs } = this.#options;
    const messages: Readonly<Record<HttpFailure["kind"], string>> = {
      network: `no answer from ${baseUrl.host}: ${failure.message}`,
      timeout: `no complete answer from ${baseUrl.host} within ${timeoutMs} ms`,
      aborted: "stopped by the caller before the answer came",
    };
    return new FlatlineError(failure.code, messages[failure.kind], { cause: failure });
  }
}

// Another attempt may succeed.
const passing: ReadonlySet<ErrorCode> = new Set(["api_timeout", "api_network", "api_rate_limited", "api_server_error"]);

/** Creates the error for an answer that the API does not document. */
export function invalid(message: string): FlatlineError {
  return new FlatlineError("api_invalid_response", message);
}

/** Creates the error for a review whose outcome is unknown. */
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

function stopError(signal: AbortSignal): FlatlineError {
  const late = "the timeout of this call expired before an answer came";
  return abortError(signal, late, "stopped by the caller before an answer came");
}
