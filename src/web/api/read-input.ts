import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { textUpTo } from "../../base/schema/values.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";

/** Returns what a query or body says. @throws FlatlineError invalid_data with an issue a field */
export function readInput<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const read = readWith(schema, value);
  if (read.kind === "data") return read.data;
  throw malformed(issueMessages(read.problems));
}

/** The refusal of a request that says something that cannot be. */
export function malformed(issues: readonly string[]): FlatlineError {
  return new FlatlineError("invalid_data", "the request is malformed", { issues });
}

/** A comment that may be left out: blanks say nothing. */
export function nonBlank(text: string | undefined): string | null {
  return text === undefined || text.trim() === "" ? null : text;
}

/** An instant of a request, as epoch ms. */
export const instantSchema = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
/** `true` or `false` of a query. */
export const flagSchema = z.enum(["true", "false"], "must be true or false").transform((text) => text === "true");
/** Who an act is by, as its request says: what is longer is a mistake. */
export const nameSchema = textUpTo(200);
/** What somebody says of an act. */
export const commentSchema = textUpTo(1_000);
/** The same where it has to be said. */
export const reasonSchema = commentSchema.refine((text) => text.trim() !== "", "is empty");

/** Rows of a listing that is asked for without `limit`. */
export const defaultLimit = 100;
const mostRows = 1_000;

/** Returns the schema of the rows of one page: `limit` of a query. */
export function limitUpTo(most: number): z.ZodType<number, string> {
  const problem = `must be a whole number from 1 to ${most}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, problem)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= most, problem);
}
export const limitSchema = limitUpTo(mostRows);

/** Writes the place at which the next page begins as a cursor. */
export function writeCursor(place: readonly number[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Returns the schema of a cursor: `cursor` of a query, read as a place of that schema. */
export function cursorSchema<Place>(placeSchema: z.ZodType<Place>): z.ZodType<Place, string> {
  return z.string().transform((text, context): Place => {
    const parsed = placeSchema.safeParse(parseJson(Buffer.from(text, "base64url").toString()));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: "is none that this listing gave; begin again without it" });
    return z.NEVER;
  });
}
