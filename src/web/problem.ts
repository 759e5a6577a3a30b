import type { Socket } from "node:net";

import type { FastifyError, FastifyReply } from "fastify";

import { FlatlineError, storeReason } from "../base/errors.ts";
import { apiErrorStatuses } from "../contract/error-body.ts";

/** What every refusal says (CONTRACT 8): the API's own body, for the statuses that it does not name too. */
export interface ProblemBody {
  readonly message: string;
  readonly code: string;
  readonly issues?: readonly { readonly message: string }[];
}

const codes: Readonly<Record<number, string>> = {
  ...Object.fromEntries(Object.entries(apiErrorStatuses).map(([code, status]) => [status, code])),
  405: "METHOD_NOT_ALLOWED",
  408: "REQUEST_TIMEOUT",
  413: "PAYLOAD_TOO_LARGE",
  414: "URI_TOO_LONG",
  415: "UNSUPPORTED_MEDIA_TYPE",
  421: "MISDIRECTED_REQUEST",
  431: "REQUEST_HEADER_FIELDS_TOO_LARGE",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
};

const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

// What keeps a browser from doing anything with an answer but showing it.
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Returns the body of a refusal with this status. */
export function problemBody(status: number, message: string, issues: readonly string[] = []): ProblemBody {
  const code = codes[status] ?? (status >= 500 ? "INTERNAL_SERVER_ERROR" : "BAD_REQUEST");
  return { message, code, ...(issues.length === 0 ? {} : { issues: issues.map((text) => ({ message: text })) }) };
}

/** Answers with a refusal; a 400 has its issues, if only those that its message names, each on a line below the first. */
export function sendProblem(
  reply: FastifyReply,
  status: number,
  message: string,
  issues: readonly string[] = [],
): FastifyReply {
  const [heading = "", ...below] = message.split("\n");
  const said = below.length === 0 ? [heading] : below;
  const causes = status === 400 && issues.length === 0 ? said : issues;
  return reply
    .code(status)
    .type("application/json; charset=utf-8")
    .send(problemBody(status, message, causes));
}

/** Answers what is not even HTTP, and what did not come in time, before any route sees it. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = clientErrorStatus(error.code);
  const body = JSON.stringify(problemBody(status, statusTexts[status] ?? "Bad Request"));
  const head = [
    `HTTP/1.1 ${status} ${statusTexts[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function clientErrorStatus(code: string | undefined): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}

/** Returns the status and the words of what a route threw. */
export function describeError(error: unknown): { status: number; message: string; issues: readonly string[] } {
  if (error instanceof FlatlineError) {
    return { status: error.httpStatus, message: storeReason(error) ?? error.message, issues: error.issues };
  }
  const { statusCode, message } = error as Partial<FastifyError>;
  const isRefusal = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return { status: isRefusal ? statusCode : 500, message: message ?? "", issues: [] };
}

/** Without the query, which a log has no use for. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? url;
}
