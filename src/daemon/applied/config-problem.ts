import { FlatlineError } from "../../base/errors.ts";

/** Returns what was wrong with a configuration, in the words that name file and line. */
export function describeProblem(error: unknown): string {
  if (error instanceof FlatlineError && error.issues.length > 0) return error.issues.join("\n");
  return error instanceof Error ? error.message : String(error);
}
