import { isTimedOut } from "./time.ts";

/** Who must act: `operator` (configuration, input), `upstream` (the other end of a connection), or us (`bug`). */
export type Fault = "operator" | "upstream" | "bug";

interface ErrorKind {
  readonly fault: Fault;
  /** The status with which our own APIs answer this error. */
  readonly httpStatus: number;
  /** Exit code of sysexits(3), if one fits. */
  readonly exitCode: number;
}

/** The codes of all errors. A PlatformApi rejects with `api_*`; contract/report.ts has those that end a check. */
export const errorKinds = {
  usage: { fault: "operator", httpStatus: 400, exitCode: 64 },
  invalid_data: { fault: "operator", httpStatus: 400, exitCode: 65 },
  no_input: { fault: "operator", httpStatus: 400, exitCode: 66 },
  unavailable: { fault: "operator", httpStatus: 503, exitCode: 69 },
  invalid_config: { fault: "operator", httpStatus: 400, exitCode: 78 },
  store_newer: { fault: "operator", httpStatus: 500, exitCode: 78 },
  store_unusable: { fault: "operator", httpStatus: 503, exitCode: 74 },
  store_taken: { fault: "operator", httpStatus: 503, exitCode: 75 },
  store_busy: { fault: "operator", httpStatus: 503, exitCode: 75 },
  not_found: { fault: "operator", httpStatus: 404, exitCode: 64 },
  unauthorized: { fault: "operator", httpStatus: 401, exitCode: 77 },
  forbidden: { fault: "operator", httpStatus: 403, exitCode: 77 },
  too_large: { fault: "operator", httpStatus: 413, exitCode: 65 },
  conflict: { fault: "operator", httpStatus: 409, exitCode: 1 },
  too_many: { fault: "operator", httpStatus: 429, exitCode: 75 },
  api_timeout: { fault: "upstream", httpStatus: 504, exitCode: 75 },
  api_network: { fault: "upstream", httpStatus: 502, exitCode: 75 },
  api_bad_request: { fault: "operator", httpStatus: 400, exitCode: 1 },
  api_unauthorized: { fault: "operator", httpStatus: 401, exitCode: 1 },
  api_forbidden: { fault: "operator", httpStatus: 403, exitCode: 1 },
  api_not_found: { fault: "operator", httpStatus: 404, exitCode: 1 },
  api_conflict: { fault: "operator", httpStatus: 409, exitCode: 1 },
  api_rate_limited: { fault: "upstream", httpStatus: 429, exitCode: 1 },
  api_server_error: { fault: "upstream", httpStatus: 502, exitCode: 1 },
  api_invalid_response: { fault: "upstream", httpStatus: 502, exitCode: 1 },
  api_outcome_unknown: { fault: "upstream", httpStatus: 502, exitCode: 75 },
  no_events: { fault: "operator", httpStatus: 503, exitCode: 1 },
  stream_silent: { fault: "upstream", httpStatus: 503, exitCode: 1 },
  internal: { fault: "bug", httpStatus: 500, exitCode: 70 },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

export interface ErrorDetails {
  readonly cause?: unknown;
  /** One message per problem, as in the error bodies of the API. */
  readonly issues?: readonly string[];
  /** The delay that the service asked for (api_rate_limited). */
  readonly retryAfterMs?: number;
  readonly status?: number;
}

/** The only error class. `message` says what happened, why, and what to do. */
export class FlatlineError extends Error {
  readonly code: ErrorCode;
  readonly fault: Fault;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly issues: readonly string[];
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, { cause, issues = [], retryAfterMs, status }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FlatlineError";
    this.code = code;
    this.issues = issues;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    ({ fault: this.fault, httpStatus: this.httpStatus, exitCode: this.exitCode } = errorKinds[code]);
  }
}

/** Returns a FlatlineError unchanged; wraps others as `internal` (a bug). */
export function asFlatlineError(error: unknown): FlatlineError {
  if (error instanceof FlatlineError) return error;
  return new FlatlineError("internal", messageOf(error), { cause: error });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the error for an aborted signal: api_timeout with `late` after a timeout, else api_network with `stopped`.
 */
export function abortError(signal: AbortSignal, late: string, stopped: string): FlatlineError {
  const details = { cause: signal.reason as unknown };
  return isTimedOut(signal)
    ? new FlatlineError("api_timeout", late, details)
    : new FlatlineError("api_network", stopped, details);
}

/** Returns what a client may know of an unusable or busy store: why, but not where it is; null: another error. */
export function storeReason(error: unknown): string | null {
  if (!(error instanceof FlatlineError) || !/^store_(?:unusable|busy|taken)$/.test(error.code)) return null;
  const { code, message } = error;
  const [, what] = /^the store .* ((?:cannot be used: |is locked|is unavailable).*)$/.exec(message) ?? [];
  if (what !== undefined) return `the store ${what}`;
  if (code === "store_taken") return "another process writes to the store by now";
  return code === "store_busy" ? message : "the store cannot be used";
}

/** Returns the code of a system error, such as `ENOENT`; "": it has none. */
export function systemCodeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
