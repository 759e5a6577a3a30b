import type { FastifyReply, FastifyRequest } from "fastify";

import { hasAtMost } from "../base/cut-text.ts";
import { type ByteBudget, receiveBody } from "../base/request-body.ts";

/** Returns the media type of a body in lower case; empty: none. */
export function mediaTypeOf({ headers }: Pick<FastifyRequest, "headers">): string {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function hasBody({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Reads the fields of a form; another media type gives no fields. @throws FlatlineError too_large */
export async function receiveForm(
  request: FastifyRequest,
  reply: FastifyReply,
  limits: { readonly mostBytes: number; readonly budget: ByteBudget },
): Promise<URLSearchParams> {
  if (mediaTypeOf(request) !== "application/x-www-form-urlencoded") return new URLSearchParams();
  return new URLSearchParams((await receiveBody(request.raw, reply.raw, limits)).toString());
}

const longestName = 64;

/** Returns a person's name from a form; null: it is empty, too long, or has control characters. */
export function personNameOf(form: URLSearchParams): string | null {
  const name = form.get("name")?.trim() ?? "";
  return hasAtMost(name, longestName) && /^[^\p{C}]+$/u.test(name) ? name : null;
}
