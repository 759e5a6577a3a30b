import type { FastifyError, FastifyReply } from "fastify";

import { FlatlineError, storeReason, type ErrorCode } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import { apiErrorStatuses, type ApiErrorCode, type ErrorBody } from "../../contract/error-body.ts";

/** Every other code is internal. */
const apiCodes: Readonly<Partial<Record<ErrorCode, ApiErrorCode>>> = {
  api_bad_request: "BAD_REQUEST",
  api_unauthorized: "UNAUTHORIZED",
  api_forbidden: "FORBIDDEN",
  api_not_found: "NOT_FOUND",
  api_conflict: "CONFLICT",
  api_rate_limited: "TOO_MANY_REQUESTS",
  // The body broke off.
  invalid_data: "BAD_REQUEST",
  too_large: "BAD_REQUEST",
};
// API v2 describes neither.
const ownStatuses: Readonly<Partial<Record<ErrorCode, number>>> = { too_large: 413, unavailable: 503 };

/**
 * Returns the answer to an error of an operation, of the body or of Fastify, with details that are meant for callers;
 * null: any other error, a 500 without details.
 */
function refusalOf(
  error: unknown,
): { readonly status: number; readonly body: ErrorBody; readonly retryAfterMs?: number } | null {
  if (!(error instanceof FlatlineError)) {
    const { statusCode = 500 } = error as Partial<FastifyError>;
    if (statusCode < 400 || statusCode >= 500) return null;
    return { status: 400, body: { message: "the request is malformed", code: "BAD_REQUEST" } };
  }
  const { code, message, issues, retryAfterMs } = error;
  const status = ownStatuses[code];
  // Another process is writing, or disk or memory is full: nothing of this request was stored.
  const reason = code === "store_busy" ? "busy, try again" : (storeReason(error) ?? (status === 503 ? message : null));
  if (reason !== null)
    return { status: status ?? 500, body: { message: reason, code: "INTERNAL_SERVER_ERROR" }, retryAfterMs: secondMs };
  const apiCode = apiCodes[code];
  if (apiCode === undefined) return null;
  const listed = issues.length === 0 ? {} : { issues: issues.map((issue) => ({ message: issue })) };
  return {
    status: status ?? apiErrorStatuses[apiCode],
    body: { message, code: apiCode, ...listed },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Answers an error; calls `onInternal` for one whose details the caller does not get. */
export function sendError(reply: FastifyReply, error: unknown, onInternal: () => void): FastifyReply {
  const refusal = refusalOf(error);
  if (refusal === null) onInternal();
  const { status, body, retryAfterMs } = refusal ?? internal;
  if (retryAfterMs !== undefined) reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / secondMs))));
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}

const internal = {
  status: 500,
  body: { message: "internal error", code: "INTERNAL_SERVER_ERROR" },
  retryAfterMs: undefined,
} as const;
