import type { z } from "zod";
import { nounOf, typeNouns } from "../base/type-nouns.ts";

/** What is wrong with one value of a fixture, in the words of people who write it; undefined: as the schema says it. */
export function wordFixtureIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is required";
  switch (issue.code) {
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_type":
      return `must be ${typeNouns[issue.expected] ?? issue.expected}, not ${named(issue.input)}`;
    case "invalid_union":
      // Only instants are of several types.
      return `must be a time: ISO 8601 with an offset or Z, or integer epoch ms, not ${named(issue.input)}`;
    case "too_small":
      if (issue.origin === "string" || issue.origin === "array") return "must not be empty";
      return "must be a whole number above 0";
    case "too_big":
      if (issue.origin === "string") return `must be at most ${issue.maximum} characters long`;
      return `must be at most ${issue.maximum}`;
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
    case "unrecognized_keys":
      break;
  }
  return undefined;
}

/** A fraction is shown as it is: "a whole number, not a number" would say nothing. */
function named(value: unknown): string {
  return typeof value === "number" && !Number.isInteger(value) ? String(value) : nounOf(value);
}
