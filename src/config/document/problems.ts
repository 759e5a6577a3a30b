/** A place in a file, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Steps from the document's root to a value. */
export type YamlPath = readonly (string | number)[];

/** One thing that is wrong with the configuration. `message` never shows a secret. */
export interface Problem extends Position {
  /** As it is shown: as the user named it, or relative to that. */
  readonly file: string;
  /** Dotted path in the file, `organizations[1].thresholds`; `yaml` for what is no YAML. */
  readonly path: string;
  readonly message: string;
}

/** `organizations[1].labels["a.b"]`; names that are no identifiers stand in brackets. The root is `yaml`. */
export function formatPath(path: YamlPath): string {
  if (path.length === 0) return "yaml";
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** `FILE:LINE:COL: path: message` (CONTRACT 4). */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.path}: ${problem.message}`;
}

/** The problems in the order in which a reader of the files meets them, each once; `files` in the order of reading. */
export function sortProblems(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort(
    (left, right) =>
      files.indexOf(left.file) - files.indexOf(right.file) || left.line - right.line || left.column - right.column,
  );
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
