import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { commandPaths } from "../../support/program/command-paths.ts";
import { runProgram } from "../../support/program/program.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
// No command may need a configuration, or anything else, to tell what it does.
const cwd = "/";

async function helpOf(path: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli([...path, "--help"], { cwd });
  expect({ exitCode, stderr }, path.join(" ")).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

const paths = await commandPaths(helpOf);
const leaves = paths.filter(
  (path) => !paths.some((other) => other.length > path.length && path.every((name, index) => other[index] === name)),
);

describe("the help", () => {
  it.each(leaves.map((path) => path.join(" ")))("of %s tells its usage and gives an example", async (name) => {
    const help = await helpOf(name.split(" "));

    expect(help).toMatch(new RegExp(`^Usage: flatline ${name}\\b`));
    expect(help).toMatch(/^Examples?:\n {2}\S/m);
    expect(help).not.toContain("\u001b");
  });

  it.each(paths.map((path) => path.join(" ")))("`%s --version` tells the version", async (name) => {
    const { exitCode, stdout, stderr } = await runCli([...name.split(" "), "--version"].filter(Boolean), { cwd });

    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "0.0.0\n", stderr: "" });
  });
});

describe("the built program", () => {
  it.each(["--version", "-V"])("tells the package's version for %s", async (flag) => {
    const { exitCode, stdout, stderr } = await runProgram([flag], { cwd });

    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([["help", "--help"], ["help", "-h"], ["help"], ["--help"]])("prints help for %s %s", async (...args) => {
    const { exitCode, stdout, stderr } = await runCli(args.filter(Boolean), { cwd });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: flatline \[options\] \[command\]\n/);
  });

  it.each([
    ["help incidents list", "incidents list"],
    ["incidents help list", "incidents list"],
  ])("prints for `%s` the help of `flatline %s`", async (line, path) => {
    const { exitCode, stdout, stderr } = await runCli(line.split(" "), { cwd });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toBe(await helpOf(path.split(" ")));
  });

  it.each([
    ["acknowledge 41", "flatline: unknown command 'acknowledge'; did you mean \"incidents ack\"?\n"],
    ["release", 'flatline: unknown command \'release\'; did you mean "incidents release" or "gate release"?\n'],
  ])("refuses `%s`", async (line, message) => {
    expect(await runCli(line.split(" "), { cwd })).toEqual({ exitCode: 64, stdout: "", stderr: message });
  });
});
