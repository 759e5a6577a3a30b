import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { citedSections, crowdedFolders, missingPaths, mostFiles, nearTwins } from "./layout.ts";
import { importTable } from "./rules.ts";
import { readSourceFiles } from "./source-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const source = readSourceFiles("src");
const files = [...source, ...["test", "scripts", "bench"].flatMap(readSourceFiles)];
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];
const rooms = Object.keys(importTable);

/** What stands in the comments of a file. */
function commentsOf(text: string): string {
  return text
    .split("\n")
    .flatMap((line) => /(?:^|\s)(?:\/\/|\/?\*)(.*)$/.exec(line)?.[1] ?? [])
    .join("\n");
}

describe("the folders", () => {
  it(`of src, test, scripts and bench hold at most ${mostFiles} files each, tests beside their subject not counted`, () => {
    const isCounted = (path: string): boolean => !(path.startsWith("src/") && path.endsWith(".test.ts"));

    expect(crowdedFolders(files.map(({ path }) => path).filter(isCounted))).toEqual([]);
  });

  it("of src have no two files whose names differ by a suffix", () => {
    // Renamed when the run journal has replaced what imports them.
    const known = ["src/contract: report, reports", "src/monitor: schedule, scheduler"];

    expect(nearTwins(source.map(({ path }) => path)).filter((twins) => !known.includes(twins))).toEqual([]);
  });

  it("are seen when they are crowded", () => {
    const paths = Array.from({ length: 31 }, (_, index) => `src/a/file-${index}.ts`);

    expect(crowdedFolders(paths)).toEqual(["src/a: 31"]);
    expect(crowdedFolders(paths.slice(1))).toEqual([]);
  });

  it.each([
    [["src/a/stage.ts", "src/a/staging.ts"], ["src/a: stage, staging"]],
    [["src/a/table.ts", "src/a/tables.ts"], ["src/a: table, tables"]],
    [["src/a/schedule.ts", "src/a/scheduler.ts"], ["src/a: schedule, scheduler"]],
    [["src/a/table.ts", "src/b/tables.ts", "src/a/tables.test.ts"], []],
  ])("of %j have the near twins %j", (paths, twins) => {
    expect(nearTwins(paths)).toEqual(twins);
  });
});

describe("what comments and docs name", () => {
  const exists = (path: string): boolean => existsSync(join(root, path));

  it.each(["src/gone/a.ts", "store/gone", "`web/gone/`"])("is seen when it does not exist: %s", (text) => {
    expect(missingPaths(`See ${text}.`, [...rooms, "gone"], exists)).toHaveLength(1);
  });

  it("exists, in comments", () => {
    const missing = files
      .filter(({ path }) => !path.startsWith("test/repo/"))
      .flatMap(({ path, text }) => missingPaths(commentsOf(text), rooms, exists).map((name) => `${path}: ${name}`));

    expect(missing).toEqual([]);
  });

  it.each(pages)("exists, in %s", (page) => {
    expect(missingPaths(read(page), rooms, exists)).toEqual([]);
  });

  it("is a section that the contract has", () => {
    const sections = new Set(
      [...read("docs/contract.md").matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number)),
    );
    const cited = files.flatMap(({ path, text }) => citedSections(text).map((section) => ({ path, section })));

    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ section }) => !sections.has(section))).toEqual([]);
  });

  it("is found where several sections are cited", () => {
    expect(citedSections("(CONTRACT 7 and 8), CONTRACT 9, the client")).toEqual([7, 8, 9]);
  });
});

describe("docs/architecture.md", () => {
  it("has the import table that is enforced", () => {
    const rows = [...read("docs/architecture.md").matchAll(/^\| `(\w+)\/`\s*\|[^|]*\|([^|]*)\|$/gm)];
    const documented = Object.fromEntries(
      rows.map(([, room = "", cell = ""]) => [room, cell.trim() === "–" ? [] : cell.trim().split(", ")]),
    );

    expect(Object.keys(documented).toSorted()).toEqual(rooms.toSorted());
    for (const room of rooms) expect(documented[room]?.toSorted()).toEqual(importTable[room]?.toSorted());
  });
});
