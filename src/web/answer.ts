import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { FastifyReply, FastifyRequest } from "fastify";

import { acceptsGzip } from "./assets.ts";
import { belowBasePath } from "./own-address.ts";

/** The Content-Security-Policy of pages: only flatline's own files, nothing inline, no framing. */
export const pagePolicy = [
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
