/** Who has to act: the operator (configuration, input), the far side of the network, or we. */
export type Fault = "operator" | "upstream" | "bug";

interface ErrorKind {
  readonly fault: Fault;
  /** What an HTTP API of ours answers when this error reaches it. */
  readonly httpStatus: number;
  /** sysexits(3) where one fits. */
  readonly exitCode: number;
}

/**
 * Every error that flatline throws has one of these codes (CONVENTIONS, Errors). The `api_*` codes are what a PlatformApi
 * rejects with; those that a check can end with are mapped to the metric's closed set in contract/report.ts.
 */
export const errorKinds = {
  usage: { fault: "operator", httpStatus: 400, exitCode: 64 },
  invalid_data: { fault: "operator", httpStatus: 400, exitCode: 65 },
  already_imported: { fault: "operator", httpStatus: 409, exitCode: 65 },
  no_input: { fault: "operator", httpStatus: 400, exitCode: 66 },
  node_too_old: { fault: "operator", httpStatus: 500, exitCode: 69 },
  unavailable: { fault: "operator", httpStatus: 503, exitCode: 69 },
  invalid_config: { fault: "operator", httpStatus: 400, exitCode: 78 },
  store_newer: { fault: "operator", httpStatus: 500, exitCode: 78 },
  store_unusable: { fault: "operator", httpStatus: 500, exitCode: 74 },
  store_busy: { fault: "operator", httpStatus: 503, exitCode: 75 },
  not_found: { fault: "operator", httpStatus: 404, exitCode: 1 },
  unauthorized: { fault: "operator", httpStatus: 401, exitCode: 77 },
  forbidden: { fault: "operator", httpStatus: 403, exitCode: 77 },
  too_large: { fault: "operator", httpStatus: 413, exitCode: 65 },
  conflict: { fault: "operator", httpStatus: 409, exitCode: 1 },
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
  stream_silent: { fault: "upstream", httpStatus: 503, exitCode: 1 },
  internal: { fault: "bug", httpStatus: 500, exitCode: 70 },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

export interface ErrorDetails {
  readonly cause?: unknown;
  /** One message per problem, as in the error bodies of the API. */
  readonly issues?: readonly string[];
  /** For api_rate_limited: how long the far side asked to wait, milliseconds. */
  readonly retryAfterMs?: number;
}

/** The one error class: what went wrong, for whom, and what to do, in `message`. */
export class FlatlineError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly string[];
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "FlatlineError";
    this.code = code;
    this.issues = details.issues ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }

  get fault(): Fault {
    return errorKinds[this.code].fault;
  }

  get httpStatus(): number {
    return errorKinds[this.code].httpStatus;
  }

  get exitCode(): number {
    return errorKinds[this.code].exitCode;
  }
}

/** The error as a FlatlineError: itself, or wrapped as `internal` (a bug, until somebody gives it a better code). */
export function asFlatlineError(error: unknown): FlatlineError {
  if (error instanceof FlatlineError) return error;
  return new FlatlineError("internal", error instanceof Error ? error.message : String(error), { cause: error });
}
