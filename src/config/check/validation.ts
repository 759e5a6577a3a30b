import type { z } from "zod";

import { readWith, type SchemaProblem } from "../../contract/issues.ts";
import { unresolved, type ConfigDocument } from "../document/document.ts";
import { readCoreScalar } from "../document/interpolation.ts";
import { formatPath, type Problem, type YamlPath } from "../document/problems.ts";

export interface Validation<Output> {
  /** Null when there are problems. */
  readonly data: Output | null;
  readonly problems: readonly Problem[];
}

/**
 * Checks a document against its schema and says everything that is wrong in flatline's words, each with its place. Where a
 * number or boolean is wanted and an unquoted `${…}` stands alone, its text is read as YAML would, in `document.value` too.
 */
export function validateDocument<Output>(schema: z.ZodType<Output>, document: ConfigDocument): Validation<Output> {
  let read = readWith(schema, document.value);
  if (read.kind === "problems" && rereadReferences(read.problems, document)) read = readWith(schema, document.value);
  if (read.kind === "data") return { data: read.data, problems: [] };
  const problems = read.problems
    .filter(({ path }) => valueAt(document.value, path) !== unresolved)
    .map(({ path, message, isAboutKey }) => problemAt(document, path, message, isAboutKey ? "key" : "value"));
  return { data: null, problems };
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

function rereadReferences(problems: readonly SchemaProblem[], document: ConfigDocument): boolean {
  let hasChanged = false;
  for (const { path, isAboutType } of problems) {
    const text = isAboutType ? document.wholeReferenceAt(path) : null;
    const value = text === null ? null : readCoreScalar(text);
    if (value === null) continue;
    const parent = valueAt(document.value, path.slice(0, -1)) as Record<string | number, unknown>;
    parent[path.at(-1) ?? ""] = value;
    hasChanged = true;
  }
  return hasChanged;
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
