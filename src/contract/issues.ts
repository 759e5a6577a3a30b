import type { z } from "zod";

import { suggest } from "../base/suggestions.ts";

/** A problem that a schema found, in flatline's words. */
export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  /** Follows the name of the field at `path`: "must be a number, not a string". */
  readonly message: string;
  readonly isAboutKey: boolean;
  /** The value has a wrong type, or is not one of the choices. */
  readonly isAboutType: boolean;
}

export type Reading<Output> =
  | { readonly kind: "data"; readonly data: Output }
  | { readonly kind: "problems"; readonly problems: readonly SchemaProblem[] };

/** Returns the name of a field in messages: the API's name, or a flag. */
export type NameOf = (field: string) => string;

/** Validates `value` and words all problems. `jitless`: zod compiles no code, for a value that is read once. */
export function readWith<Output>(schema: z.ZodType<Output>, value: unknown, jitless = false): Reading<Output> {
  const parsed = schema.safeParse(value, { jitless, error: wordIssue });
  if (parsed.success) return { kind: "data", data: parsed.data };
  return { kind: "problems", problems: withoutEchoes(parsed.error.issues.flatMap((issue) => problemsOf(issue, []))) };
}

/** zod reports a wrong type and, for example, a length: only the problem of the type stays. */
function withoutEchoes(problems: readonly SchemaProblem[]): SchemaProblem[] {
  const wrong = new Set<string>();
  return problems.filter(({ path, isAboutType }) => {
    const name = JSON.stringify(path);
    if (wrong.has(name)) return false;
    if (isAboutType) wrong.add(name);
    return true;
  });
}

/** Returns one message per field: "not an integer" and "not positive" are one mistake. */
export function issueMessages(problems: readonly SchemaProblem[], nameOf: NameOf = String): string[] {
  const messages = new Map<string, string>();
  for (const { path, message } of problems) {
    const field = path.join(".");
    if (!messages.has(field))
      messages.set(field, field === "" ? `the body ${message}` : `${nameOf(field)}: ${message}`);
  }
  return [...messages.values()];
}

// A longer list would hide the rest of the message; only the list of asset types is longer.
const longestList = 20;
// A longer name is not a typo: a body may have a megabyte there.
const longestName = 64;

/** Returns the choices, to follow "must be", and the most likely one. */
export function choicesText(value: unknown, choices: readonly unknown[]): string {
  const names = choices.map(String);
  const isName = typeof value === "string" && value.length <= longestName;
  return `${listText(names)}${isName ? suggest(value, names) : ""}`;
}

function listText(names: readonly string[]): string {
  if (names.length > longestList)
    return `one of the ${names.length} values that openapi.json and \`flatline reports list --help\` list`;
  return names.length > 2 ? `one of ${names.join(", ")}` : names.join(" or ");
}

function problemsOf(issue: z.core.$ZodIssue, prefix: SchemaProblem["path"]): SchemaProblem[] {
  const path = [...prefix, ...(issue.path as (string | number)[])];
  if (issue.code === "unrecognized_keys") {
    const messages = issue.message.split("\n");
    return issue.keys.map((key, index) => ({
      path: [...path, key],
      message: messages[index] ?? unknownKey,
      isAboutKey: true,
      isAboutType: false,
    }));
  }
  if (issue.code === "invalid_union") {
    // The intended branch has the right type: only its problems are useful.
    const fitting = issue.errors.filter((branch) => !branch.some((nested) => isMismatch(nested)));
    const [likely] = fitting.toSorted((left, right) => left.length - right.length);
    if (likely !== undefined) return likely.flatMap((nested) => problemsOf(nested, path));
  }
  // The name of a record's value is wrong.
  if (issue.code === "invalid_key") {
    const message = issue.issues[0]?.message ?? issue.message;
    return [{ path, message, isAboutKey: true, isAboutType: false }];
  }
  const isAboutType = ["invalid_type", "invalid_value", "invalid_union"].includes(issue.code);
  const isAboutKey = issue.code === "custom" && issue.params?.["part"] === "key";
  return [{ path, message: issue.message, isAboutKey, isAboutType }];
}

const unknownKey = "unknown key";

function wordIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return wordType([nounOfType(issue.expected)], issue.input);
    case "invalid_value":
      return wordChoice(issue.values, issue.input);
    case "invalid_union":
      return wordUnion(issue);
    case "unrecognized_keys":
      return issue.keys.map(() => unknownKey).join("\n");
    case "invalid_format":
      return issue.format === "datetime" ? "must be a time in ISO 8601 with an offset or Z" : "has a wrong form";
    case "too_small":
      return wordTooSmall(issue);
    case "too_big":
      return wordTooBig(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "custom":
    case "invalid_element":
    case "invalid_key":
      break;
  }
  return "is not valid";
}

type RawIssue<Code> = Extract<z.core.$ZodRawIssue, { readonly code: Code }>;

function wordTooSmall({ origin, minimum, inclusive }: RawIssue<"too_small">): string {
  if (origin === "string")
    return Number(minimum) === 1 ? "must not be empty" : `must be at least ${minimum} characters long`;
  if (origin === "array") return `must have at least ${minimum} ${Number(minimum) === 1 ? "item" : "items"}`;
  return inclusive === false ? `must be greater than ${minimum}` : `must be at least ${minimum}`;
}

function wordTooBig({ origin, maximum, inclusive }: RawIssue<"too_big">): string {
  if (origin === "string") return `must be at most ${maximum} characters long`;
  if (origin === "array") return `must have at most ${maximum} ${Number(maximum) === 1 ? "item" : "items"}`;
  return inclusive === false ? `must be less than ${maximum}` : `must be at most ${maximum}`;
}

function wordChoice(choices: readonly unknown[], value: unknown): string {
  if (value === undefined) return `is required: ${listText(choices.map(String))}`;
  return `must be ${choicesText(value, choices)}`;
}

function wordUnion({ errors, input, ...issue }: RawIssue<"invalid_union">): string {
  const { discriminator, options } = issue as {
    readonly discriminator?: string;
    readonly options?: readonly unknown[];
  };
  if (discriminator !== undefined && options !== undefined) {
    const choices = options.filter((choice) => choice !== undefined);
    return wordChoice(choices, (input as Readonly<Record<string, unknown>>)[discriminator]);
  }
  const expected = errors.flat().flatMap((nested) => {
    if (!isMismatch(nested)) return [];
    return nested.code === "invalid_type" ? [nounOfType(nested.expected)] : nested.values.map(String);
  });
  return wordType(expected, input);
}

function isMismatch(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueInvalidType | z.core.$ZodIssueInvalidValue {
  return issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value");
}

function wordType(expected: readonly string[], value: unknown): string {
  if (value === undefined) return "is required";
  const wanted = [...new Set(expected)];
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return "must be a finite number";
    if (wanted.includes(nouns.int)) return `must be ${nouns.int}`;
  }
  return `must be ${wanted.join(" or ")}, not ${nounOf(value)}${quotesHint(wanted, value)}`;
}

function quotesHint(wanted: readonly string[], value: unknown): string {
  if (typeof value !== "string") {
    const isUnquoted = wanted.includes(nouns.string) && (typeof value === "number" || typeof value === "boolean");
    return isUnquoted ? "; put it in quotes" : "";
  }
  const isBoolean = value === "true" || value === "false";
  const isNumber = value.trim() !== "" && Number.isFinite(Number(value));
  const isQuoted =
    (isBoolean && (wanted.includes(nouns.boolean) || wanted.includes(value))) ||
    (isNumber && (wanted.includes(nouns.number) || wanted.includes(nouns.int)));
  return isQuoted ? "; write it without quotes" : "";
}

/** zod's types in words of YAML and JSON. */
const nouns = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
} as const;

function nounOfType(type: string): string {
  return (nouns as Readonly<Record<string, string>>)[type] ?? type;
}

/** Returns what a value is, to follow "not": `null`, `true`, `a list`. */
function nounOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  return nounOfType(Array.isArray(value) ? "array" : typeof value);
}
