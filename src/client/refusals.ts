import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { parseRetryAfter, type HttpResponse } from "../base/http.ts";
import type { Secret } from "../base/secret.ts";
import { readErrorBody } from "../contract/error-body.ts";
import type { OperationName } from "../contract/operations.ts";
import { parseJson, quoteIssues, quoteUpstream } from "./upstream-text.ts";

/**
 * Creates the error for an answer other than 200. The status gives the code (CONTRACT 6); the message quotes the
 * service and gives advice.
 */
export function refusal(
  response: HttpResponse,
  { operation, apiKey, nowMs }: { readonly operation: OperationName; readonly apiKey: Secret; readonly nowMs: number },
): FlatlineError {
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"], nowMs);
  const { status } = response;
  const code = codes[status] ?? codes[`${Math.floor(status / 100)}xx`] ?? "api_invalid_response";
  const body = readErrorBody(parseJson(response.body, apiKey));
  const said = body === null ? "" : `: "${quoteUpstream(body.message, apiKey)}"`;
  const isRedirect = status >= 300 && status < 400;
  const advice = isRedirect ? redirectGuidance : guidanceOf(code, operation);
  const message = `the service answered ${status}${said}; ${advice}`;
  return new FlatlineError(code, message, {
    issues: quoteIssues(body?.issues ?? [], apiKey),
    status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

const codes: Readonly<Record<string, ErrorCode>> = {
  401: "api_unauthorized",
  403: "api_forbidden",
  404: "api_not_found",
  409: "api_conflict",
  429: "api_rate_limited",
  "4xx": "api_bad_request",
  "5xx": "api_server_error",
};

/** Advice for the operator, in the words of the API's description if it has some. */
const guidance: Readonly<Partial<Record<ErrorCode, string>>> = {
  api_unauthorized: "the API key is missing, wrong or revoked",
  api_forbidden: "the API key has no access to this organization, or the organization does not exist",
  api_not_found: "check source.baseUrl: it ends in /api/v2",
  api_conflict: "read again before another request",
  api_rate_limited: "too many requests with this API key",
  api_server_error: "the service failed",
  api_bad_request: "the service rejected the request as malformed",
  api_invalid_response: "this is not an answer of API v2: check source.baseUrl",
};

const redirectGuidance = "redirects are not followed, so that the API key goes nowhere else: check source.baseUrl";

const reviewGuidance: Readonly<Partial<Record<ErrorCode, string>>> = {
  api_forbidden:
    "not a failure to retry: either the API key is not a customer member's, the proposal is not in the review queue, " +
    "or a safety check wants a person to decide on the Review page",
  api_not_found: "there is no such proposal, or it is another organization's",
  api_conflict:
    "do not send it again: the proposal is already resolved, or its asset is no longer the one of assetId; " +
    "read the proposal again from the reports listing",
  api_rate_limited:
    "the organization's reviews by API (ten in 24 hours, over all its keys) are used up; " +
    "nothing was changed, go on later or on the Review page",
  api_server_error:
    "whether the review was made is not certain and it was not sent again: " +
    "read the proposal again before you decide again",
  api_bad_request: "the review was not made",
};

const guidanceByOperation: Readonly<Partial<Record<OperationName, typeof guidance>>> = {
  review_proposal: reviewGuidance,
  healthcheck: { api_not_found: "the platform has no healthcheck at this path: check path in healthchecks" },
};

function guidanceOf(code: ErrorCode, operation: OperationName): string {
  return guidanceByOperation[operation]?.[code] ?? guidance[code] ?? "this answer was not expected";
}
