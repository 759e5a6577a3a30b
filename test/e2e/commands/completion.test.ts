import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { debianTool } from "../../support/debian-tool.ts";

const folder = mkdtempSync(join(tmpdir(), "flatline-completion-"));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout, stderr, exitCode } = await runCli(["completion", shell], { cwd: "/" });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    writeFileSync(join(folder, `script.${shell}`), stdout);
  }
  writeFileSync(join(folder, "other name.yaml"), "");
  symlinkSync(fileURLToPath(new URL("../../../bin/flatline.js", import.meta.url)), join(folder, "flatline"));
});

// The program as a person has it, with the Node.js of this process.
const path = [folder, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);

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
    env: { PATH: path, HOME: folder },
  });
  expect({ stderr, error }).toEqual({ stderr: "", error: undefined });
  return stdout
    .split("\n")
    .filter((word) => word !== "")
    .toSorted();
}

const cases = [
  ["flatline ba", ["backtest", "backup"]],
  ["flatline config ", ["check", "help", "init", "schedule", "schema", "show"]],
  ["flatline check --baseline", ["--baseline", "--baseline-days"]],
  ["flatline run --log-format ", ["auto", "json", "pretty"]],
  ["flatline run --watch --log-format j", ["json"]],
  ["flatline run --log-format=p", ["--log-format=pretty"]],
  ["flatline gate rel", ["release"]],
  ["flatline alerts judge 0199b1c0 ", ["checker", "expected", "none", "real"]],
  ["flatline completion ", ["bash", "fish", "zsh"]],
  ["flatline alerts list --ended ", []],
  ["flatline check -c other", [":file"]],
  ["flatline __com", []],
] as const;

it.each(cases)("`flatline __complete` offers after %s: %s", async (line, offers) => {
  const { stdout, stderr, exitCode } = await runCli(["__complete", "--", ...line.split(" ").slice(1)], { cwd: "/" });

  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  const words = stdout.split("\n").flatMap((each) => (each === "" ? [] : [each.split("\t")[0] ?? ""]));
  expect(words.toSorted((left, right) => left.localeCompare(right))).toEqual(offers);
});

const typed = [
  { line: "flatline ba", offers: ["backtest", "backup"] },
  { line: "flatline run --watch --log-format ", offers: ["auto", "json", "pretty"] },
  { line: "flatline alerts list --ended ", offers: [] },
  { line: "flatline check -c other", offers: ["other name.yaml"] },
];

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (shell) => {
  const tool = debianTool(shell, shell);

  it.skipIf(tool.isMissing).each(typed)(`offers $offers after "$line"${tool.note}`, ({ line, offers }) => {
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
      'source ./script.bash; flatline() { if [[ $1 == __complete ]]; then command flatline "$@"; else echo "ran<$*>"; fi; }\nflatline comp\tba\t\nflatline check -c oth\t\nexit\n';

    const { stdout } = spawnSync("script", ["-qefc", "bash --norc --noprofile -i", "/dev/null"], {
      cwd: folder,
      encoding: "utf8",
      input: typed,
      env: { PATH: path, HOME: folder, TERM: "dumb", INPUTRC: "/dev/null" },
      timeout: 20_000,
    });

    expect(stdout).toContain("ran<completion bash>");
    expect(stdout).toContain("ran<check -c other name.yaml>");
  });
});
