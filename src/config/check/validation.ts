import type { z } from "zod";

import { nounOf, typeNouns } from "../../base/type-nouns.ts";
import { unresolved, type ConfigDocument } from "../document/document.ts";
import { readCoreScalar } from "../document/interpolation.ts";
import { formatPath, type Problem, type YamlPath } from "../document/problems.ts";
import { suggest } from "../../base/suggestions.ts";

export interface Validation<Output> {
  /** Null when there are problems. */
  readonly data: Output | null;
  readonly problems: readonly Problem[];
}

interface Finding {
  readonly path: YamlPath;
  readonly message: string;
  readonly isAboutKey: boolean;
  /** Types of which the value should have been: what `${…}` alone may be read again as. */
  readonly wanted: readonly string[];
}

/**
 * Checks a document against its schema and says everything that is wrong in flatline's words, each with its place. Where a
 * number or boolean is wanted and an unquoted `${…}` stands alone, its text is read as YAML would, in `document.value` too.
 */
export function validateDocument<Output>(schema: z.ZodType<Output>, document: ConfigDocument): Validation<Output> {
  let checked = schema.safeParse(document.value);
  if (!checked.success) {
    const findings = findAll(checked.error, document.value);
    if (rereadReferences(findings, document)) checked = schema.safeParse(document.value);
  }
  if (checked.success) return { data: checked.data, problems: [] };
  const findings = findAll(checked.error, document.value).filter(
    ({ path }) => valueAt(document.value, path) !== unresolved,
  );
  return { data: null, problems: findings.map((finding) => placeFinding(finding, document)) };
}

/** The problem `message` at `path`, with its place in the document. */
export function problemAt(
  document: ConfigDocument,
  path: YamlPath,
  message: string,
  part: "value" | "key" = "value",
): Problem {
  return { file: document.file, ...document.positionOf(path, part), path: formatPath(path), message };
}

function placeFinding(finding: Finding, document: ConfigDocument): Problem {
  return problemAt(document, finding.path, finding.message, finding.isAboutKey ? "key" : "value");
}

function rereadReferences(findings: readonly Finding[], document: ConfigDocument): boolean {
  let hasChanged = false;
  for (const { path, wanted } of findings) {
    const text = document.wholeReferenceAt(path);
    const value = text === null ? null : readCoreScalar(text);
    if (value === null || !wanted.includes(typeof value)) continue;
    const parent = valueAt(document.value, path.slice(0, -1)) as Record<string | number, unknown>;
    parent[path.at(-1) ?? ""] = value;
    hasChanged = true;
  }
  return hasChanged;
}

function findAll(error: z.ZodError, root: unknown): Finding[] {
  return error.issues.flatMap((issue) => findingsOf(issue, [], root));
}

function findingsOf(issue: z.core.$ZodIssue, prefix: YamlPath, root: unknown): Finding[] {
  const path = [...prefix, ...(issue.path as YamlPath)];
  const value = valueAt(root, path);
  const finding = (message: string, wanted: readonly string[] = []): Finding[] => [
    { path, message, isAboutKey: false, wanted },
  ];
  switch (issue.code) {
    case "unrecognized_keys": {
      const messages = issue.message.split("\n");
      return issue.keys.map((key, index) => ({
        path: [...path, key],
        message: messages[index] ?? "unknown key",
        isAboutKey: true,
        wanted: [],
      }));
    }
    case "invalid_union":
      return unionFindings(issue, path, root);
    case "invalid_type":
      // A schema's own wording, unless there is nothing to word.
      if (value !== undefined && !issue.message.startsWith("Invalid input")) return finding(issue.message);
      return finding(describeType([typeNouns[issue.expected] ?? issue.expected], value), [wantedType(issue.expected)]);
    case "invalid_value":
      return finding(
        describeChoice(issue.values, value),
        issue.values.map((choice) => typeof choice),
      );
    case "too_small":
      if (issue.origin === "string") return finding("must not be empty");
      if (issue.origin === "array") return finding(`needs at least ${issue.minimum}`);
      return finding(
        issue.inclusive === false ? `must be greater than ${issue.minimum}` : `must be at least ${issue.minimum}`,
      );
    case "too_big":
      if (issue.origin === "array") return finding(`has room for ${issue.maximum} at most`);
      return finding(`must be at most ${issue.maximum}`);
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
      break;
  }
  return finding(issue.message);
}

function unionFindings(issue: z.core.$ZodIssueInvalidUnion, path: YamlPath, root: unknown): Finding[] {
  const value = valueAt(root, path);
  const options = "options" in issue && Array.isArray(issue.options) ? issue.options : [];
  if (issue.errors.length === 0) {
    const choices = options.filter((choice) => choice !== undefined && choice !== null) as string[];
    const message = value === undefined ? `is required: ${listChoices(choices)}` : describeChoice(choices, value);
    return [{ path, message, isAboutKey: false, wanted: [] }];
  }
  // The branch that the writer meant is one whose type fits; what is wrong within it is what helps.
  const fitting = issue.errors.filter((branch) => !branch.some((nested) => isMismatch(nested)));
  const likely = fitting.toSorted((left, right) => left.length - right.length)[0];
  if (likely !== undefined) return likely.flatMap((nested) => findingsOf(nested, path, root));
  const mismatches = issue.errors.flat().filter((nested) => isMismatch(nested));
  const expected = mismatches.flatMap((nested) => {
    if (nested.code === "invalid_type") return [typeNouns[nested.expected] ?? nested.expected];
    return nested.code === "invalid_value" ? nested.values.map(String) : [];
  });
  const wanted = mismatches.flatMap((nested) => {
    if (nested.code === "invalid_type") return [wantedType(nested.expected)];
    return nested.code === "invalid_value" ? nested.values.map((choice) => typeof choice) : [];
  });
  return [{ path, message: describeType(expected, value), isAboutKey: false, wanted }];
}

function isMismatch(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value");
}

function wantedType(expected: string): string {
  return expected === "int" ? "number" : expected;
}

function describeType(expected: readonly string[], value: unknown): string {
  if (value === undefined) return "is required";
  const wanted = [...new Set(expected)].join(" or ");
  if (typeof value === "number" && !Number.isFinite(value)) return "must be a finite number";
  if (typeof value === "number" && wanted === "a whole number") {
    return Number.isInteger(value) ? "is too large to be exact" : "must be a whole number";
  }
  const isUnquoted = expected.includes("a string") && (typeof value === "number" || typeof value === "boolean");
  const isQuoted = typeof value === "string" && readCoreScalar(value) !== null && !expected.includes("a list");
  const hint = isUnquoted ? "; put it in quotes" : isQuoted ? "; write it without quotes" : "";
  return `must be ${wanted}, not ${nounOf(value)}${hint}`;
}

function describeChoice(choices: readonly unknown[], value: unknown): string {
  if (value === undefined) return "is required";
  const texts = choices.map(String);
  return `must be ${listChoices(texts)}${typeof value === "string" ? suggest(value, texts) : ""}`;
}

function listChoices(choices: readonly string[]): string {
  return choices.length > 2 ? `one of ${choices.join(", ")}` : choices.join(" or ");
}

/** What stands at `path` in plain data; undefined where nothing does. */
export function valueAt(root: unknown, path: YamlPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
