import type { Problem, YamlPath } from "./problems.ts";

/** The positions of the values in the files. */
export interface ConfigPlaces {
  /** Creates the problem `message` at the value of `path`, or at its key; without one, at the parent. */
  problemAt(path: YamlPath, message: string, part?: "value" | "key"): Problem;
  /** Returns `file:line` of the value at `path`. */
  lineOf(path: YamlPath): string;
  /** Returns the absolute folder to which a relative path at `path` is relative. */
  folderOf(path: YamlPath): string;
  /** Returns every path below `from` that has a value, leaves only. */
  leafPaths(from: YamlPath): readonly YamlPath[];
}

/** Joins the positions of several files: their `organizations` form one list, everything else is in the first file. */
export function joinPlaces(files: readonly [ConfigPlaces, ...ConfigPlaces[]], counts: readonly number[]): ConfigPlaces {
  const [main] = files;
  const owners = files.flatMap((places, file) =>
    Array.from({ length: counts[file] ?? 0 }, (_, index) => ({ places, index })),
  );
  const ask = <Answer>(path: YamlPath, answer: (places: ConfigPlaces, own: YamlPath) => Answer): Answer => {
    const [section, index, ...rest] = path;
    const owner = section === "organizations" && typeof index === "number" ? owners[index] : undefined;
    return owner === undefined ? answer(main, path) : answer(owner.places, ["organizations", owner.index, ...rest]);
  };
  return {
    problemAt: (path, message, part) => ask(path, (places, own) => places.problemAt(own, message, part)),
    lineOf: (path) => ask(path, (places, own) => places.lineOf(own)),
    folderOf: (path) => ask(path, (places, own) => places.folderOf(own)),
    leafPaths: (from) =>
      ask(from, (places, own) => places.leafPaths(own).map((leaf) => [...from, ...leaf.slice(from.length)])),
  };
}
