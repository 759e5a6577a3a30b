import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../../../base/time.ts";
import { openStore } from "../../open.ts";
import type { Store } from "../../store.ts";

let folder = "";
let path = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-migrations-"));
  path = join(folder, "flatline.db");
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function open(): Promise<Store> {
  return openStore({ path, clock: createSystemClock() });
}

function inFile<Result>(work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const value = (text: string): unknown => inFile((database) => Object.values(database.prepare(text).get() ?? {})[0]);

describe("a store of another version", () => {
  it("has nothing of a migration that broke", async () => {
    await writeFile(path, "");
    // Ours by its mark, but the first migration will find a table taken.
    inFile((database) => database.exec("pragma application_id = 1718378868; create table organizations (x)"));

    await expect(open()).rejects.toThrow(/organizations already exists/);

    expect(value("select count(*) from sqlite_schema where type = 'table'")).toBe(1);
  });

  it("is refused when a later page is damaged, at the latest when that is read", async () => {
    const store = await open();
    const slugs = Array.from({ length: 2_000 }, (_, index) => `org-${index}`);
    await store.runs.addChecks(slugs.map((slug) => ({ check: "dead-asset-spike", slug })));
    await store.close();
    const bytes = await readFile(path);
    // All but the first two pages: the header is whole.
    bytes.fill(0xa5, 8_192);
    await writeFile(path, bytes);

    async function readDamaged(): Promise<void> {
      const damaged = await open();
      await damaged.runs.load().finally(() => void damaged.close());
    }

    await expect(readDamaged()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/is damaged; restore it from a backup/),
    });
  });
});
