import { getSystemErrorName, promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

import type { Dispatcher } from "undici";

import { excerpt } from "./outside-text.ts";
import { FlatlineError, systemCodeOf } from "./errors.ts";
import { eventLoopTurn, isTimedOut } from "./time.ts";
import type { HttpDispatcher } from "./http-dispatcher.ts";

export type HttpFailureKind = "timeout" | "network" | "aborted";

/** No complete response arrived: the deadline passed (`timeout`), the caller stopped (`aborted`), or `network`. */
export class HttpFailure extends FlatlineError {
  readonly kind: HttpFailureKind;
  /** False: no byte of the request was sent, so that a retry is safe. */
  readonly mayHaveBeenSent: boolean;

  constructor(kind: HttpFailureKind, message: string, mayHaveBeenSent: boolean, cause?: unknown) {
    super(kind === "timeout" ? "api_timeout" : "api_network", message, { cause });
    this.name = "HttpFailure";
    this.kind = kind;
    this.mayHaveBeenSent = mayHaveBeenSent;
  }
}

export interface HttpRequest {
  readonly method: string;
  /** http or https; user and password become Basic authorization. */
  readonly url: string | URL;
  /** Sent as UTF-8. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Deadline (Clock.timeout) and cancellation, until the last byte of the body. */
  readonly signal: AbortSignal;
  /** The connection closes at the first byte after it. */
  readonly maxBodyBytes: number;
  /** Limits how many large bodies are read at once [no limit]. */
  readonly gate?: BodyGate | undefined;
  /** The status is sufficient: a body that breaks off or does not end in time is accepted. */
  readonly isBodyOptional?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; values of a repeated header are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded as UTF-8. */
  readonly body: string;
  /** The body was longer than `maxBodyBytes`, or an optional body broke off. */
  readonly isTruncated: boolean;
}

// Replaces invalid UTF-8, drops a byte order mark, and keeps no state between two texts.
const utf8 = new TextDecoder();

/** Decodes chunk by chunk: large buffers outside V8's heap are never returned to the system. */
function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return utf8.decode(first);
  const decoder = new TextDecoder();
  return [...chunks.map((chunk) => decoder.decode(chunk, { stream: true })), decoder.decode()].join("");
}

/** Sends one request and reads the response; never follows a redirect. @throws HttpFailure */
export function sendRequest(dispatcher: HttpDispatcher, request: HttpRequest): Promise<HttpResponse> {
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
      // The caller first parses and drops this body.
      if (leaveGate !== null) void eventLoopTurn().then(leaveGate);
    }
    function stop(): void {
      const isTimeout = isTimedOut(signal);
      const message = isTimeout ? "no complete answer in time" : "stopped by the caller";
      fail(new HttpFailure(isTimeout ? "timeout" : "aborted", message, controller !== null, signal.reason));
    }
    function fail(failure: Error): void {
      if (head !== null && request.isBodyOptional === true) answer(true);
      else settle(() => reject(failure));
      controller?.abort(failure);
    }
    function answer(isCut: boolean): void {
      if (isSettled) return;
      if (head === null) return fail(new HttpFailure("network", "a response without a status line", true));
      const answered = head;
      const bytes = chunks.splice(0);
      const finish = (body: string, isTruncated: boolean): void =>
        settle(() => resolve({ ...answered, body, isTruncated }));
      const encoding = answered.headers["content-encoding"]?.trim().toLowerCase() ?? "";
      if (bytes.length === 0 || encoding === "" || encoding === "identity") return finish(textOf(bytes), isCut);
      if (isCut) return finish("", true);
      unpack(Buffer.concat(bytes), encoding, maxBodyBytes).then((body) => finish(body ?? "", body === null), fail);
    }

    function waitForTurn(active: Dispatcher.DispatchController): void {
      const { gate } = request;
      if (gate === undefined || leaveGate !== null || receivedBytes <= gate.freeBytes) return;
      active.pause();
      leaveGate = gate.enter(() => active.resume());
    }

    const handler: Dispatcher.DispatchHandler = {
      // Nothing is sent before undici calls this.
      onRequestStart(started) {
        if (isSettled) return started.abort(new Error("stopped before it was sent"));
        controller = started;
      },
      onResponseStart(_controller, status, headers) {
        // 1xx: the final response follows.
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
        const kind = /^(?:UND_ERR_\w+_TIMEOUT|ETIMEDOUT)$/.test(systemCodeOf(error)) ? "timeout" : "network";
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
          // Answers are small, and decompression needs a second limit.
          headers: { "accept-encoding": "identity", ...credentialsOf(url), ...inUtf8(request.headers) },
          body: request.body ?? null,
        },
        handler,
      );
    } catch (error) {
      fail(new HttpFailure("network", describeNetworkError(error), controller !== null, error));
    }
  });
}

const unpackers = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

/** Some servers compress although identity was asked for. Returns null for a text above the limit. */
async function unpack(packed: Buffer, encoding: string, maxOutputLength: number): Promise<string | null> {
  const refuse = (message: string, cause?: unknown): never => {
    throw new HttpFailure("network", message, true, cause);
  };
  const known = unpackers.get(encoding);
  if (known === undefined)
    return refuse(`its answer is compressed as ${excerpt(encoding)}, which was not asked for and cannot be read`);
  try {
    return utf8.decode(await known(packed, { maxOutputLength }));
  } catch (error) {
    if (error instanceof Error && systemCodeOf(error) === "ERR_BUFFER_TOO_LARGE") return null;
    return refuse(`its answer is not ${encoding}, as its content-encoding says`, error);
  }
}

export type BodyGate = Readonly<ReturnType<typeof createBodyGate>>;

/**
 * Lets bodies of more than `freeBytes` be read one at a time, so that memory does not grow with the number of requests.
 * Calls `onBusy` when a first body begins, `onEmpty` after the last one.
 */
export function createBodyGate(freeBytes: number, onBusy: () => void, onEmpty: () => void) {
  /** The first one is being read. */
  const queue: (() => void)[] = [];
  return {
    freeBytes,
    /** Calls `begin` in its turn, at once if nobody waits. The returned function ends the turn or the wait. */
    enter: (begin: () => void): (() => void) => {
      if (queue.push(begin) === 1) {
        onBusy();
        begin();
      }
      return () => {
        const place = queue.indexOf(begin);
        queue.splice(place, 1);
        if (queue.length === 0) onEmpty();
        else if (place === 0) queue[0]?.();
      };
    },
  };
}

// The three forms of RFC 9110; Date.parse takes many more texts.
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** Returns the delay of a Retry-After header (RFC 9110, 10.2.3) in ms; 0: a past date; null: absent or invalid. */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1_000), Number.MAX_SAFE_INTEGER);
  if (!httpDate.test(text)) return null;
  // The asctime form has no zone: it is UTC.
  const atMs = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function credentialsOf(url: URL): Record<string, string> {
  if (url.username === "" && url.password === "") return {};
  const plain = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(plain).toString("base64")}` };
}

/** undici writes Latin-1, where curl and browsers write UTF-8: receivers would show "?" for a letter. */
function inUtf8(headers: HttpRequest["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")]),
  );
}

function flattenHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(", ")]),
  );
}

/** Returns the error in one line. A known code replaces the message, which may show a receiver's secret address. */
export function describeNetworkError(error: unknown): string {
  const first: unknown = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  if (!(first instanceof Error)) return "the request failed";
  const code = systemCodeOf(first);
  const { errno = 0 } = first as NodeJS.ErrnoException;
  // Nodemailer has its own error codes; the errno then has the system's code.
  const known = networkReasons[code] ?? networkReasons[errno < 0 ? getSystemErrorName(errno) : ""];
  return known ?? (first.message === "" ? code || first.name : first.message);
}

const networkReasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: "its host name cannot be resolved at the moment",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection lost",
  EHOSTUNREACH: "no route to it",
  ENETUNREACH: "no route to it",
  ENOTFOUND: "its host name does not exist",
  EPIPE: "connection lost",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
};
