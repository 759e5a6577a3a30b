import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runCli } from "../../../test/support/program/cli-run.ts";
import { debianTool } from "../../../test/support/debian-tool.ts";

const folder = mkdtempSync(join(tmpdir(), "flatline-completion-"));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout, stderr, exitCode } = await runCli(["completion", shell], { cwd: "/" });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    writeFileSync(join(folder, `script.${shell}`), stdout);
  }
  writeFileSync(join(folder, "other name.yaml"), "");
});

const scripts = {
  // What readline does at the key Tab, with the words as bash divides them.
  bash: String.raw`source ./script.bash
    read -r -a COMP_WORDS <<< "\${1//=/ = }"; [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _flatline 2>/dev/null
    printf '%s\n' "\${COMPREPLY[@]}"`.replaceAll("\\$", "$"),
  // The builtins of its completion work at a prompt only: these print what they were given.
  zsh: `compdef() { : }; compadd() { shift; print -l -- "$@"; }; _files() { print -l -- *; }
    _describe() { print -l -- "\${found[@]%%:*}"; }
    source ./script.zsh; words=("\${(@s: :)1}"); CURRENT=$#words; PREFIX=$words[-1]
    _flatline | grep -- "^$PREFIX"`,
  fish: `source ./script.fish; complete -C $argv[1] | string split -f 1 \\t`,
} as const;

function complete(shell: keyof typeof scripts, line: string): string[] {
  const args = shell === "bash" ? ["--norc", "-c", scripts.bash, "bash", line] : ["-c", scripts[shell], line];
  const sorted = shell === "zsh" ? ["-f", "-c", scripts.zsh, "zsh", line] : args;
  const { stdout, stderr, error } = spawnSync(shell, sorted, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
  });
  expect({ stderr, error }).toEqual({ stderr: "", error: undefined });
  return stdout
    .split("\n")
    .filter((word) => word !== "")
    .toSorted();
}

const cases = [
  { line: "flatline ba", offers: ["backtest", "backup"] },
  { line: "flatline config ", offers: ["check", "help", "init", "schedule", "schema", "show"] },
  { line: "flatline check --baseline", offers: ["--baseline", "--baseline-days"] },
  { line: "flatline run --log-format ", offers: ["auto", "json", "pretty"] },
  { line: "flatline run --watch --log-format j", offers: ["json"] },
  { line: "flatline gate rel", offers: ["release"] },
  { line: "flatline alerts judge 0199b1c0 ", offers: ["checker", "expected", "none", "real"] },
  { line: "flatline completion ", offers: ["bash", "fish", "zsh"] },
  { line: "flatline alerts list --ended ", offers: [] },
  { line: "flatline check -c other", offers: ["other name.yaml"] },
  { line: "flatline import events other", offers: ["other name.yaml"] },
];

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (shell) => {
  const tool = debianTool(shell, shell);

  it.skipIf(tool.isMissing).each(cases)(`offers $offers after "$line"${tool.note}`, ({ line, offers }) => {
    const found = complete(shell, line).map((word) => word.replaceAll("\\ ", " "));

    expect(found).toEqual(offers);
  });
});

describe("completion in bash", () => {
  it("takes --flag=value apart as bash does", () => {
    expect(complete("bash", "flatline run --log-format=p")).toEqual(["pretty"]);
  });

  const script = debianTool("script", "bsdutils");
  it.skipIf(script.isMissing)(`completes what a person types at a prompt${script.note}`, () => {
    const typed =
      'source ./script.bash; flatline() { echo "ran<$*>"; }\nflatline comp\tba\t\nflatline check -c oth\t\nexit\n';

    const { stdout } = spawnSync("script", ["-qefc", "bash --norc --noprofile -i", "/dev/null"], {
      cwd: folder,
      encoding: "utf8",
      input: typed,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "dumb", INPUTRC: "/dev/null" },
      timeout: 20_000,
    });

    expect(stdout).toContain("ran<completion bash>");
    expect(stdout).toContain("ran<check -c other name.yaml>");
  });
});
