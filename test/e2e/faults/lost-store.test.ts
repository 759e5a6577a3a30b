import { open, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from "vitest";

import { fullDiskSkipReason, makeFullDisk } from "../../support/store/full-disk.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { statusOf, eventually, runProgram, startDaemon, type Daemon } from "../../support/program/program.ts";

let monitor: HttpSink;

beforeAll(async () => {
  monitor = await startHttpSink((response) => response.end());
});
afterAll(() => monitor.close());

const configuration = (): string => `
source: { type: embedded }
defaults: { schedule: "* * * * * *" }
organizations: [acme]
heartbeat: { url: "${monitor.url}", interval: 1s }
server: { listen: "127.0.0.1:0", token: token-of-the-test }
storage: { path: flatline.db }
`;

async function answers(daemon: Daemon, status: number): Promise<boolean> {
  const statuses = await Promise.all(["healthy", "ready"].map((what) => statusOf(`${daemon.url}/-/${what}`)));
  return statuses.every((one) => one === status);
}
const areUnwell = (daemon: Daemon): Promise<boolean> => answers(daemon, 503);

/** Overwrites two pages, those at the beginning for instance, as a program that took the file for its own. */
async function overwrite(path: string, at = 0): Promise<void> {
  const file = await open(path, "r+");
  await file.write(Buffer.alloc(8_192, 0x20), 0, 8_192, at);
  await file.close();
}

/** Leaves pages in the write-ahead log. */
async function writeLog(path: string): Promise<void> {
  const other = new DatabaseSync(path, { timeout: 5_000 });
  other.exec("create table other (column); drop table other");
  other.close();
}

describe("a store that is lost while a daemon runs on it", () => {
  let folder: ProgramFolder;
  let daemon: Daemon;
  let path: string;

  beforeEach(async () => {
    folder = await makeProgramFolder(configuration());
    path = join(folder.path, "flatline.db");
    daemon = await startDaemon([], { cwd: folder.path });
    expect(await statusOf(`${daemon.url}/-/healthy`)).toBe(200);
    // What is in the log only could not be missed in the file.
    const other = new DatabaseSync(path);
    other.exec("pragma wal_checkpoint(truncate)");
    other.close();
  });
  afterEach(async () => {
    await daemon.kill();
    await folder[Symbol.asyncDispose]();
  });

  it("is neither healthy nor ready, said once in the log, on the page and to the dead man's switch", async () => {
    const said = /the store was deleted/;
    await rm(path);

    await eventually(() => areUnwell(daemon));

    const told = await daemon.untilLogged("store is lost or cannot be used");
    expect(told).toMatchObject({ level: "error", store: path, problem: expect.stringMatching(said) });
    expect(told["problem"]).toContain("Stop flatline and restore the store from a backup");
    const health = await (await fetch(`${daemon.url}/-/healthy`)).text();
    expect(health).toMatch(said);
    expect(health).not.toContain(folder.path);
    const page = await fetch(`${daemon.url}/`, { headers: { accept: "text/html" } });
    expect(await page.text()).toMatch(new RegExp(said, "i"));
    const beats = monitor.requests.length;
    await eventually(async () => (await statusOf(`${daemon.url}/-/healthy`)) === 503);
    expect(monitor.requests.length - beats).toBeLessThanOrEqual(1);
    const lines = daemon.log().filter(({ msg }) => msg === "store is lost or cannot be used");
    expect(lines).toHaveLength(1);

    daemon.signal("SIGTERM");
    expect((await daemon.ended(10_000)).exitCode, "what it wrote since is gone with it").toBe(74);
  }, 60_000);

  // The end comes before the next look.
  it.each([
    ["its log was cut off", () => writeLog(path).then(() => truncate(`${path}-wal`, 0))],
    ["a page of it was overwritten", () => overwrite(path, 4_096)],
  ])("ends with 74 when %s just before", async (_how, lose) => {
    await lose();

    daemon.signal("SIGTERM");

    const end = await daemon.ended(10_000);
    expect(end.exitCode).toBe(74);
    expect(daemon.log()).toContainEqual(
      expect.objectContaining({ level: "error", msg: "part could not store what it holds", part: "file of the store" }),
    );
  });

  it("and comes back when the same file is moved back", { timeout: 60_000 }, async () => {
    await rename(path, `${path}.away`);
    await eventually(() => areUnwell(daemon));

    await rename(`${path}.away`, path);

    await daemon.untilLogged("store is well again");
    expect(await statusOf(`${daemon.url}/-/healthy`)).toBe(200);
    expect(await statusOf(`${daemon.url}/-/ready`)).toBe(200);
  });
});

describe("a store that fails again and again, while the disk is full", () => {
  const reason = fullDiskSkipReason === null ? "" : ` (skipped: ${fullDiskSkipReason})`;

  it.skipIf(fullDiskSkipReason !== null)(`is neither healthy nor ready until there is room${reason}`, async () => {
    await using disk = await makeFullDisk();
    await writeFile(join(disk.path, "flatline.yaml"), configuration());
    await using daemon = await startDaemon([], { cwd: disk.path });
    const silence = (): Promise<Response> =>
      fetch(`${daemon.url}/api/v1/silences`, {
        method: "POST",
        headers: { authorization: "Bearer token-of-the-test", "content-type": "application/json" },
        body: JSON.stringify({
          slug: "acme",
          startsAt: "2089-12-31T00:00:00Z",
          endsAt: "2090-01-01T00:00:00Z",
          comment: "planned",
        }),
      });

    await disk.fill();

    await eventually(() => areUnwell(daemon), 40_000);
    const told = await daemon.untilLogged("store is lost or cannot be used");
    expect(told["problem"]).toMatch(/^the store cannot be used: the disk /);
    const refused = await silence();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({
      message: expect.stringMatching(/^the store cannot be used: the disk /),
    });

    await disk.free();

    const freedMs = Date.now();
    await eventually(() => answers(daemon, 200), 30_000);
    expect(Date.now() - freedMs).toBeLessThan(10_000);
    expect((await silence()).status).toBe(201);
  });
});

describe("a damaged store", () => {
  /** Damages pages of this table, after those of the schema. */
  async function damage(path: string, table: string): Promise<void> {
    const database = new DatabaseSync(path);
    database.exec("pragma wal_checkpoint(truncate)");
    const pages = database.prepare("select rootpage from sqlite_schema where name = ?").all(table);
    database.close();
    const file = await open(path, "r+");
    for (const { rootpage } of pages) {
      const at = (Number(rootpage) - 1) * 4_096;
      await file.write(Buffer.alloc(4_096, 0x5a), 0, 4_096, at);
    }
    await file.close();
  }

  it.each(["outbox", "events"])(
    "with damage in %s ends the start with 74, and one message that says what to do",
    async (table) => {
      await using folder = await makeProgramFolder(configuration());
      expect(await runProgram(["keys", "create", "--organization", "acme"], { cwd: folder.path })).toMatchObject({
        exitCode: 0,
      });
      const path = join(folder.path, "flatline.db");
      await damage(path, table);

      const { exitCode, stderr } = await runProgram(["run"], { cwd: folder.path });

      expect(stderr).toMatch(
        /^flatline: the store \S+ cannot be used: it is damaged.*; restore it from a backup, or move it away to start with an empty store\n$/,
      );
      expect(exitCode).toBe(74);
    },
  );
});
