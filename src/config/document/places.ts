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
  const locate = (path: YamlPath): { readonly places: ConfigPlaces; readonly path: YamlPath } => {
    const [section, index, ...rest] = path;
    const owner = section === "organizations" && typeof index === "number" ? owners[index] : undefined;
    if (owner === undefined) return { places: main, path };
    return { places: owner.places, path: ["organizations", owner.index, ...rest] };
  };
  return {
    problemAt: (path, message, part) => {
      const at = locate(path);
      return at.places.problemAt(at.path, message, part);
    },
    lineOf: (path) => {
      const at = locate(path);
      return at.places.lineOf(at.path);
    },
    folderOf: (path) => {
      const at = locate(path);
      return at.places.folderOf(at.path);
    },
    leafPaths: (from) => {
      const at = locate(from);
      return at.places.leafPaths(at.path).map((leaf) => [...from, ...leaf.slice(from.length)]);
    },
  };
}
