import { posix } from "node:path";

import type { SourceFile } from "./source-files.ts";

const escaped = (name: string): string => name.replaceAll("$", String.raw`\$`);

// What the package exports and what Node.js starts: nothing in src imports it.
const entries = /^src\/(?:spike\/spike|client\/client|cli\/main|.*-worker)\.ts$/;

/** Finds exports that no file imports and that their own file names only once, each as `path: name`. */
export function unusedExports(files: readonly SourceFile[]): string[] {
  const imported = new Set(files.flatMap(importedNames));
  return files
    .filter(({ path }) => !entries.test(path) && !imported.has(`${path}: *`))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) ([\w$]+)/gm)].flatMap(
        ([, name = ""]) => {
          const mentions = code.match(new RegExp(String.raw`(?<![\w$])${escaped(name)}(?![\w$])`, "g")) ?? [];
          return imported.has(`${path}: ${name}`) || mentions.length > 1 ? [] : [`${path}: ${name}`];
        },
      ),
    );
}

/** Returns what a file imports from others, each as `path: name`; `*` where it takes the whole file. */
function importedNames({ path, text }: SourceFile): string[] {
  const pathOf = (specifier = ""): string => posix.join(posix.dirname(path), specifier);
  const named = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]+)"/gm;
  const whole = /(?:\bimport\(|^(?:import|export) \*[^"\n]*)"(\.[^"]+)"/gm;
  return [
    ...[...text.matchAll(named)].flatMap(([, names = "", specifier]) =>
      names.split(",").flatMap((entry) => {
        const name = /^\s*(?:type\s+)?([\w$]+)/.exec(entry)?.[1];
        return name === undefined ? [] : [`${pathOf(specifier)}: ${name}`];
      }),
    ),
    ...[...text.matchAll(whole)].map(([, specifier]) => `${pathOf(specifier)}: *`),
  ];
}

/** Finds methods of the store's interfaces that no code of src reads (`.name` or `{ name } =`), each as `path: Interface.name`. */
export function uncalledStoreMethods(files: readonly SourceFile[]): string[] {
  const all = files.map(({ code }) => code).join("\n");
  return files
    .filter(({ path }) => path.startsWith("src/store/"))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/^export interface (\w+)[^{]*\{\n([^]*?)^\}/gm)].map((match) => ({ path, match })),
    )
    .flatMap(({ path, match: [, owner = "", body = ""] }) =>
      [...body.matchAll(/^ {2}(?:readonly )?([\w$]+)(?:\(|: \()/gm)].flatMap(([, name = ""]) => {
        const read = new RegExp(String.raw`\.${escaped(name)}\b|\{[^{}]*\b${escaped(name)}\b[^{}]*\}\s*=`);
        return read.test(all) ? [] : [`${path}: ${owner}.${name}`];
      }),
    );
}
