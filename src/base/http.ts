import { getSystemErrorName } from "node:util";

import { Agent, Dispatcher, EnvHttpProxyAgent } from "undici";

import type { BodyGate } from "./body-gate.ts";
import { FlatlineError } from "./errors.ts";
import { eventLoopTurn } from "./time.ts";
import { systemCodeOf } from "./file-error.ts";

export type HttpFailureKind = "timeout" | "network" | "aborted";

/**
 * A request that got no complete answer. `timeout`: the signal's deadline or the connection's; `aborted`: the caller
 * stopped; `network`: all else between here and the far side. Callers map it to an error of their own.
 */
export class HttpFailure extends FlatlineError {
  readonly kind: HttpFailureKind;
  /** False only when not one byte of the request left: then trying again repeats nothing. */
  readonly mayHaveBeenSent: boolean;

  constructor(kind: HttpFailureKind, message: string, mayHaveBeenSent: boolean, cause?: unknown) {
    super(kind === "timeout" ? "api_timeout" : "api_network", message, { cause });
    this.name = "HttpFailure";
    this.kind = kind;
    this.mayHaveBeenSent = mayHaveBeenSent;
  }
}

export interface HttpDispatcherOptions {
  /** The variables of the environment: HTTP_PROXY, HTTPS_PROXY, NO_PROXY; lower-case ones win, as in curl. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface HttpRequest {
  readonly method: string;
  /** http or https; a user and password in it become a Basic authorization. */
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The deadline (Clock.timeout) and the caller's wish to stop; holds until the last byte of the body. */
  readonly signal: AbortSignal;
  /** Of the body no more than this is read: the connection is closed at the first byte after it. */
  readonly maxBodyBytes: number;
  /** Where a large body waits for its turn [nowhere]. */
  readonly gate?: BodyGate;
  /** True where the status says all: a body that breaks off, or does not end in time, is what came of it. */
  readonly isBodyOptional?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; a repeated header's values are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Read as UTF-8, up to `maxBodyBytes`. */
  readonly body: string;
  /** True when there was more than `maxBodyBytes`, or an optional body broke off. */
  readonly isTruncated: boolean;
}

const agentOptions = {
  // Many more than the checks under way at once (source.concurrency): a bound on sockets, not on work.
  connections: 128,
  connectTimeout: 10_000,
  // Checks of one tick share a connection; between ticks none is held, so that none is found dead.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // One request, one connection: what an abort or a reset hits is never a neighbour's.
  allowH2: false,
} as const;

/**
 * A dispatcher that honours the proxies of `env` and keeps connections alive; close it (or destroy it) with its owner.
 * HTTP_PROXY is for http: only, HTTPS_PROXY for https: only, as in curl and Go. @throws invalid_config for a proxy that is no URL.
 */
export function createHttpDispatcher(options: HttpDispatcherOptions): Dispatcher {
  const httpProxy = proxyUrl(options.env, "http_proxy");
  const httpsProxy = proxyUrl(options.env, "https_proxy");
  if (httpProxy === "" && httpsProxy === "") return new Agent(agentOptions);
  const noProxy = variable(options.env, "no_proxy");
  // undici falls back from https_proxy to http_proxy, and from options to process.env: all are given, https has its own agent.
  const http = new EnvHttpProxyAgent({ ...agentOptions, httpProxy, httpsProxy: "", noProxy });
  const https = new EnvHttpProxyAgent({ ...agentOptions, httpProxy: "", httpsProxy, noProxy });
  return new SchemeDispatcher(http, https);
}

// Replaces what is no UTF-8, leaves a byte order mark out, and keeps nothing between two texts.
const utf8 = new TextDecoder();

/** Chunk by chunk: what allocates megabytes at once outside of V8's heap never gives them back. */
function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return utf8.decode(first);
  const decoder = new TextDecoder();
  return [...chunks.map((chunk) => decoder.decode(chunk, { stream: true })), decoder.decode()].join("");
}

/** Sends one request and reads its answer; never follows a redirect. @throws HttpFailure */
export function sendRequest(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal, maxBodyBytes } = request;
    const chunks: Buffer[] = [];
    let controller: Dispatcher.DispatchController | null = null;
    let head: Pick<HttpResponse, "status" | "headers"> | null = null;
    let receivedBytes = 0;
    let isSettled = false;
    let leaveGate: (() => void) | null = null;

    function settle(act: () => void): void {
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener("abort", stop);
      act();
      // What was read is used and gone before the next one begins.
      if (leaveGate !== null) void eventLoopTurn().then(leaveGate);
    }
    function stop(): void {
      const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      const message = isTimeout ? "no complete answer in time" : "stopped by the caller";
      fail(new HttpFailure(isTimeout ? "timeout" : "aborted", message, controller !== null, signal.reason));
    }
    function fail(failure: HttpFailure): void {
      if (head !== null && request.isBodyOptional === true) answer(true);
      else settle(() => reject(failure));
      controller?.abort(failure);
    }
    function answer(isTruncated: boolean): void {
      if (isSettled) return;
      const answered = head;
      if (answered === null) return fail(new HttpFailure("network", "an answer without a head", true));
      const body = textOf(chunks);
      chunks.length = 0;
      settle(() => resolve({ ...answered, body, isTruncated }));
    }

    function waitForTurn(active: Dispatcher.DispatchController): void {
      const { gate } = request;
      if (gate === undefined || leaveGate !== null || receivedBytes <= gate.freeBytes) return;
      active.pause();
      leaveGate = gate.enter(() => active.resume());
    }

    const handler: Dispatcher.DispatchHandler = {
      // Called when a connection stands and the request is about to be written to it: before this nothing was sent.
      onRequestStart(started) {
        if (isSettled) return started.abort(new Error("stopped before it was sent"));
        controller = started;
      },
      onResponseStart(_controller, status, headers) {
        // 1xx: the answer is still to come.
        if (status >= 200) head = { status, headers: flattenHeaders(headers) };
      },
      onResponseData(active, chunk) {
        if (isSettled) return;
        const room = maxBodyBytes - receivedBytes;
        receivedBytes += chunk.length;
        chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
        if (chunk.length <= room) return waitForTurn(active);
        answer(true);
        active.abort(new Error("the body is longer than what is read of it"));
      },
      onResponseEnd() {
        answer(false);
      },
      onResponseError(_controller, error) {
        const kind = isTimeoutError(error) ? "timeout" : "network";
        fail(new HttpFailure(kind, describeNetworkError(error), controller !== null, error));
      },
    };

    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const url = request.url instanceof URL ? request.url : new URL(request.url);
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          // Identity: a compressed body would have to be bounded twice.
          headers: { "accept-encoding": "identity", ...credentialsOf(url), ...request.headers },
          body: request.body ?? null,
        },
        handler,
      );
    } catch (error) {
      fail(new HttpFailure("network", describeNetworkError(error), controller !== null, error));
    }
  });
}

const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * How long a Retry-After header asks to wait from `nowMs`, in milliseconds: delta-seconds or an HTTP-date in its three
 * forms (RFC 9110, 10.2.3 and 5.6.7), a past date is 0; null when it is absent or neither.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1_000), Number.MAX_SAFE_INTEGER);
  if (!httpDate.test(text)) return null;
  // asctime's form has no zone: it is UTC too.
  const atMs = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

class SchemeDispatcher extends Dispatcher {
  readonly #http: Dispatcher;
  readonly #https: Dispatcher;

  constructor(http: Dispatcher, https: Dispatcher) {
    super();
    this.#http = http;
    this.#https = https;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isHttps = String(options.origin).startsWith("https:");
    return (isHttps ? this.#https : this.#http).dispatch(options, handler);
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    return finish(Promise.all([this.#http.close(), this.#https.close()]), callback);
  }

  override destroy(...args: readonly unknown[]): Promise<void> {
    const error = args.find((arg) => arg instanceof Error) ?? null;
    const callback = args.find((arg) => typeof arg === "function") as (() => void) | undefined;
    const done = Promise.all([this.#http.destroy(error), this.#https.destroy(error)]);
    return finish(done, callback) ?? done.then(() => undefined);
  }
}

function finish(done: Promise<unknown>, callback: (() => void) | undefined): Promise<void> | undefined {
  const closed = done.then(() => undefined);
  if (callback === undefined) return closed;
  void closed.finally(callback);
  return undefined;
}

function variable(env: HttpDispatcherOptions["env"], name: string): string {
  return (env[name] ?? env[name.toUpperCase()] ?? "").trim();
}

function proxyUrl(env: HttpDispatcherOptions["env"], name: string): string {
  const value = variable(env, name);
  if (value === "") return "";
  // curl and Go take `proxy:3128` as well.
  const text = value.includes("://") ? value : `http://${value}`;
  if (URL.canParse(text) && /^(?:https?|socks5?):/.test(text)) return text;
  // The value may hold a password: it is not in the message.
  throw new FlatlineError("invalid_config", `the environment variable ${name.toUpperCase()} is not the URL of a proxy`);
}

function credentialsOf(url: URL): Record<string, string> {
  if (url.username === "" && url.password === "") return {};
  const plain = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(plain).toString("base64")}` };
}

function flattenHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

const timeoutCodes: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
]);

function isTimeoutError(error: unknown): boolean {
  return error instanceof Error && "code" in error && timeoutCodes.has(String(error.code));
}

/**
 * What went wrong between here and the far side, in one line. Where the code says it all no address is named: that of a
 * receiver is a secret. An AggregateError (every address of a name refused) has its words in its first error.
 */
export function describeNetworkError(error: unknown): string {
  const first: unknown = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  if (!(first instanceof Error)) return "the request failed";
  const code = systemCodeOf(first);
  // Mail gives its errors codes of its own; the system's is in the number then.
  const known = networkReasons[code] ?? networkReasons[systemNameOf(first)];
  return known ?? (first.message === "" ? code || first.name : first.message);
}

function systemNameOf(error: Error): string {
  const errno = "errno" in error ? error.errno : null;
  return typeof errno === "number" && errno < 0 ? getSystemErrorName(errno) : "";
}

const networkReasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: "its name cannot be looked up at the moment",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection lost",
  EHOSTUNREACH: "no route to it",
  ENETUNREACH: "no route to it",
  ENOTFOUND: "no machine has its name",
  EPIPE: "connection lost",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
};
