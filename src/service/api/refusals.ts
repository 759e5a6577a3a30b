import type { FastifyError, FastifyReply } from "fastify";

import { FlatlineError, storeReason, type ErrorCode } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import { apiErrorStatuses, type ApiErrorCode, type ErrorBody } from "../../contract/error-body.ts";

/** Content type of every answer of API v2. */
export const jsonType = "application/json; charset=utf-8";

/** An error answer of API v2: status, body and Retry-After. */
export interface ApiRefusal {
  readonly status: number;
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly issues?: readonly string[];
  readonly retryAfterMs?: number;
}

/** Creates the error answer for a code of API v2. */
export function apiRefusal(code: ApiErrorCode, message: string, issues: readonly string[] = []): ApiRefusal {
  return { status: apiErrorStatuses[code], code, message, issues };
}

/** Creates the 400 with one issue per problem. */
export function badRequest(issues: readonly string[]): ApiRefusal {
  return apiRefusal("BAD_REQUEST", issues[0] ?? "the request is malformed", issues);
}

/**
 * Creates the error answer for an exception of an operation or of Fastify. Details are passed on only if they are meant for
 * callers; other errors become a 500.
 */
export function refusalOf(error: unknown): ApiRefusal {
  if (error instanceof FlatlineError) return refusalOfOurs(error);
  const { statusCode } = error as Partial<FastifyError>;
  const isRefusal = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return isRefusal ? apiRefusal("BAD_REQUEST", "the request is malformed") : internalRefusal;
}

/** Creates the error answer for a body that was not read to its end. The API's description has neither status. */
export function refusalOfBody(error: unknown): ApiRefusal {
  if (!(error instanceof FlatlineError)) return internalRefusal;
  if (error.code === "too_large") return { status: 413, code: "BAD_REQUEST", message: "the body is too large" };
  if (error.code === "unavailable")
    return { ...apiRefusal("INTERNAL_SERVER_ERROR", error.message), status: 503, retryAfterMs: secondMs };
  return apiRefusal("BAD_REQUEST", error.message);
}

/** The answer for an internal error, which is logged. */
export const internalRefusal: ApiRefusal = apiRefusal("INTERNAL_SERVER_ERROR", "internal error");

/** API codes of an operation's errors; every other code is internal. */
const apiCodes: Readonly<Partial<Record<ErrorCode, ApiErrorCode>>> = {
  api_bad_request: "BAD_REQUEST",
  api_unauthorized: "UNAUTHORIZED",
  api_forbidden: "FORBIDDEN",
  api_not_found: "NOT_FOUND",
  api_conflict: "CONFLICT",
  api_rate_limited: "TOO_MANY_REQUESTS",
};

function refusalOfOurs(error: FlatlineError): ApiRefusal {
  const { code, message, issues, retryAfterMs } = error;
  // Another process is writing, or the disk is full; nothing of this request was stored. The API has no 503.
  const reason = storeReason(error);
  if (reason !== null) {
    const said = code === "store_busy" ? "busy, try again" : reason;
    return { ...apiRefusal("INTERNAL_SERVER_ERROR", said), retryAfterMs: secondMs };
  }
  const apiCode = apiCodes[code];
  if (apiCode === undefined) return internalRefusal;
  return { ...apiRefusal(apiCode, message, issues), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Returns the body and the Retry-After in whole seconds; null without one. */
export function refusalParts(refusal: ApiRefusal): { readonly body: ErrorBody; readonly retryAfter: string | null } {
  const { code, message, issues = [], retryAfterMs } = refusal;
  const body: ErrorBody = {
    message,
    code,
    ...(issues.length === 0 ? {} : { issues: issues.map((issue) => ({ message: issue })) }),
  };
  return {
    body,
    retryAfter: retryAfterMs === undefined ? null : String(Math.max(1, Math.ceil(retryAfterMs / secondMs))),
  };
}

/** Sends an error answer. */
export function sendRefusal(reply: FastifyReply, refusal: ApiRefusal): FastifyReply {
  const { body, retryAfter } = refusalParts(refusal);
  if (retryAfter !== null) reply.header("retry-after", retryAfter);
  return reply.code(refusal.status).type(jsonType).send(body);
}
