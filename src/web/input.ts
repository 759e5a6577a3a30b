import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";

import { hasAtMost } from "../base/outside-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import { type ByteBudget, receiveBody } from "../base/request-body.ts";
import { textUpTo } from "../base/schema/values.ts";
import { issueMessages, readWith } from "../contract/issues.ts";

/** Parses a query or a body. @throws FlatlineError invalid_data with an issue for each field */
export function readInput<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const read = readWith(schema, value);
  if (read.kind === "data") return read.data;
  throw malformed(issueMessages(read.problems));
}

/** Returns the error for a malformed request. */
export function malformed(issues: readonly string[]): FlatlineError {
  return new FlatlineError("invalid_data", "the request is malformed", { issues });
}

/** Returns an optional text; null: it is blank. */
export function nonBlank(text: string | null | undefined): string | null {
  return text?.trim() ? text : null;
}

/** An instant, as epoch ms. */
export const instantSchema = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
/** `true` or `false`. */
export const flagSchema = z.enum(["true", "false"], "must be true or false").transform((text) => text === "true");
/** The author that a request names. */
export const nameSchema = textUpTo(200);
/** An optional comment. */
export const commentSchema = textUpTo(1_000);
/** A required comment. */
export const reasonSchema = commentSchema.refine((text) => text.trim() !== "", "is empty");

/** Rows of a listing without `limit`. */
export const defaultLimit = 100;
const mostRows = 1_000;

/** Returns the schema of `limit`. */
export function limitUpTo(most: number): z.ZodType<number, string> {
  const problem = `must be a whole number from 1 to ${most}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, problem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= most, problem);
}
export const limitSchema = limitUpTo(mostRows);

/** Returns the cursor of the next page. */
export function writeCursor(place: readonly number[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Returns the schema of `cursor`. */
export function cursorSchema<Place>(placeSchema: z.ZodType<Place>): z.ZodType<Place, string> {
  return z.string().transform((text, context): Place => {
    const parsed = placeSchema.safeParse(parseJson(Buffer.from(text, "base64url").toString()));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: "is none that this listing gave; begin again without it" });
    return z.NEVER;
  });
}

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
