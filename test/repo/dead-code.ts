import type { SourceFile } from "./source-files.ts";

const escaped = (name: string): string => name.replaceAll("$", String.raw`\$`);

/** Finds exports that src mentions only once, where they are declared, each as `path: name`. */
export function unusedExports(files: readonly SourceFile[]): string[] {
  const mentions = new Map<string, number>();
  for (const { code } of files)
    for (const [name] of code.matchAll(/[A-Za-z_$][\w$]*/g)) mentions.set(name, (mentions.get(name) ?? 0) + 1);
  return files.flatMap(({ path, code }) =>
    [...code.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) ([\w$]+)/gm)].flatMap(
      ([, name = ""]) => (mentions.get(name) === 1 ? [`${path}: ${name}`] : []),
    ),
  );
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
