import type { z } from "zod";

/** What is wrong with one value of a fixture, in the words of people who write it; undefined: as the schema says it. */
export function wordFixtureIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is required";
  switch (issue.code) {
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_type":
      return `must be ${nouns[issue.expected] ?? issue.expected}, not ${nounOf(issue.input)}`;
    case "invalid_union":
      // Only instants are of several types.
      return `must be a time: ISO 8601 with an offset or Z, or integer epoch ms, not ${nounOf(issue.input)}`;
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

const nouns: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a string",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
};

function nounOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
