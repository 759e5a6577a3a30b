import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";

import { createEventWorld, createWorldOn, death } from "../../test/support/store/event-store.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { literalPattern } from "../base/text-pattern.ts";
import { createSystemClock, hourMs, minuteMs } from "../base/time.ts";
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

const integers: Readonly<Record<string, number>> = { acme: 1, globex: 2 };
// Rows of all organizations, and what is still said of a forgotten one: its acts, and what changed.
const kept = `audit deliveries event_counter discovery_lists
  assets event_asset_types event_imports incidents looks outside_acts
  queued_incidents receiver_messages receiver_pauses sessions`.split(/\s+/);
// These tables have rows from the beginning.
const filled = new Set(["event_statuses", "meta", "schema_version", "writer"]);

/** A row of each organization in each table; all numbers of an organization are the same, and its alert's id. */
function fill(path: string, check: string): Map<string, string[]> {
  const rows = new Map<string, string[]>();
  const database = new DatabaseSync(path);
  database.exec("pragma foreign_keys = off");
  for (const table of tablesOf(database).filter((name) => !filled.has(name))) {
    const columns = database.prepare("select name, type from pragma_table_info(?)").all(table);
    for (const [slug, number] of Object.entries(integers)) {
      const texts: Readonly<Record<string, string>> = {
        slug,
        slugs: JSON.stringify([slug]),
        organizations: JSON.stringify([slug]),
        check_name: check,
        kind: "verdict",
        state: "dead",
        ...(table.endsWith("alerts") ? { id: `${check}/${slug}/verdict` } : {}),
        alert_id: `${check}/${slug}/verdict`,
      };
      const values = columns.map(({ name, type }) =>
        type === "TEXT"
          ? (texts[String(name)] ?? `${String(name)} ${number}`)
          : type === "BLOB"
            ? Buffer.of(number)
            : number,
      );
      database.prepare(`insert into "${table}" values (${values.map(() => "?").join()})`).run(...values);
    }
    rows.set(table, readRows(database, table));
  }
  database.close();
  return rows;
}

function readTables(path: string): Map<string, string[]> {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = tablesOf(database).map((table) => [table, readRows(database, table)] as const);
  database.close();
  return new Map(tables);
}

function tablesOf(database: DatabaseSync): string[] {
  return database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
}

function readRows(database: DatabaseSync, table: string): string[] {
  return database
    .prepare(`select * from "${table}"`)
    .all()
    .map((row) => JSON.stringify(Object.values(row)));
}

describe("forgetting an organization", () => {
  it.each(["dead-asset-spike", "reviewing-backlog"])(
    "leaves nothing of it in any table, but what is of others too, and its acts; check %s",
    async (check) => {
      await using world = await createEventWorld();
      const path = join(world.folder, "filled.db");
      await (await openStore({ path, clock })).close();
      const before = fill(path, check);
      const database = new DatabaseSync(path);
      // More than a slice takes: what it refers to has to wait.
      database.exec(`create temp table more as select * from run_hours where check_id = 1;
        update more set hour = hour + 1; insert into run_hours select * from more`);
      database.close();
      const store = await openStore({ path, clock });

      await forget(store, "acme", 1);
      await store.close();

      const after = readTables(path);
      // All at once, so that a failure names every table.
      const left = (name: string): unknown => (kept.includes(name) ? "kept" : after.get(name));
      const wanted = (name: string, [, globex]: readonly string[]): unknown =>
        kept.includes(name) ? "kept" : [globex];
      expect([...before].map(([name]) => [name, left(name)])).toEqual(
        [...before].map(([name, rows]) => [name, wanted(name, rows)]),
      );
      for (const name of kept) expect(after.get(name)).toContain(before.get(name)?.[1]);
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
    // The cache answers from the second question on.
    for (let index = 0; index < 3; index++) await store.events.deaths(asked);
    await store.events.cache?.loaded();
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
    // Forgotten events may come again, under the same ids.
    expect(await store.events.add([death(nowMs, "acme", { id: "0" })])).toMatchObject({ stored: 1 });
    expect((await store.events.deaths(asked))[0]?.[0]?.deaths).toEqual([1]);
  });

  it("takes those of a span out of every count, in slices, and none beside it", async () => {
    await using world = await createWorldOn(engine);
    const { events } = world.store;
    // Half of them have an id, and some are no deaths.
    const given = Array.from({ length: 40 }, (_, index) =>
      death(nowMs - index * 20_000, "acme", {
        id: index % 2 === 0 ? `${index}` : null,
        asset: `a${index}`,
        status: index % 5 === 0 ? "DETECTED_AS_ALIVE" : "DETECTED_AS_DEAD",
      }),
    );
    const [fromMs, toMs] = [nowMs - 30 * 20_000, nowMs - 10 * 20_000];
    const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs < toMs;
    await events.add(given);
    const asked = [
      {
        slug: "acme",
        intervals: Array.from({ length: 30 }, (_, minute) => ({
          afterMs: nowMs - (minute + 1) * minuteMs,
          untilMs: nowMs - minute * minuteMs,
        })),
      },
    ];

    let removed = 0;
    for (let hasMore = true; hasMore;) {
      const slice = await events.forgetSpan("acme", { fromMs, toMs }, 7);
      removed += slice.removed;
      ({ hasMore } = slice);
    }

    expect(removed).toBe(given.filter(isIn).length);
    const rest = given.filter((event) => !isIn(event));
    await using other = await createWorldOn(engine);
    await other.store.events.add(rest);
    expect(await events.deaths(asked)).toEqual(await other.store.events.deaths(asked));
    expect(await events.add(given)).toMatchObject({ stored: removed, duplicates: rest.length });
  });
});
