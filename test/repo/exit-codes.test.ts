import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { errorKinds } from "../../src/base/errors.ts";
import { runCli } from "../support/program/cli-run.ts";
import { commandPaths } from "../support/program/command-paths.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [, section = ""] = readFileSync(`${root}/docs/commands.md`, "utf8").split("## Exit codes");
const [table = ""] = section.split("\n## ");
const documented = new Set(
  [...table.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(([, codes = ""]) => codes.split(", ").map(Number)),
);

describe("the table of exit codes", () => {
  it.each(Object.entries(errorKinds))("has the code of the error %s", (_code, { exitCode }) => {
    expect(documented).toContain(exitCode);
  });

  it("has every code that the help of a command names", async () => {
    const helpOf = async (path: readonly string[]): Promise<string> =>
      (await runCli([...path, "--help"], { cwd: "/" })).stdout;
    const helps = await Promise.all((await commandPaths(helpOf)).map(helpOf));
    const sentences = helps.flatMap((help) => help.match(/[Ee]xit(?: codes?)?:? \d[^]*?(?=\n\n|$)/g) ?? []);
    const named = sentences.flatMap((text) => [...text.matchAll(/(?<![\d.])\d{1,2}(?= [a-z])/g)].map(Number));

    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((code) => !documented.has(code))).toEqual([]);
  });
});
