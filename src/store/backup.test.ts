import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../base/time.ts";
import { death } from "../../test/support/store/event-store.ts";
import { backupStore } from "./backup.ts";
import { currentVersion } from "./engine/migrations/migrations.ts";
import { openStore } from "./open.ts";

let folder: string;
let path: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-backup-"));
  path = join(folder, "flatline.db");
  target = join(folder, "copy.db");
});
afterEach(() => rm(folder, { recursive: true }));

const open = (file = path) => openStore({ path: file, clock: createSystemClock() });
const backup = () => backupStore({ path, target });
/** The files that are not the store's. */
const others = async () => (await readdir(folder)).filter((name) => !name.startsWith("flatline.db")).toSorted();

describe("a backup", () => {
  it("is the whole store, of its owner alone", async () => {
    const store = await open();
    await store.meta.getOrSet("name", "value");
    await store.events.add([death(1, "acme")]);

    const outcome = await backup();
    await store.close();

    const { size, mode } = await stat(target);
    expect(outcome).toEqual({ bytes: size, schemaVersion: currentVersion });
    expect(mode & 0o777).toBe(0o600);
    expect(await others()).toEqual(["copy.db"]);
    const copy = await open(target);
    expect(await copy.meta.get("name")).toBe("value");
    expect(await copy.events.slugs()).toEqual(["acme"]);
    await copy.close();
  });

  it("is of one moment while another connection writes, which never waits", async () => {
    await (await open()).close();
    const writer = new DatabaseSync(path, { timeout: 0 });
    writer.exec("create table ledger (side text, amount integer, filling blob)");
    const insert = writer.prepare("insert into ledger values (?, ?, zeroblob(4000))");
    const write = (amount: number): void => {
      // Both sides in one transaction: a copy that has one of them only is of no moment.
      writer.exec("begin immediate");
      insert.run("left", amount);
      insert.run("right", -amount);
      writer.exec("commit");
    };
    writer.exec("begin");
    for (let row = 0; row < 4_000; row++) insert.run("left", 0);
    writer.exec("commit");
    const state = { isDone: false };

    const copying = backup().finally(() => {
      state.isDone = true;
    });
    let written = 0;
    // With a timeout of 0 a writer that would have to wait throws.
    while (!state.isDone) {
      write(++written);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copying;
    writer.close();

    const copy = new DatabaseSync(target);
    const row = copy.prepare("select sum(amount) as sum, count(*) - 4000 as rows from ledger").get();
    copy.close();
    expect(written).toBeGreaterThan(0);
    expect(row?.["sum"]).toBe(0);
    expect(Number(row?.["rows"])).toBeLessThanOrEqual(2 * written);
  });

  it("keeps a file that is there", async () => {
    const name = "copy.db";
    await (await open()).close();
    await writeFile(join(folder, name), "precious");

    await expect(backup()).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("exists already") });

    expect(await readFile(join(folder, name), "utf8")).toBe("precious");
    expect(await others()).toEqual([name]);
  });

  it.each([
    { rule: "no store", code: "no_input", prepare: () => Promise.resolve() },
    {
      rule: "another program's database",
      code: "store_unusable",
      prepare: async () => {
        const database = new DatabaseSync(path);
        database.exec("create table theirs (x)");
        database.close();
        await chmod(path, 0o600);
      },
    },
    { rule: "no database at all", code: "store_unusable", prepare: () => writeFile(path, "x".repeat(8_192)) },
    {
      rule: "a damaged store",
      code: "store_unusable",
      prepare: async () => {
        const store = await open();
        for (let index = 0; index < 40; index++) await store.meta.getOrSet(`name-${index}`, "value".repeat(2_000));
        await store.close();
        const bytes = await readFile(path);
        bytes.fill(0xa5, 8_192 * 12, 8_192 * 14);
        await writeFile(path, bytes);
      },
    },
  ])("of $rule leaves nothing behind: $code", async ({ code, prepare }) => {
    await prepare();

    await expect(backup()).rejects.toMatchObject({ code });

    expect(await others()).toEqual([]);
  });

  it("into a folder that does not exist says so", async () => {
    await (await open()).close();

    await expect(backupStore({ path, target: join(folder, "none", "x.db") })).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringContaining(`there is no folder ${join(folder, "none")}`),
    });
  });
});
