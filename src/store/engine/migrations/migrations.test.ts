import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createSystemClock } from "../../../base/time.ts";
import { openStore } from "../../open.ts";
import type { Store } from "../../store.ts";
import { currentVersion } from "./migrations.ts";

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
  it("is brought to this one with what is in it, when it is older", async () => {
    const first = await open();
    await first.meta.getOrSet("name", "value");
    await first.close();
    // As the first two migrations leave it: without the tables of the later ones.
    inFile((database) => {
      const later =
        "alert_changes alert_told receiver_states fleets reviews scans proposals reports report_facets facet_counts " +
        "facets legitimacy_domains legitimacy_rules assets api_keys brands organizations " +
        "event_receipts event_attribute_sets event_changes markers gate_releases deliveries delivery_slugs check_reports " +
        "receiver_pauses";
      for (const table of later.split(" ")) database.exec(`drop table ${table}`);
      database.exec("alter table events drop column attribute_set_id");
      database.exec("alter table checks drop column report_values; alter table checks drop column report_shape");
      database.exec("drop index outbox_in_order; alter table outbox drop column recipient");
      database.exec("delete from schema_version where version > 2");
    });

    const store = await open();

    expect(await store.meta.get("name")).toBe("value");
    expect(await store.notices.changes()).toEqual([]);
    await store.close();
    expect(value("select max(version) from schema_version")).toBe(currentVersion);
  });

  it("has nothing of a migration that broke", async () => {
    await writeFile(path, "");
    // Ours by its mark, but the fourth migration will find its table taken.
    inFile((database) => database.exec("pragma application_id = 1718378868; create table organizations (x)"));

    await expect(open()).rejects.toThrow(/organizations already exists/);

    expect(value("select count(*) from sqlite_schema where type = 'table'")).toBe(1);
  });

  it("is refused when a later page is damaged, at the latest when that is read", async () => {
    const store = await open();
    const slugs = Array.from({ length: 2_000 }, (_, index) => `org-${index}`);
    const entry = { check: "dead-asset-spike", scheduleKey: "test", nextDueAtMs: 0 } as const;
    await store.schedule.sync(slugs.map((slug) => ({ ...entry, slug })));
    await store.close();
    const bytes = await readFile(path);
    // All but the first two pages: the header is whole.
    bytes.fill(0xa5, 8_192);
    await writeFile(path, bytes);

    async function readDamaged(): Promise<void> {
      const damaged = await open();
      await damaged.schedule.entries().finally(() => void damaged.close());
    }

    await expect(readDamaged()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(/is damaged; restore it from a backup/),
    });
  });
});
