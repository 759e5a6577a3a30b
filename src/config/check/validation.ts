import type { z } from "zod";

import { readWith, type SchemaProblem } from "../../contract/issues.ts";
import { refused, type Accepted } from "../document/accepted.ts";
import type { ConfigDocument } from "../document/document.ts";
import { readCoreScalar } from "../document/interpolation.ts";
import { valueAt, type Problem, type YamlPath } from "../document/problems.ts";

export interface Validation<Output, Input> {
  /** Null when there are problems. */
  readonly data: Output | null;
  readonly accepted: Accepted<Input>;
  readonly problems: readonly Problem[];
}

/**
 * Checks a document against its schema and says everything that is wrong in flatline's words, each with its place. In
 * `document.value` what is wrong becomes `refused`; where a number or boolean is wanted and an unquoted `${…}` stands alone,
 * its text is read as YAML would.
 */
export function validateDocument<Output, Input>(
  schema: z.ZodType<Output, Input>,
  document: ConfigDocument,
): Validation<Output, Input> {
  if (!document.isReadable) return { data: null, accepted: refused, problems: [] };
  let read = readWith(schema, document.value);
  if (read.kind === "problems" && rereadReferences(read.problems, document)) read = readWith(schema, document.value);
  if (read.kind === "data") return { data: read.data, accepted: document.value as Accepted<Input>, problems: [] };
  const problems = read.problems.filter(({ path }) => valueAt(document.value, path) !== refused);
  for (const { unread } of problems) if (unread.length > 0) setAt(document, unread, refused);
  return {
    data: null,
    accepted: problems.some(({ unread }) => unread.length === 0) ? refused : (document.value as Accepted<Input>),
    problems: problems.map(({ path, message, isAboutKey }) =>
      document.problemAt(path, message, isAboutKey ? "key" : "value"),
    ),
  };
}

function rereadReferences(problems: readonly SchemaProblem[], document: ConfigDocument): boolean {
  let hasChanged = false;
  for (const { path, isAboutType } of problems) {
    const text = isAboutType ? document.wholeReferenceAt(path) : null;
    const value = text === null ? null : readCoreScalar(text);
    if (value === null) continue;
    setAt(document, path, value);
    hasChanged = true;
  }
  return hasChanged;
}

/** Sets what is at `path`; not where the object that should have it was refused itself. */
function setAt(document: ConfigDocument, path: YamlPath, value: unknown): void {
  const parent = valueAt(document.value, path.slice(0, -1));
  if (typeof parent === "object" && parent !== null)
    (parent as Record<string | number, unknown>)[path.at(-1) ?? ""] = value;
}
