import type { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
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
