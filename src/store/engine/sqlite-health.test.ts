import { mkdtempDisposable, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { FlatlineError } from "../../base/errors.ts";
import { SqliteHealth } from "./sqlite-health.ts";

const unusable = (errcode: number): FlatlineError =>
  new FlatlineError("store_unusable", "no", { cause: Object.assign(new Error("no"), { errcode }) });
const full = unusable(13);
// An extended code: SQLITE_CORRUPT_VTAB.
const corrupt = unusable(267);

describe("a store whose statements fail", () => {
  const writes = async (): Promise<void> => undefined;
  const fails = (): Promise<void> => Promise.reject(new Error("no"));
  it.each([
    ["well when two failed", [full, full], fails, null],
    ["failing when three failed, until something can be written", [full, full, full], fails, "failing"],
    ["well again when something can be written", [full, full, full], writes, null],
    ["damaged when SQLite says so, whatever can be written", [corrupt, corrupt, corrupt], writes, "damaged"],
  ])("is %s", async (_how, happened, write, kind) => {
    // A file that is not there was not there when it was opened, either: only statements say something.
    const health = new SqliteHealth("/nowhere/flatline.db");

    for (const one of happened) health.note(one);

    expect((await health.look(write))?.kind ?? null).toBe(kind);
    expect(health.failures).toBe(happened.length);
  });
});

describe("a store whose files change", () => {
  const half = async (path: string): Promise<void> => truncate(path, Math.floor((await stat(path)).size / 2));
  const halfOfLog = (path: string): Promise<void> => half(`${path}-wal`);
  const halfAndWritten = (path: string, write: () => void): Promise<void> => halfOfLog(path).then(write);
  const cutLog = "its write-ahead log was overwritten or truncated";
  const replace = async (path: string): Promise<void> => {
    await rm(path);
    await writeFile(`${path}-other`, "");
    await writeFile(path, "another");
  };
  it.each<[string, (path: string, write: () => void) => Promise<void>, string, string]>([
    ["damaged when it was cut in half", half, "damaged", "its file was overwritten or truncated"],
    ["damaged when its log was cut in half", halfOfLog, "damaged", cutLog],
    ["damaged when its log was cut in half, and written to since", halfAndWritten, "damaged", cutLog],
    ["damaged when its log was cut off", (path) => truncate(`${path}-wal`), "damaged", cutLog],
    ["lost when it was deleted", (path) => rm(path), "deleted", "the store was deleted"],
    ["lost when its log was deleted", (path) => rm(`${path}-wal`), "deleted", "the write-ahead log of the store"],
    ["lost when it was replaced", replace, "replaced", "the store was replaced by another file"],
    ["open to others when its lock was deleted", (path) => rm(`${path}-owner`), "deleted", "the lock of the store was"],
  ])("is %s", async (_how, harm, kind, message) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "flatline-health-"));
    const path = join(folder.path, "flatline.db");
    await writeFile(`${path}-owner`, "");
    using database = new DatabaseSync(path);
    database.exec("pragma journal_mode = wal; create table kept (text text)");
    database.exec("insert into kept values (randomblob(20000)); pragma wal_checkpoint(truncate)");
    const health = new SqliteHealth(path);
    const look = (): Promise<unknown> => health.look(async () => undefined);
    expect(await look()).toBeNull();
    database.exec("insert into kept values (randomblob(20000))");
    expect(await look()).toBeNull();
    // The look works while this connection cannot be asked for the pages of the log.
    database.exec("begin immediate");

    await harm(path, () => database.exec("insert into kept values (1); commit; begin immediate"));

    expect(await look()).toMatchObject({ kind, place: path, message: expect.stringContaining(message) });
    expect(await look()).toMatchObject({ kind });
  });
});
