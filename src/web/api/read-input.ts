import type { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { textUpTo } from "../../base/schema/values.ts";
import { issueMessages, readWith } from "../../contract/issues.ts";

/** Returns what a query or body says; `problem` says what it is not. @throws FlatlineError invalid_data with an issue a field */
export function readInput<Output>(schema: z.ZodType<Output>, value: unknown, problem: string): Output {
  const read = readWith(schema, value);
  if (read.kind === "data") return read.data;
  throw new FlatlineError("invalid_data", problem, { issues: issueMessages(read.problems) });
}

/** A comment that may be left out: blanks say nothing. */
export function nonBlank(text: string | undefined): string | null {
  return text === undefined || text.trim() === "" ? null : text;
}

/** Who an act is by, as its request says: what is longer is a mistake. */
export const nameSchema = textUpTo(200);
/** What somebody says of an act. */
export const commentSchema = textUpTo(1_000);
/** The same where it has to be said. */
export const reasonSchema = commentSchema.refine((text) => text.trim() !== "", "is empty");
