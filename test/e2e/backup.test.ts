import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { runCli } from "../support/cli-run.ts";
import { makeDaemonFolder, type DaemonFolder } from "../support/daemon.ts";

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
  const forced = await run("backup", join(elsewhere, "flatline.db"), "--force", "--json");

  expect(first).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/\d+ bytes, .* checked\n$/) });
  expect(again).toMatchObject({ exitCode: 64, stdout: "", stderr: expect.stringContaining("--force") });
  const { size } = await stat(join(elsewhere, "flatline.db"));
  expect(JSON.parse(forced.stdout)).toMatchObject({ bytes: size });
  await writeFile(join(elsewhere, "flatline.yaml"), configuration);
  const check = await runCli(["check", "--json"], { cwd: elsewhere });
  expect(JSON.parse(check.stdout)).toMatchObject([{ slug: "acme", severity: "fail" }]);
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
