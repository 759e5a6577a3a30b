import { copyFile, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { eventsPathOf } from "../../../src/store/engine/location.ts";
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
  const forced = await run("backup", join(elsewhere, "flatline.db"), "--force", "--json");

  expect(first).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringMatching(/\d+ bytes, .* checked\n$/) });
  expect(again).toMatchObject({ exitCode: 64, stdout: "", stderr: expect.stringContaining("--force") });
  const files = ["flatline.db", "flatline-events.db"].map((name) => stat(join(elsewhere, name)));
  const bytes = (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
  expect(JSON.parse(forced.stdout)).toMatchObject({ bytes, eventsFile: join(elsewhere, "flatline-events.db") });
  await writeFile(join(elsewhere, "flatline.yaml"), configuration);
  const check = await runCli(["check", "--json"], { cwd: elsewhere });
  expect(JSON.parse(check.stdout)).toMatchObject([{ slug: "acme", severity: "fail" }]);
});

describe("restore", () => {
  const run = (...args: string[]) => runCli(args, { cwd: daemon.path });
  const copy = (): string => join(elsewhere, "copy.db");
  const store = (): string => join(daemon.path, "flatline.db");
  const deathsNow = async (): Promise<unknown> => {
    const [row] = JSON.parse((await run("check", "--json")).stdout) as [{ result: { observed: unknown } }];
    return row.result.observed;
  };
  beforeEach(async () => {
    await daemon.configure(configuration);
    await daemon.addDeaths("acme", { lastHour: 50, perDay: 1 });
    await run("backup", copy());
  });

  it("puts a backup in the place of a store, and nothing of the old one shines through", async () => {
    await daemon.addDeaths("acme", { lastHour: 25, perDay: 0 });
    // As a daemon that was killed leaves them.
    await writeFile(`${store()}-shm`, "left");
    const refused = await run("restore", copy());
    const restored = await run("restore", copy(), "--force", "--json");

    expect(refused).toMatchObject({ exitCode: 64, stdout: "", stderr: expect.stringContaining("--force replaces it") });
    expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(restored.stdout)).toMatchObject({ file: copy(), store: store() });
    expect(await deathsNow()).toMatchObject({ currentCount: 50 });
    const [act] = JSON.parse((await run("audit", "--json")).stdout) as [unknown];
    expect(act).toMatchObject({ action: "restore", subject: "copy.db", via: "cli" });
    expect((await stat(store())).mode & 0o777).toBe(0o600);
    expect((await readdir(daemon.path)).filter((name) => name.startsWith(".flatline-backup"))).toEqual([]);
  });

  it("of an older state with newer events starts, and counts them", async () => {
    await daemon.addDeaths("acme", { lastHour: 25, perDay: 0 });
    // As a restore that is cut off between the two files leaves them.
    await copyFile(copy(), store());

    expect(await deathsNow()).toMatchObject({ currentCount: 75 });
  });

  it("makes the store where none is, in a folder that does not exist yet", async () => {
    await daemon.configure(configuration.replace("path: flatline.db", "path: new/folder/flatline.db"));

    expect(await run("restore", copy())).toMatchObject({ exitCode: 0 });

    expect(await deathsNow()).toMatchObject({ currentCount: 50 });
  });

  it("refuses while a daemon runs on the store", async () => {
    await daemon.start();

    expect(await run("restore", copy(), "--force")).toMatchObject({
      exitCode: 75,
      stderr: expect.stringContaining("another flatline runs on the store"),
    });
  });

  it.each<[string, (path: string) => Promise<void>, number, string]>([
    ["that does not exist", (path) => rm(path), 66, "there is no backup"],
    ["whose events are missing", (path) => rm(eventsPathOf(path)), 66, "there is no backup"],
    [
      "whose events are of another store",
      async (path) => changeCopy(eventsPathOf(path), "pragma user_version = 1"),
      74,
      "holds the events of another store",
    ],
    ["that is no database", (path) => writeFile(path, "hello ".repeat(1_000)), 74, "not a database of SQLite"],
    [
      "of another program",
      async (path) => changeCopy(path, "pragma application_id = 1"),
      74,
      "not a store of flatline",
    ],
    [
      "of a newer flatline",
      async (path) => changeCopy(path, "insert into schema_version values (99, 'later')"),
      78,
      "restore it with the flatline that wrote it, or a newer one",
    ],
  ])("leaves the store as it is at a backup %s", async (_name, spoil, exitCode, says) => {
    await spoil(copy());

    const outcome = await run("restore", copy(), "--force");

    expect(outcome).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(says) });
    expect(await deathsNow()).toMatchObject({ currentCount: 50 });
  });

  it("says what to do with a PostgreSQL", async () => {
    await daemon.configure(
      configuration.replace("path: flatline.db", "url: 'postgres://user:hush@db.example.com/flatline'"),
    );

    const outcome = await run("restore", copy());

    expect(outcome).toMatchObject({ exitCode: 64, stderr: expect.stringContaining("pg_restore") });
    expect(outcome.stderr).not.toContain("hush");
  });
});

async function changeCopy(path: string, statement: string): Promise<void> {
  const database = new DatabaseSync(path);
  database.exec(statement);
  database.close();
}

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
