import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram } from "../../support/program/program.ts";

/** A command that must be refused, and what must be said: every one of `says`, on stderr. */
interface Refusal {
  readonly command: string;
  readonly exitCode: number;
  readonly says: readonly string[];
}

const config = `
source: { type: embedded }
organizations: [acme, globex]
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:1" }
storage: { path: flatline.db }
`;
const files: Readonly<Record<string, string>> = {
  "flatline.yaml": config,
  "remote.yaml": config.replace("embedded", 'remote, baseUrl: "http://127.0.0.1:1/api/v2", apiKey: key'),
  "broken-store.yaml": config.replace("flatline.db", "broken.db"),
  "broken.db":
    "This is no database, but a text that is longer than the header of one, so that it is read as such. ".repeat(9),
  "bad.yaml": "source: { type: embedded }\norganizatons: [acme]\nserver: { listen: 7 }\n",
  "broken.yaml": "source: { type: embedded\n",
  token: "token-of-the-tests",
  "bad-line.csv": "at,slug\n2026-01-01T00:00:00Z,acme\nnever,acme\n",
  "bad-column.csv": "at,slug,colour\n2026-01-01T00:00:00Z,acme,red\n",
  "bad-line.ndjson": '{"at":"2026-01-01T00:00:00Z","slug":"acme"}\n{"at":\n',
  "bad-fixture.yaml": "organizations: 7\n",
};

const refusals: readonly Refusal[] = [
  // Wrong usage.
  { command: "", exitCode: 64, says: ["Usage: flatline"] },
  { command: "rnu", exitCode: 64, says: ["unknown command 'rnu'", "Did you mean run?"] },
  { command: "run --log-formt", exitCode: 64, says: ["unknown option '--log-formt'", "--log-format"] },
  { command: "run now", exitCode: 64, says: ["too many arguments"] },
  { command: "config", exitCode: 64, says: ["Usage: flatline config"] },
  { command: "notify test", exitCode: 64, says: ["missing required argument 'receiver'"] },
  { command: "notify test nobody", exitCode: 64, says: ['no receiver has the name "nobody"', "console"] },
  {
    command: "outbox list --url http://127.0.0.1:1 --token-file token",
    exitCode: 69,
    says: ["no flatline answers at http://127.0.0.1:1"],
  },
  {
    command: "incidents list --state mode",
    exitCode: 64,
    says: ["flatline: --state is one of open, ended, all, not 'mode'\n"],
  },
  {
    command: "incidents judge 1 wrong",
    exitCode: 64,
    says: ["flatline: verdict is one of checker, real, expected, none, not 'wrong'\n"],
  },
  { command: "check nobody", exitCode: 64, says: ['no organization "nobody"', "flatline.yaml"] },
  { command: "check globx", exitCode: 64, says: ['no organization "globx"', 'did you mean "globex"?'] },
  { command: "-c flatline.yaml check", exitCode: 64, says: ["unknown option '-c'", "flatline check -c FILE"] },
  { command: "config --config flatline.yaml show", exitCode: 64, says: ["'--config'", "flatline check -c FILE"] },
  { command: "check --at yesterday", exitCode: 64, says: ["--at", "yesterday", "2026-01-15T12:00:00Z"] },
  { command: "marker add x --at 2026-02-30T00:00:00Z", exitCode: 64, says: ["--at", "not a real date"] },
  { command: "check --window-hours 0", exitCode: 64, says: ["--window-hours", "whole number"] },
  { command: "check --warn-multiplier -1", exitCode: 64, says: ["--warn-multiplier", "above 0"] },
  { command: "check -c remote.yaml --at 2026-01-01T00:00:00Z", exitCode: 64, says: ["--at needs a local source"] },
  { command: "config schedule nobody", exitCode: 64, says: ['no organization is named "nobody"'] },
  { command: "config schedule --next 0", exitCode: 64, says: ["--next", "1 to 1000"] },
  { command: "reports list", exitCode: 64, says: ["--slug is needed"] },
  {
    command: "reports list --slug acme --limit 200",
    exitCode: 64,
    says: ["these flags of the listing are wrong:", "--limit: must be an integer from 1 to 100"],
  },
  {
    command: "proposals review 1 --slug acme --decision APPROVE --yes",
    exitCode: 64,
    says: [
      "--decision APPROVE",
      "--label: is required: one of Brand Impersonation, Employee Impersonation,",
      "--asset-id",
    ],
  },
  {
    command: "proposals review 1 --decision REJECT --reject-reason irrelevant --dry-run --asset-id 5e2",
    exitCode: 64,
    says: ["--asset-id: must be a positive integer"],
  },
  { command: "silence add acme --duration never --comment x", exitCode: 64, says: ["--duration", "90m"] },
  { command: "silence add acme", exitCode: 64, says: ["required option '--comment <text>'"] },
  // Wrong configuration.
  { command: "check -c missing.yaml", exitCode: 78, says: ["missing.yaml does not exist"] },
  ...["run", "check", "config check", "config show", "import events bad-line.csv", "keys list"].map((command) => ({
    command: `${command} -c bad.yaml`,
    exitCode: 78,
    says: [
      'bad.yaml:2:1: organizatons: unknown key; did you mean "organizations"?',
      "bad.yaml:3:19: server.listen: must be a string, not a number",
    ],
  })),
  { command: "config check -c broken.yaml", exitCode: 78, says: ["broken.yaml:2:1:"] },
  // Wrong input.
  { command: "import events missing.csv", exitCode: 66, says: ["missing.csv: no such file"] },
  { command: "import events bad-line.ndjson", exitCode: 65, says: ["bad-line.ndjson:2:"] },
  { command: "import fixture missing.yaml", exitCode: 66, says: ["missing.yaml: does not exist"] },
  {
    command: "import fixture bad-fixture.yaml",
    exitCode: 65,
    says: ["nothing was imported", "bad-fixture.yaml:1:16: organizations: must be a list, not a number"],
  },
  // An id that nothing has.
  { command: "outbox retry 7", exitCode: 64, says: ["7: no notification that waits"] },
  { command: "keys revoke 7", exitCode: 64, says: ["no valid key 7"] },
  // What is not there, cannot be used or does not answer.
  {
    command: "reports list --slug acme --cursor made-up",
    exitCode: 1,
    says: ["cursor: invalid or altered"],
  },
  {
    command: "healthcheck",
    exitCode: 1,
    says: ["flatline: no answer from http://127.0.0.1:1/-/healthy: connection refused. Is the daemon running?", "-c"],
  },
  { command: "gate acme", exitCode: 69, says: ["no flatline answers at http://127.0.0.1:1"] },
  { command: "check -c broken-store.yaml", exitCode: 74, says: ["broken.db", "not an SQLite database"] },
  { command: "run -c broken-store.yaml", exitCode: 74, says: ["broken.db", "not an SQLite database"] },
];

let folder: ProgramFolder;

function expectRefusal(
  { exitCode, says }: Refusal,
  outcome: { exitCode: number | null; stdout: string; stderr: string },
): void {
  expect(outcome.exitCode, outcome.stderr).toBe(exitCode);
  for (const text of says) expect(outcome.stderr).toContain(text);
  expect(outcome.stdout).toBe("");
  // Help that was asked for in a wrong way is none; every error begins alike.
  if (!outcome.stderr.startsWith("Usage: ")) expect(outcome.stderr).toMatch(/^flatline: /);
  // A message, once; no stack trace, and no talk of a bug.
  expect(outcome.stderr).not.toMatch(/^\s+at |\bbug\b|undefined|\[object/m);
  const lines = outcome.stderr.split("\n").filter((line) => line.trim() !== "");
  expect(new Set(lines).size).toBe(lines.length);
}

/** A Node of this machine that is older than 24; null where there is none. */
function findOldNode(): string | null {
  const paths = (process.env["PATH"] ?? "").split(":").filter((path) => !path.includes("node_modules"));
  for (const path of [...paths.map((one) => `${one}/node`), "/usr/bin/nodejs"]) {
    try {
      const version = execFileSync(path, ["--version"], { encoding: "utf8" });
      if (Number(/^v(\d+)/.exec(version)?.[1] ?? 99) < 24) return path;
    } catch {
      // Not there: the next one may be.
    }
  }
  return null;
}

beforeAll(async () => {
  folder = await makeProgramFolder();
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
});
afterAll(() => folder[Symbol.asyncDispose]());

describe("flatline refuses", () => {
  it.each(refusals)("$command: exit $exitCode", async (refusal) => {
    const args = refusal.command.split(" ").filter((word) => word !== "");

    expectRefusal(refusal, await runCli(args, { cwd: folder.path }));
  });

  // The rest of the way, from the exit code of the process to what is written: one of each code.
  const first = refusals.filter(
    ({ exitCode }, index) => refusals.findIndex((one) => one.exitCode === exitCode) === index,
  );
  it.each(first)("as a process, $command: exit $exitCode", async (refusal) => {
    const args = refusal.command.split(" ").filter((word) => word !== "");

    expectRefusal(refusal, await runProgram(args, { cwd: folder.path }));
  });

  it("what no configuration is found for, and says where it looked", async () => {
    await using empty = await makeProgramFolder();

    const outcome = await runCli(["check"], { cwd: empty.path });

    expectRefusal({ command: "check", exitCode: 78, says: ["flatline.yaml", "/etc/flatline/flatline.yaml"] }, outcome);
  });

  it("to let a result be taken for whole that a full disk cut off", () => {
    // Where each write fails as on a full disk.
    const full = openSync("/dev/full", "w");
    const entry = fileURLToPath(new URL("../../../bin/flatline.js", import.meta.url));

    const { status, stderr } = spawnSync(process.execPath, [entry, "config", "schema"], {
      cwd: folder.path,
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);

    expect(stderr).toMatch(/^flatline: standard output cannot be written: ENOSPC[^\n]*\n$/);
    expect(status).toBe(74);
  });

  it.each([
    ["the configuration", "flatline.yaml"],
    ["a secret", "key"],
  ])("to wait for %s from a pipe that nobody writes to", async (_what, name) => {
    await using piped = await makeProgramFolder(`
source: { type: remote, baseUrl: "http://127.0.0.1:1/api/v2", apiKey: "\${file:key}" }
organizations: [acme]
`);
    await piped.write("key", "key");
    await rm(join(piped.path, name));
    execFileSync("mkfifo", [join(piped.path, name)]);

    const outcome = await runProgram(["config", "check"], { cwd: piped.path });

    expectRefusal(
      { command: "config check", exitCode: 78, says: [`${name} is not a regular file but a pipe`] },
      outcome,
    );
  });

  it("no configuration that a shell pipes in", () => {
    const entry = fileURLToPath(new URL("../../../bin/flatline.js", import.meta.url));
    const script = `printf 'source: { type: embedded }\norganizations: [acme]\n' | "$@" -c /dev/stdin`;

    const args = ["-c", script, "sh", process.execPath, entry, "config", "check"];
    const { status, stdout } = spawnSync("/bin/sh", args, { cwd: folder.path, encoding: "utf8" });

    expect(stdout).toBe("/dev/stdin: ok, 1 organization, 0 receivers\n");
    expect(status).toBe(0);
  });

  const oldNode = findOldNode();
  const reason = oldNode === null ? " (skipped: no Node older than 24 is installed)" : "";
  it.skipIf(oldNode === null)(`a Node that is too old, in one line with exit 69${reason}`, async () => {
    const outcome = await runProgram(["run"], { cwd: folder.path, node: oldNode ?? "" });

    expect(outcome.exitCode).toBe(69);
    expect(outcome.stderr).toMatch(/^flatline: needs Node\.js 24 or newer, this is [\d.]+; [^\n]+\n$/);
    expect(outcome.stdout).toBe("");
  });
});
