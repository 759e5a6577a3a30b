import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
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
