import { existsSync } from "node:fs";
import { mkdtemp, mkdtempDisposable, open, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { FlatlineError } from "../../base/errors.ts";
import { minuteMs, secondMs } from "../../base/time.ts";
import { SqliteHealth } from "./sqlite-health.ts";
import { applicationId } from "./sqlite-file.ts";

// A file that is not there was not there when it was opened, either: only statements say something.
const path = "/nowhere/flatline.db";
const unusable = (errcode: number): FlatlineError =>
  new FlatlineError("store_unusable", "no", { cause: Object.assign(new Error("no"), { errcode }) });
const full = unusable(13);
// An extended code: SQLITE_CORRUPT_VTAB.
const corrupt = unusable(267);

describe("a store whose statements fail", () => {
  it.each([
    ["once", [0], null],
    ["often, within a moment", [0, 1, 2, 3, 4], null],
    ["twice", [0, 60 * secondMs], null],
    ["three times, over some seconds", [0, secondMs, 5 * secondMs], "failing"],
    ["every minute", [0, minuteMs, 2 * minuteMs], "failing"],
    ["every three minutes", [0, 3 * minuteMs, 6 * minuteMs], null],
  ])("%s", async (_when, atMs, kind) => {
    const clock = createVirtualClock({ startMs: 0 });
    const health = new SqliteHealth({ path, clock });
    health.opened();

    let nowMs = 0;
    for (const failedAtMs of atMs) {
      await clock.advance(failedAtMs - nowMs);
      nowMs = failedAtMs;
      health.note(full);
    }

    expect(health.look()?.kind ?? null).toBe(kind);
  });

  it("is well again when none has failed for two minutes", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const health = new SqliteHealth({ path, clock });
    for (let second = 0; second < 10; second++) {
      health.note(full);
      await clock.advance(secondMs);
    }
    expect(health.look()).toEqual({
      kind: "failing",
      place: path,
      message: "the store cannot be used: the disk is full",
    });

    await clock.advance(2 * minuteMs);

    expect(health.look()).toBeNull();
  });

  it("is well again when something is committed", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const health = new SqliteHealth({ path, clock });
    for (let second = 0; second < 10; second++) {
      health.note(full);
      await clock.advance(secondMs);
    }
    expect(health.look()?.kind).toBe("failing");

    health.noteCommit();

    expect(health.look()).toBeNull();
  });

  it("is damaged when SQLite says so, whatever is committed", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const health = new SqliteHealth({ path, clock });
    for (let second = 0; second < 10; second++) {
      health.note(corrupt);
      await clock.advance(secondMs);
    }
    health.noteCommit();

    expect(health.look()).toMatchObject({ kind: "damaged" });
  });
});

describe("a store whose files change", () => {
  it("is damaged when it was cut off, also after SQLite has deleted its log", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-health-"));
    const file = join(folder, "flatline.db");
    const database = new DatabaseSync(file);
    database.exec("pragma journal_mode = wal; create table kept (id integer); insert into kept values (1)");
    database.exec("pragma wal_checkpoint(truncate); insert into kept values (2)");
    const health = new SqliteHealth({ path: file, clock: createVirtualClock({ startMs: 0 }) });
    health.opened();

    await truncate(file, 0);
    const other = new DatabaseSync(file);
    other.prepare("select count(*) from sqlite_schema").get();
    expect(existsSync(`${file}-wal`)).toBe(false);

    expect(health.look()?.kind).toBe("damaged");
    other.close();
    database.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    ["overwritten", (log: string) => writeFile(log, Buffer.alloc(40_000, 0x20))],
    ["overwritten at its beginning", (log: string) => overwrite(log, 8)],
    ["cut off", (log: string) => truncate(log, 0)],
    ["cut off at its end", (log: string) => truncate(log, 5_000)],
  ])("is damaged when its log was %s", async (_how, harm) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-health-"));
    const file = join(folder.path, "flatline.db");
    const database = new DatabaseSync(file);
    database.exec(`pragma journal_mode = wal; pragma application_id = ${applicationId}; create table kept (text text)`);
    const health = new SqliteHealth({ path: file, clock: createVirtualClock({ startMs: 0 }) });
    health.opened();
    expect(health.look()).toBeNull();
    database.exec("pragma wal_checkpoint(truncate)");
    expect(health.look()).toBeNull();
    database.exec("insert into kept values (randomblob(20000))");
    expect(health.look()).toBeNull();

    await harm(`${file}-wal`);

    expect(health.look()?.message).toContain("its write-ahead log was overwritten or truncated");
    // At any time: this connection cannot be asked for the log's pages.
    database.exec("begin immediate");
    expect(health.look()?.message).toContain("its write-ahead log was overwritten or truncated");
    database.close();
  });

  it("is well amid a checkpoint that lets its file grow, however many looks that takes, and damaged when it stays so", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flatline-health-"));
    const file = join(folder, "flatline.db");
    const database = new DatabaseSync(file);
    database.exec(`pragma journal_mode = wal; pragma application_id = ${applicationId}; create table kept (text text)`);
    database.exec("pragma wal_checkpoint(truncate)");
    const before = await readFile(file);
    const rows = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)";
    database.exec(`insert into kept ${rows} select hex(randomblob(500)) from n; pragma wal_checkpoint(truncate)`);
    const after = await readFile(file);
    database.close();
    const health = new SqliteHealth({ path: file, clock: createVirtualClock({ startMs: 0 }) });
    health.opened();
    expect(health.look()).toBeNull();

    // As SQLite does it: page by page, the first one, which says how many there are, before those that are new.
    await writeFile(file, before);
    const writing = await open(file, "r+");
    for (let at = 0; at < 5 * pageBytes; at += pageBytes) {
      await writing.write(after.subarray(at, at + pageBytes), 0, pageBytes, at);
      await utimes(file, at, at);
      expect(health.look()).toBeNull();
    }
    await writing.close();

    expect(health.look()?.kind).toBe("damaged");
    await writeFile(file, after);
    expect(health.look()).toBeNull();
    await rm(folder, { recursive: true });
  });
});

const pageBytes = 4_096;

async function overwrite(path: string, bytes: number): Promise<void> {
  const file = await open(path, "r+");
  await file.write(Buffer.alloc(bytes, 0x20), 0, bytes, 0);
  await file.close();
}
