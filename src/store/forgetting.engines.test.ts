import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { describe, expect, it } from "vitest";

import { createEventWorld, createWorldOn, death } from "../../test/support/store/event-store.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { unpackSample } from "../../test/support/store/samples.ts";
import { literalPattern } from "../base/text-pattern.ts";
import { createSystemClock, hourMs, minuteMs } from "../base/time.ts";
import { eventsPathOf } from "./engine/location.ts";
import { currentVersion } from "./engine/migrations/migrations.ts";
import { openStore } from "./open.ts";
import type { Store } from "./store.ts";

const clock = createSystemClock();
const nowMs = Date.UTC(2026, 0, 15, 12);

async function forget(store: Store, slug: string, maxRows = 1_000): Promise<{ slices: number; events: number }> {
  let slices = 0;
  let events = 0;
  for (let hasMore = true; hasMore; slices++) {
    const step = await store.events.forget(slug, maxRows);
    events += step.removed;
    ({ hasMore } = step);
  }
  for (let hasMore = true; hasMore;)
    ({ hasMore } = await store.transaction(({ forgetting }) => forgetting.forget(slug, maxRows)));
  return { slices, events };
}

function readTables(path: string): Map<string, string[]> {
  return new Map([...readFile(path), ...readFile(eventsPathOf(path))]);
}

function readFile(path: string): Map<string, string[]> {
  const database = new DatabaseSync(path, { readOnly: true });
  const names = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  const asText = (row: Record<string, SQLOutputValue>): string =>
    JSON.stringify(row, (_key, value: unknown) =>
      typeof value === "bigint"
        ? String(value)
        : value instanceof Uint8Array
          ? Buffer.from(value).toString("hex")
          : value,
    );
  const tables = new Map(
    names.map((name) => [name, database.prepare(`select * from "${name}"`).all().map(asText).toSorted()] as const),
  );
  database.close();
  return tables;
}

/** Gives the checks of acme in a store the name of a healthcheck of the platform. */
function renameChecks(path: string): void {
  const database = new DatabaseSync(path);
  for (const table of ["checks", "alerts", "ended_alerts", "alert_history"])
    database.exec(
      `update ${table} set check_name = 'reviewing-backlog' where slug = 'acme' and check_name = 'dead-asset-spike'`,
    );
  database.exec(
    "update outbox_alerts set alert_id = replace(alert_id, 'dead-asset-spike/acme', 'reviewing-backlog/acme')",
  );
  database.close();
}

describe("forgetting an organization", () => {
  it.each([
    ["", () => undefined],
    [", with the healthchecks of its platform,", renameChecks],
  ])(
    "%s leaves nothing of it in any table but its names, its acts, what others share and what is to be delivered",
    async (_what, change) => {
      await using world = await createEventWorld();
      const path = join(world.folder, "sample.db");
      await unpackSample(currentVersion, path);
      change(path);
      const store = await openStore({ path, clock });
      const before = readTables(path);

      await forget(store, "acme", 3);
      await store.close();

      const after = readTables(path);
      const shared = new Set(["audit", "checks", "event_slugs", "event_changes", "outbox", "outbox_alerts"]);
      const mentions = [...after].filter(
        ([name, rows]) => !shared.has(name) && rows.some((row) => row.includes("acme")),
      );
      // Letters to several organizations, and assets, which belong to none.
      expect(mentions.map(([name]) => name).filter((name) => name !== "deliveries" && name !== "assets")).toEqual([]);
      for (const table of [
        "alerts",
        "ended_alerts",
        "alert_history",
        "events",
        "event_minutes",
        "event_hours",
        "hours",
        "reports",
        "proposals",
        "scans",
      ])
        expect([table, (after.get(table) ?? []).length < (before.get(table) ?? []).length]).toEqual([table, true]);
      for (const [name, rows] of before) {
        const globex = rows.filter((row) => row.includes("globex") && !row.includes("acme"));
        expect([name, globex.filter((row) => after.get(name)?.includes(row) !== true)]).toEqual([name, []]);
      }
    },
  );
});

describe.each(storeEngines)("on $engine, forgetting an organization", (engine) => {
  it("takes its events out of every count, in slices, and no other's", async () => {
    await using world = await createWorldOn(engine);
    const { store } = world;
    const events = ["acme", "globex"].flatMap((slug) =>
      Array.from({ length: 25 }, (_, index) => death(nowMs - index * minuteMs, slug, { id: `${index}`, asset: "a" })),
    );
    await store.events.add(events);
    const asked = [{ slug: "acme", intervals: [{ afterMs: nowMs - hourMs, untilMs: nowMs }] }];
    // In memory from the second question on.
    for (let index = 0; index < 3; index++) await store.events.deaths(asked);
    await store.events.sums?.loaded();
    const silence = {
      slug: "acme",
      check: null,
      startsAtMs: 0,
      endsAtMs: nowMs,
      comment: "",
      createdBy: null,
      note: null,
    };
    await store.silences.add({ ...silence, id: "one", createdAtMs: 0 });

    const { slices, events: removed } = await forget(store, "acme", 10);

    expect({ slices: slices > 2, removed }).toEqual({ slices: true, removed: 25 });
    expect(await store.events.slugs()).toEqual(["globex"]);
    expect(await store.events.firstEvents(["acme"])).toEqual(new Map());
    expect(await store.events.deaths(asked)).toEqual([[]]);
    expect(await store.silences.endingAfter(0)).toEqual([]);
    expect(
      (await store.events.deaths([{ ...asked[0], slug: "globex", intervals: asked[0]?.intervals ?? [] }]))[0],
    ).toHaveLength(1);
    // A pattern that reads as the name of one is of others too.
    for (const slug of ["eu-*", literalPattern("eu-*")])
      await store.silences.add({ ...silence, slug, id: slug, createdAtMs: 0 });
    await forget(store, "eu-*");
    expect((await store.silences.endingAfter(0)).map(({ slug }) => slug)).toEqual(["eu-*"]);
    // What was forgotten may come again, under the same ids.
    expect(await store.events.add([death(nowMs, "acme", { id: "0" })])).toMatchObject({ stored: 1 });
    expect((await store.events.deaths(asked))[0]?.[0]?.deaths).toEqual([1]);
  });
});
