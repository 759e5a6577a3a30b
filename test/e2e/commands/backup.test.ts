import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterEach, beforeEach, expect, it } from "vitest";

import { runCli } from "../../support/program/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";

let daemon: DaemonFolder;
let elsewhere: string;
beforeEach(async () => {
  daemon = await makeDaemonFolder();
  elsewhere = await mkdtemp(join(tmpdir(), "flatline-restored-"));
});
afterEach(async () => {
  await daemon.close();
  await rm(elsewhere, { recursive: true });
});

const configuration =
  "source: { type: embedded }\norganizations: [acme]\nstorage: { path: flatline.db }\nserver: { listen: 127.0.0.1:0 }\n";

it("copies the store of a running daemon, and the copy starts as one", async () => {
  await daemon.configure(configuration);
  await daemon.addDeaths("acme", { lastHour: 50, perDay: 1 });
  await daemon.start();
  const run = (...args: string[]) => runCli(args, { cwd: daemon.path });

  const first = await run("backup", join(elsewhere, "flatline.db"));
  const again = await run("backup", join(elsewhere, "flatline.db"));
  const other = await run("backup", join(elsewhere, "other.db"), "--json");

  expect(first).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/\d+ bytes, .* checked\n$/) });
  expect(again).toMatchObject({ exitCode: 64, stdout: "", stderr: expect.stringContaining("exists already") });
  const { size: bytes } = await stat(join(elsewhere, "other.db"));
  expect(JSON.parse(other.stdout)).toMatchObject({ bytes });
  await writeFile(join(elsewhere, "flatline.yaml"), configuration);
  const check = await runCli(["check", "--json"], { cwd: elsewhere });
  expect(JSON.parse(check.stdout)).toMatchObject([{ slug: "acme", severity: "fail" }]);
});

it("is restored by copying it back, as the operations page says", async () => {
  const run = (...args: string[]) => runCli(args, { cwd: daemon.path });
  await daemon.configure(configuration);
  await daemon.addDeaths("acme", { lastHour: 50, perDay: 1 });
  await run("backup", join(elsewhere, "flatline-2026-01-15.db"));
  await daemon.addDeaths("acme", { lastHour: 25, perDay: 0 });
  // As a daemon that was killed leaves it.
  await writeFile(join(daemon.path, "flatline.db-wal"), "left");
  const page = await readFile("docs/operations.md", "utf8");
  const [, commands = ""] = /^```sh\n(mkdir replaced.*?)```$/ms.exec(page) ?? [];

  await promisify(execFile)("sh", ["-ec", commands.replaceAll("/var/backups", elsewhere)], { cwd: daemon.path });

  const { stdout } = await run("check", "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ result: { observed: { currentCount: 50 } } }]);
  expect((await stat(join(daemon.path, "flatline.db"))).mode & 0o777).toBe(0o600);
});

it.each([
  { rule: "without a store: 66", storage: "{ path: none.db }", exitCode: 66, says: "there is no store" },
  {
    rule: "of a PostgreSQL: 64, and says what to do",
    storage: "{ url: 'postgres://user:hush@db.example.com/flatline' }",
    exitCode: 64,
    says: "pg_dump",
  },
])("$rule", async ({ storage, exitCode, says }) => {
  await daemon.configure(`source: { type: embedded }\norganizations: [acme]\nstorage: ${storage}\n`);

  const outcome = await runCli(["backup", join(elsewhere, "copy.db")], { cwd: daemon.path });

  expect(outcome).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
  expect(outcome.stderr).not.toContain("hush");
});
