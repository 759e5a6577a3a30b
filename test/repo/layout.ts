import { posix } from "node:path";

/** Files that a folder may hold; one that outgrows it hides rooms. Data beside a test (testdata, goldens) is not counted. */
export const mostFiles = 30;

/** The folders that hold more TypeScript files than `mostFiles`, each as `folder: count`. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > mostFiles).map(([folder, count]) => `${folder}: ${count}`);
}

// Longest first; what is left of a word has at least three letters.
const suffixes = ["ings", "ers", "ing", "ies", "es", "ed", "er", "s", "e"];

function stemOf(name: string): string {
  const suffix = suffixes.find((one) => name.endsWith(one) && name.length - one.length >= 3);
  return suffix === undefined ? name : name.slice(0, -suffix.length);
}

/** Files of one folder whose names differ by a suffix only (table/tables, stage/staging), each as `folder: names`. */
export function nearTwins(paths: readonly string[]): string[] {
  const byStem = new Map<string, string[]>();
  for (const path of paths) {
    if (path.endsWith(".test.ts")) continue;
    const key = `${posix.dirname(path)}: ${stemOf(posix.basename(path, ".ts"))}`;
    byStem.set(key, [...(byStem.get(key) ?? []), posix.basename(path, ".ts")]);
  }
  return [...byStem].flatMap(([key, names]) => (names.length > 1 ? [`${key.split(":")[0]}: ${names.join(", ")}`] : []));
}

/**
 * Paths below src/ that a text names (`src/web/web.ts`, `store/schema`, `alerting/`) and that do not exist. `rooms` are the
 * folders of src, `exists` answers for a path of the project.
 */
export function missingPaths(text: string, rooms: readonly string[], exists: (path: string) => boolean): string[] {
  const named = new RegExp(`(?<![\\w./-])(?:src/)?(?:${rooms.join("|")})/[\\w./-]*`, "g");
  return [...text.matchAll(named)].flatMap(([match]) => {
    const name = match.replace(/[./]+$/, "");
    const path = name.startsWith("src/") ? name : `src/${name}`;
    return exists(path) || exists(`${path}.ts`) ? [] : [name];
  });
}

/** The sections of the contract that a text cites (`CONTRACT 7 and 8`), as numbers. */
export function citedSections(text: string): number[] {
  return [...text.matchAll(/CONTRACT (\d+(?:(?:, | and | to )\d+)*)/g)].flatMap(([, list = ""]) =>
    list.split(/\D+/).map(Number),
  );
}
