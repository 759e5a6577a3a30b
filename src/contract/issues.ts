import type { z } from "zod";

import { suggest } from "../base/suggestions.ts";

// A longer list would hide the rest of the message; the only one is that of the asset types.
const longestList = 20;
// Nobody misspells a longer one: a body may have a megabyte there.
const longestName = 64;

/** The choices that a value is none of, to follow "expected" or "must be", with the one that was most likely meant. */
export function choicesText(value: unknown, choices: readonly unknown[]): string {
  const names = choices.map(String);
  const list = names.length <= longestList ? names.join(", ") : `the ${names.length} values that openapi.json lists`;
  const isName = typeof value === "string" && value.length <= longestName;
  return `one of ${list}${isName ? suggest(value, names) : ""}`;
}

/** Words the issue of a value that is none of its choices, for a schema's `error`; undefined leaves the schema's own words. */
export function wordIssue(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === "invalid_value" ? `expected ${choicesText(issue.input, issue.values)}` : undefined;
}

/**
 * One message per problem, each naming its field, for the `issues` of an error body: at most one of each field (a value
 * that is neither an integer nor positive is one mistake), and one for each unknown key.
 */
export function issueMessages(error: z.ZodError): string[] {
  const messages = new Map<string, string>();
  for (const issue of error.issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) addOnce(messages, [...issue.path, key], "unknown");
    } else {
      addOnce(messages, issue.path, issue.message);
    }
  }
  return [...messages.values()];
}

function addOnce(messages: Map<string, string>, path: readonly PropertyKey[], message: string): void {
  const field = path.map(String).join(".");
  if (!messages.has(field)) messages.set(field, field === "" ? message : `${field}: ${message}`);
}
