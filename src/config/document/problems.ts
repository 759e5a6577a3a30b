import type { TextPosition, YamlPath } from "../../base/yaml-text.ts";

/** One problem of the configuration. `message` never contains a secret. */
export interface Problem extends TextPosition {
  /** The path as the user gave it. */
  readonly file: string;
  /** Dotted path in the file, `organizations[1].thresholds`; `yaml` for a file that is not YAML. */
  readonly path: string;
  readonly message: string;
}

/** Formats a problem as `FILE:LINE:COL: path: message`, `kind` before the path (CONTRACT 4). */
export function formatProblem(problem: Problem, kind: "" | "warning: " = ""): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${kind}${problem.path}: ${problem.message}`;
}

/** Sorts problems by their place in the file and removes duplicates. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort((left, right) => left.line - right.line || left.column - right.column);
}

/** Returns the value at `path` in plain data; undefined without one. */
export function valueAt(root: unknown, path: YamlPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
