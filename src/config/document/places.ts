import type { Problem, YamlPath } from "./problems.ts";

/** Where in the files each value stands. */
export interface ConfigPlaces {
  /** The problem `message` of the value at `path`, or of its key; at what is around it where there is none. */
  problemAt(path: YamlPath, message: string, part?: "value" | "key"): Problem;
  /** `file:line` of the value at `path`. */
  lineOf(path: YamlPath): string;
  /** The folder to which a relative path that stands at `path` is relative; absolute. */
  folderOf(path: YamlPath): string;
  /** Every path below `from` at which something is written, the leaves only. */
  leafPaths(from: YamlPath): readonly YamlPath[];
}

/** Places of a configuration whose `organizations` are those of all `files`, one list after the other; all else is in the first. */
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
