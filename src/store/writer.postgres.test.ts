import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createDatabase, type TestDatabase } from "../../test/support/postgres/postgres.ts";
import { createSystemClock } from "../base/time.ts";
import { openStore } from "./open.ts";
import type { Store } from "./store.ts";
import { holderName } from "./writer.ts";

const clock = createSystemClock();

let database: TestDatabase;
let stores: Store[];

beforeEach(async () => {
  database = await createDatabase();
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.drop();
});

async function open(): Promise<Store> {
  const store = await openStore({ url: database.url, poolSize: 4, clock });
  stores.push(store);
  return store;
}

async function ask(text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: database.url.reveal() });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
}

/** Makes the lease of this epoch expire, although its writer renews it. */
const expire = (epoch: number): Promise<unknown> => ask(`update writer set expires_at_ms = 0 where epoch = ${epoch}`);
const names = (): Promise<unknown> => ask("select name from meta order by name");
const put = (store: Store, name: string): Promise<string> => store.meta.getOrSet(name, "value");

describe("the writer of a PostgreSQL", () => {
  it("is one: others read beside it, and are told who it is", async () => {
    const [one, two] = [await open(), await open()];
    const writer = await one.takeWriter();
    await put(one, "first");

    await expect(two.takeWriter({ withinMs: 0 })).rejects.toMatchObject({
      code: "store_busy",
      message: expect.stringMatching(`^${holderName()} writes to the store 127.0.0.1:`),
    });
    await expect(put(two, "second")).rejects.toMatchObject({ code: "store_unusable" });
    await expect(two.transaction((parts) => parts.meta.getOrSet("third", "value"))).rejects.toMatchObject({
      code: "store_unusable",
    });
    expect(await two.transaction((parts) => parts.meta.get("first"))).toBe("value");
    expect(writer.isSure()).toBe(true);
    expect(await names()).toEqual(["first"]);
  });

  it("is the next one as soon as it ends", async () => {
    const [one, two] = [await open(), await open()];
    const { epoch } = await one.takeWriter();
    let told = "";
    const taking = two.takeWriter({ withinMs: Infinity, onWait: (holder) => (told = holder) });
    await expect.poll(() => told).toBe(holderName());

    await one.close();

    expect(await taking).toMatchObject({ epoch: epoch + 1 });
    await put(two, "second");
    expect(await names()).toEqual(["second"]);
  });

  it("keeps its row while it lives, and stops a wait that is given up", async () => {
    const [one, two] = [await open(), await open()];
    const writer = await one.takeWriter();
    const [expiresAtMs] = await ask("select expires_at_ms from writer");
    const giveUp = new AbortController();
    const taking = two.takeWriter({ withinMs: Infinity, signal: giveUp.signal, onWait: () => giveUp.abort() });

    await expect(taking).rejects.toMatchObject({ code: "unavailable" });
    await writer.renew();

    expect(Number((await ask("select expires_at_ms from writer"))[0])).toBeGreaterThan(Number(expiresAtMs));
    expect(writer.lost.aborted).toBe(false);
  });

  it("writes nothing any more once another one has taken over, whatever it had begun", async () => {
    const [one, two] = [await open(), await open()];
    const late = await one.takeWriter();
    const { promise: holding, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: writing, resolve: hasBegun } = Promise.withResolvers<void>();
    const begun = one.transaction(async (parts) => {
      await parts.meta.getOrSet("begun before", "value");
      hasBegun();
      await holding;
    });
    await writing;
    const taking = two.takeWriter();
    const isWaiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(() => expire(late.epoch).then(() => ask(isWaiting))).toEqual([1]);
    expect(await ask("select epoch::int from writer"), "it waits for what has begun").toEqual([late.epoch]);
    letGo();
    await begun;
    await expect
      .poll(() => expire(late.epoch).then(() => ask("select epoch::int from writer")))
      .toEqual([late.epoch + 1]);
    await taking;
    await put(two, "second");

    await expect(put(one, "alone")).rejects.toMatchObject({ code: "store_taken" });
    await expect(one.transaction((parts) => parts.meta.getOrSet("together", "value"))).rejects.toMatchObject({
      code: "store_taken",
    });
    await expect(late.renew()).rejects.toMatchObject({ code: "store_taken", exitCode: 75 });
    expect(late.lost.aborted).toBe(true);
    expect(late.isSure()).toBe(false);
    expect(await names()).toEqual(["begun before", "second"]);
  });
});
