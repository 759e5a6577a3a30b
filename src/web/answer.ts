import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { FlatlineError, storeReason } from "../base/errors.ts";
import { belowBasePath } from "./own-address.ts";

// These keep a browser from anything but showing an answer.
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Returns the body of a refusal (CONTRACT 8); its code is the status's name, as in API v2. */
function problemBody(status: number, message: string, issues: readonly string[] = []) {
  const code = nameOf(status).toUpperCase().replaceAll(/\W+/g, "_");
  return { message, code, ...(issues.length === 0 ? {} : { issues: issues.map((text) => ({ message: text })) }) };
}

function nameOf(status: number): string {
  return STATUS_CODES[status] ?? "Bad Request";
}

/** Answers with a refusal. A 400 always has issues: its own, or the message's further lines, or the message. */
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

/** Answers a request that is no valid HTTP, or too slow; no route sees it. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const statuses: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };
  const status = statuses[error.code ?? ""] ?? 400;
  const body = JSON.stringify(problemBody(status, nameOf(status)));
  const head = [
    `HTTP/1.1 ${status} ${nameOf(status)}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** Returns the status, message and issues of an error. */
export function describeError(error: unknown): { status: number; message: string; issues: readonly string[] } {
  if (error instanceof FlatlineError) {
    return { status: error.httpStatus, message: storeReason(error) ?? error.message, issues: error.issues };
  }
  const { statusCode, message } = error as Partial<FastifyError>;
  const isRefusal = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return { status: isRefusal ? statusCode : 500, message: message ?? "", issues: [] };
}

/** Returns an address without its query. */
export function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

/** The Content-Security-Policy of pages: only flatline's own files, nothing inline, no framing. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const compressGzip = promisify(gzip);
// A smaller answer fits one packet anyway.
const leastBytes = 1_400;

export function acceptsGzip({ headers }: FastifyRequest): boolean {
  return (headers["accept-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .some((part) => part.split(";", 1)[0]?.trim() === "gzip" && !/;\s*q=0(?:\.0*)?\s*$/.test(part));
}

/** Markup for one client: text, or gzip. */
export type PackedText = string | Buffer;

/** Puts addresses below the path of `externalUrl`, and compresses the markup if the client accepts gzip. */
export async function packText(request: FastifyRequest, markup: string): Promise<PackedText> {
  const text = belowBasePath(request.basePath, markup);
  return text.length < leastBytes || !acceptsGzip(request) ? text : compressGzip(text);
}

/** Answers with packed markup. */
export function sendPacked(
  reply: FastifyReply,
  packed: PackedText,
  // A browser sends a form's `Origin` and `Referer` only if this allows it.
  referrerPolicy: "same-origin" | "no-referrer" = "same-origin",
): FastifyReply {
  void reply.type("text/html; charset=utf-8").headers({
    "content-security-policy": pagePolicy,
    "referrer-policy": referrerPolicy,
    vary: "accept-encoding, authorization, cookie",
  });
  return (typeof packed === "string" ? reply : reply.header("content-encoding", "gzip")).send(packed);
}

/** Answers with markup, compressed if the client accepts gzip. */
export async function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  markup: string,
  referrerPolicy?: Parameters<typeof sendPacked>[2],
): Promise<FastifyReply> {
  return sendPacked(reply, await packText(request, markup), referrerPolicy);
}
