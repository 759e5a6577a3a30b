import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Each path in `text` that leads out of the repository, as `file:line: path`. */
function pathsOutside(file: string, text: string): string[] {
  // Shell scripts change to the top folder first.
  const folder = /^\.ci\/|\.sh$/.test(file) ? "." : posix.dirname(file);
  return text
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(/(?<![\w./-])(?:\.\.\/)+[\w./-]*/g)]
        .filter(([path]) => posix.join(folder, path).startsWith(".."))
        .map(([path]) => `${file}:${index + 1}: ${path}`),
    );
}

it("no file refers to a folder outside of the repository", () => {
  const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");

  const found = files.flatMap((file) => {
    const text = readFileSync(`${root}${file}`, "utf8");
    return text.includes("\0") ? [] : pathsOutside(file, text);
  });

  expect(found).toEqual([]);
});

it.each([
  ["a script of CI", ".ci/run", "  ../tools/image.sh", [".ci/run:1: ../tools/image.sh"]],
  ["a page", "docs/index.md", "see\n[it](../../other/page.md)", ["docs/index.md:2: ../../other/page.md"]],
  ["a module that stays inside", "src/web/web.ts", 'import { a } from "../base/a.ts";', []],
])("finds them: %s", (_name, file, text, found) => {
  expect(pathsOutside(file, text)).toEqual(found);
});
