import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../base/time.ts";
import { currentVersion } from "./engine/migrations/migrations.ts";
import { openStore } from "./open.ts";
import type { Store } from "./store.ts";

const clock = createSystemClock();
const opened: Store[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-open-"));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(folder, { recursive: true });
});

async function open(path = join(folder, "flatline.db")): Promise<Store> {
  const store = await openStore({ path, clock });
  opened.push(store);
  return store;
}

/** Changes the file as another program would. */
function change(statements: string, path = join(folder, "flatline.db")): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("opening the store", () => {
  it.skipIf(process.platform !== "linux")("ends where no folder can be made, with an error that says so", async () => {
    // Linux only: /proc is where nobody, not even root, makes folders.
    await expect(open("/proc/nowhere/flatline.db")).rejects.toMatchObject({ code: "store_unusable" });
  });

  it("makes the folder and the files, for the owner alone", async () => {
    const path = join(folder, "a", "b", "flatline.db");

    await (await open(path)).silences.prune(0);

    expect(await modeOf(join(folder, "a", "b"))).toBe("700");
    for (const suffix of ["", "-wal", "-shm"]) expect(await modeOf(`${path}${suffix}`)).toBe("600");
  });

  it("lets many open a new file at once", async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => open()));

    const secrets = await Promise.all(stores.map((store, index) => store.meta.getOrSet("secret", `${index}`)));
    expect(new Set(secrets).size).toBe(1);
  });

  it("refuses a newer database, names both versions and the file, and changes nothing", async () => {
    await (await openStore({ path: join(folder, "flatline.db"), clock })).close();
    change(`insert into schema_version (version, name) values (${currentVersion + 3}, 'later')`);
    const before = await readFile(join(folder, "flatline.db"));

    const message = new RegExp(`${folder}/flatline\\.db .* version ${currentVersion + 3}, .* up to ${currentVersion}:`);
    await expect(open()).rejects.toMatchObject({ code: "store_newer", message: expect.stringMatching(message) });

    expect(await readFile(join(folder, "flatline.db"))).toEqual(before);
  });

  it("refuses the database of another program, and changes nothing", async () => {
    change("create table schema_version (version integer); insert into schema_version values (7)");
    const before = await readFile(join(folder, "flatline.db"));

    await expect(open()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringContaining("another program"),
    });

    expect(await readFile(join(folder, "flatline.db"))).toEqual(before);
  });

  it.each<[string, string, RegExp]>([
    ["a text", "text", /text cannot be used: it is not an SQLite database/],
    ["a folder", ".", /it is a folder; storage\.path must name a file/],
    ["below a file", "text/flatline.db", /it cannot be made: E(NOTDIR|EXIST)/],
  ])("refuses what is %s", async (_rule, name, message) => {
    await writeFile(join(folder, "text"), "organizations: [acme]\n".repeat(100));

    await expect(open(join(folder, name))).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(message),
    });
  });

  it("refuses what is in memory", async () => {
    await expect(open(":memory:")).rejects.toThrow(/storage\.path must name a file/);
  });

  it("leaves nothing of a migration that broke", async () => {
    await writeFile(join(folder, "flatline.db"), "");
    // Ours by its mark, but the first migration will find a table taken.
    change("pragma application_id = 1718378868; create table organizations (x)");

    await expect(open()).rejects.toThrow(/organizations already exists/);

    using database = new DatabaseSync(join(folder, "flatline.db"));
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    expect(tables).toMatchObject([{ name: "organizations" }]);
  });

  it("refuses what is damaged on a later page, at the latest when that is read", async () => {
    const path = join(folder, "flatline.db");
    const store = await openStore({ path, clock });
    const slugs = Array.from({ length: 2_000 }, (_, index) => `org-${index}`);
    await store.runs.addChecks(slugs.map((slug) => ({ check: "dead-asset-spike", slug })));
    await store.close();
    const bytes = await readFile(path);
    // All but the first two pages: the header is whole.
    bytes.fill(0xa5, 8_192);
    await writeFile(path, bytes);

    await expect(open().then((damaged) => damaged.runs.load())).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/is damaged; restore it from a backup/),
    });
  });

  it("takes an empty file", async () => {
    await writeFile(join(folder, "flatline.db"), "");

    expect(await (await open()).meta.get("secret")).toBeNull();
  });
});

describe("a transaction", () => {
  it("waits for another process without holding the event loop", async () => {
    const store = await open();
    const other = new DatabaseSync(join(folder, "flatline.db"));
    other.exec("begin immediate");
    const work = store.meta.getOrSet("secret", "one");
    let turns = 0;
    let isDone = false;
    void work.finally(() => (isDone = true));
    while (turns < 20) {
      await clock.sleep(1);
      turns++;
    }
    expect(isDone).toBe(false);

    other.exec("rollback");
    expect(await work).toBe("one");
    other.close();
  });
});
