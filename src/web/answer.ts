import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import type { FastifyReply, FastifyRequest } from "fastify";

import { acceptedEncoding } from "./assets.ts";
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

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
// Smaller answers fit a packet anyway.
const leastBytes = 1_400;
// The best that is quick: a page of 100 rows takes some 3 ms.
const brotliQuality = 4;

/** A text as one client takes it; encoding null: as it is. */
export interface PackedText {
  readonly encoding: "br" | "gzip" | null;
  readonly body: string | Buffer;
}

/** Leads the addresses of a markup below the path of `externalUrl`, and compresses it when the client takes it. */
export async function packText(request: FastifyRequest, markup: string): Promise<PackedText> {
  const text = belowBasePath(request.basePath, markup);
  const encoding = acceptedEncoding(request);
  if (encoding === null || text.length < leastBytes) return { encoding: null, body: text };
  const plain = Buffer.from(text);
  const body =
    encoding === "br"
      ? await compressBrotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } })
      : await compressGzip(plain);
  return { encoding, body };
}

/** Answers with text that is packed for this client. */
export function sendPacked(
  reply: FastifyReply,
  type: string,
  { encoding, body }: PackedText,
  // Forms say where they come from, and a browser says it for them only where this lets it.
  referrerPolicy: "same-origin" | "no-referrer" = "same-origin",
): FastifyReply {
  void reply.type(`${type}; charset=utf-8`).headers({
    "content-security-policy": pagePolicy,
    "referrer-policy": referrerPolicy,
    vary: "accept-encoding, authorization, cookie",
  });
  return (encoding === null ? reply : reply.header("content-encoding", encoding)).send(body);
}

/** Answers with text, compressed when the client takes it. */
export async function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  text: string,
  referrerPolicy?: Parameters<typeof sendPacked>[3],
): Promise<FastifyReply> {
  return sendPacked(reply, type, await packText(request, text), referrerPolicy);
}

/** Returns the query of a request. */
export function paramsOf(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : request.url.slice(at + 1));
}
