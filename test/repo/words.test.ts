import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { readSourceFiles, sourceFile } from "./source-files.ts";
import {
  avoidedPhrases,
  isReworded,
  nounComments,
  phraseProblems,
  proseOfPage,
  proseOfSource,
  rewordedPaths,
} from "./words.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = rewordedPaths.filter((path) => path.endsWith(".md"));
const source = readSourceFiles("src").filter(({ path }) => isReworded(path));

describe("the words of docs and source", () => {
  it.each(pages)("are plain in %s", (page) => {
    expect(phraseProblems(page, proseOfPage(readFileSync(join(root, page), "utf8")))).toEqual([]);
  });

  it("are plain in comments and messages", () => {
    expect(source.length).toBeGreaterThan(150);
    expect(source.flatMap((file) => phraseProblems(file.path, proseOfSource(file)))).toEqual([]);
  });

  it("begin a function's doc comment with a verb", () => {
    expect(source.flatMap(nounComments)).toEqual([]);
  });

  it.each(rewordedPaths)("are checked in a place that exists: %s", (path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });
});

describe("the word list", () => {
  it.each(avoidedPhrases)("finds: $sample", ({ pattern, sample }) => {
    const found = phraseProblems("a.md", sample).length;

    expect(pattern.test(sample)).toBe(true);
    expect(found).toBeGreaterThan(0);
  });

  it("reads comments and strings of source files, not names", () => {
    const prose = proseOfSource(sourceFile("src/a.ts", '/** Is told. */\nconst told = "who tells";\nconst b = told;'));

    expect(phraseProblems("src/a.ts", prose)).toEqual([
      'src/a.ts:1: "told" (instead: notify, report, print)',
      'src/a.ts:2: "tells" (instead: notify, report, print)',
    ]);
  });

  it("ignores code in pages", () => {
    expect(phraseProblems("a.md", proseOfPage("`told`\n```sh\ntell\n```\n"))).toEqual([]);
  });

  it.each([
    ["/** The last one. */\nexport function last(): void {}", 1],
    ["/**\n * Whether it is due.\n */\nexport async function isDue(): Promise<void> {}", 1],
    ["/** Returns the last one. */\nexport function last(): void {}", 0],
    ["/** The last one. */\nexport interface Last {}", 0],
  ])("looks at the first word of a doc comment: %j", (text, problems) => {
    expect(nounComments(sourceFile("src/a.ts", text))).toHaveLength(problems);
  });
});
