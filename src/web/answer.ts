import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { FastifyReply, FastifyRequest } from "fastify";

import { acceptsGzip } from "./assets.ts";
import { belowBasePath } from "./base-path.ts";

/** The pages' own Content-Security-Policy: everything from here, nothing inline, no framing. */
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
// Smaller answers fit a packet anyway.
const leastBytes = 1_400;

/** Markup as one client takes it: text, or compressed. */
export type PackedText = string | Buffer;

/** Leads the addresses of a markup below the path of `externalUrl`, and compresses it when the client takes it. */
export async function packText(request: FastifyRequest, markup: string): Promise<PackedText> {
  const text = belowBasePath(request.basePath, markup);
  return text.length < leastBytes || !acceptsGzip(request) ? text : compressGzip(text);
}

/** Answers with a page, or a part of one, that is packed for this client. */
export function sendPacked(
  reply: FastifyReply,
  packed: PackedText,
  // Forms say where they come from, and a browser says it for them only where this lets it.
  referrerPolicy: "same-origin" | "no-referrer" = "same-origin",
): FastifyReply {
  void reply.type("text/html; charset=utf-8").headers({
    "content-security-policy": pagePolicy,
    "referrer-policy": referrerPolicy,
    vary: "accept-encoding, authorization, cookie",
  });
  return (typeof packed === "string" ? reply : reply.header("content-encoding", "gzip")).send(packed);
}

/** Answers with markup, compressed when the client takes it. */
export async function sendHtml(
  request: FastifyRequest,
  reply: FastifyReply,
  markup: string,
  referrerPolicy?: Parameters<typeof sendPacked>[2],
): Promise<FastifyReply> {
  return sendPacked(reply, await packText(request, markup), referrerPolicy);
}
