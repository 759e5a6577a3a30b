import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import {
  countsOf,
  createEventWorld,
  createWorldOn,
  death,
  toNdjson,
  type EventWorld,
} from "../../test/support/store/event-store.ts";
import { storeEngines } from "../../test/support/store/engines.ts";
import { isLong } from "../../test/support/tier.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "../base/errors.ts";
import { createSilentLogger } from "../base/logger.ts";
import { createSystemClock, secondMs } from "../base/time.ts";
import { actor } from "../contract/actor.ts";
import type { Ground } from "./ground.ts";
import { openIngest, type Ingest } from "./ingest.ts";

const startMs = Date.UTC(2026, 0, 15, 9);
const at = new Date(startMs).toISOString();
const author = { actor: actor("shipper", "token"), organizations: null };

async function total({ store }: EventWorld, slug: string): Promise<number> {
  const counts = await countsOf(store, { slug, baselineStartMs: -1, windowStartMs: 0, endMs: 9e14 });
  return counts.reduce((sum, { currentCount, baselineCount }) => sum + currentCount + baselineCount, 0);
}

function bodyOf(value: unknown): Buffer {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}

interface Noted {
  readonly ingested: Record<string, number>;
  readonly refusals: Record<string, number>;
}

async function open({ store }: EventWorld, given: Partial<Ground> = {}): Promise<Ingest & Noted> {
  const noted: Noted = { ingested: {}, refusals: {} };
  const add = (counts: Record<string, number>) => (name: string, count: number) =>
    void (counts[name] = (counts[name] ?? 0) + count);
  const metrics = { eventsIngested: add(noted.ingested), eventsRefused: add(noted.refusals) };
  const ground = { store, clock: createSystemClock(), logger: createSilentLogger(), metrics, bus: new EventEmitter() };
  return {
    ...(await openIngest({ ...ground, ...given } as unknown as Ground)),
    ...noted,
  };
}

describe("what never reaches the store", () => {
  it("is what posts nothing, and what is neither NDJSON nor a JSON array", async () => {
    await using world = await createEventWorld();
    const own = await open(world);
    const post = (content: string) => own.ingest(bodyOf(content), author);

    for (const content of ["[]", "", "\n \n"])
      expect(await post(content)).toMatchObject({ received: 0, stored: 0, duplicates: 0 });
    for (const content of ["at,slug\n1,acme\n", "events"])
      await expect(post(content)).rejects.toMatchObject({
        code: "invalid_data",
        message: expect.stringContaining("neither NDJSON nor a JSON array"),
      });
    await expect(post('[{"at":1,"slug":"a"}')).rejects.toThrow("nothing was stored: 1 bad event");
  });
});

describe.each(storeEngines)("on $engine,", (place) => {
  describe("a post of events", () => {
    it.each([
      [
        "a JSON array",
        [
          { at, slug: "acme", count: 3 },
          { at, slug: "acme", id: "1", status: "DETECTED_AS_ALIVE" },
        ],
      ],
      [
        "NDJSON",
        `{"at":${startMs},"slug":"acme","count":3}\n{"at":"${at}","slug":"acme","id":"1","status":"DETECTED_AS_ALIVE"}`,
      ],
    ])("takes %s, and counts at once", async (_, content) => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);

      const outcome = await ingest.ingest(bodyOf(content), author);

      expect(outcome).toEqual({ received: 2, stored: 2, duplicates: 0, conflicts: 0, otherStatuses: {} });
      expect(ingest.ingested).toEqual({ DETECTED_AS_DEAD: 1, DETECTED_AS_ALIVE: 1, other: 0 });
      expect(await total(world, "acme")).toBe(3);
    });

    it("stores an id once a slug: within a post, over posts and beside an import", async () => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);
      await world.import([await world.write("1.ndjson", toNdjson([death(startMs, "acme", { id: "imported" })]))]);
      const post = [
        { at, slug: "acme", id: "imported" },
        { at, slug: "acme", id: "a" },
        { at, slug: "acme", id: "a" },
        { at, slug: "globex", id: "a" },
      ];

      expect(await ingest.ingest(bodyOf(post), author)).toMatchObject({ received: 4, stored: 2, duplicates: 2 });
      expect(await ingest.ingest(bodyOf(post), author)).toMatchObject({ received: 4, stored: 0, duplicates: 4 });
      expect([await total(world, "acme"), await total(world, "globex")]).toEqual([2, 1]);
    });

    it("knows events without an id by what they say", async () => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);
      const named = { at, slug: "acme", assetType: "URL", asset: "x" };
      const counted = { at, slug: "acme", count: 2 };

      expect(await ingest.ingest(bodyOf([named, { ...named, count: 5 }, counted, counted]), author)).toMatchObject({
        stored: 3,
        duplicates: 1,
      });
      const others = [
        { ...named, assetType: "PAGE" },
        { ...named, status: "DETECTED_AS_ALIVE" },
        { ...named, slug: "globex" },
        { ...counted, attributes: { a: "b" } },
      ];
      expect(await ingest.ingest(bodyOf([counted, ...others, named, counted, counted]), author)).toMatchObject({
        stored: 5,
        duplicates: 3,
        conflicts: 0,
      });
      expect(await total(world, "acme")).toBe(1 + 1 + 4 * 2);
    });

    it("says which of its ids are stored with other content, and which statuses count for nothing", async () => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);
      const event = { at, slug: "acme", asset: "x", attributes: { a: "b" } };
      await ingest.ingest(bodyOf(["1", "2", "3", "4", "5"].map((id) => ({ ...event, id }))), author);
      const post = [
        { ...event, id: "1" },
        { ...event, id: "2", asset: "y" },
        { ...event, id: "3", attributes: {} },
        { ...event, id: "4", at: "2026-01-15T09:00:01.001Z" },
        { ...event, id: "5", status: "offline" },
        { ...event, id: "6", status: "offline" },
        { ...event, id: "6", count: 2 },
      ];

      expect(await ingest.ingest(bodyOf(post), author)).toMatchObject({
        received: 7,
        stored: 1,
        duplicates: 1,
        conflicts: 5,
        otherStatuses: { offline: 2 },
      });
    });

    it("is checked to its end before anything is stored, and every bad event is named", async () => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);
      const good = { at, slug: "acme" };

      await expect(ingest.ingest(bodyOf([good, { at }, good, 5]), author)).rejects.toMatchObject({
        code: "invalid_data",
        httpStatus: 400,
        issues: ["event 2: slug is missing", "event 4: is not a JSON object"],
      });
      expect(ingest.refusals).toMatchObject({ invalid: 2 });
      expect(ingest.refused()).toMatchObject({ posts: 1, example: "event 2: slug is missing" });
      const inSeconds = Array.from({ length: 12 }, () => ({ ...good, at: startMs / 1_000 }));
      await expect(ingest.ingest(bodyOf(inSeconds), author)).rejects.toMatchObject({
        issues: { length: 10, 0: expect.stringMatching(/^event 1: at 1768467600 is 1970-.*: seconds in place of/) },
      });
      expect(ingest.refusals["seconds"]).toBeGreaterThan(0);
      await expect(
        ingest.ingest(bodyOf([good, { at, slug: "other" }]), { ...author, organizations: ["ac*"] }),
      ).rejects.toMatchObject({ code: "forbidden" });
      expect(await world.store.events.isEmpty()).toBe(true);
    });

    it("leaves the event loop free, however many events it has", { timeout: 300_000 }, async () => {
      await using world = await createWorldOn(place);
      const ingest = await open(world);
      const rows = isLong ? 100_000 : 12_000;
      const events = Array.from({ length: rows }, (_, index) => death(startMs + index, `org-${index % 100}`));
      const state = { isDone: false };
      const posting = ingest.ingest(bodyOf(toNdjson(events)), author).finally(() => (state.isDone = true));
      let reads = 0;
      for (; !state.isDone; reads++) {
        await world.store.events.firstEventAtMs("org-1");
        await turn();
      }

      expect(await posting).toMatchObject({ received: rows, stored: rows });
      expect(reads).toBeGreaterThan(3);
      expect(await total(world, "org-1")).toBe(rows / 100);
    });
  });

  it("says in the log that the store cannot take events, once a minute", async () => {
    await using world = await createWorldOn(place);
    const logged: string[] = [];
    const logger = { ...createSilentLogger(), error: (_: object, message: string) => void logged.push(message) };
    const events = { ...world.store.events, add: () => Promise.reject(new FlatlineError("store_unusable", "full")) };
    const ingest = await open({ ...world, store: { ...world.store, events } }, { logger });

    for (let post = 0; post < 2; post++)
      await expect(ingest.ingest(bodyOf([{ at, slug: "acme" }]), author)).rejects.toMatchObject({ message: "full" });

    expect(logged).toEqual(["events could not be stored"]);
  });

  it("a stop gives up what is under way, which the same body completes", async () => {
    await using world = await createWorldOn(place);
    const ingest = await open(world);
    const text = toNdjson(Array.from({ length: 20_000 }, (_, index) => death(startMs + index, "acme")));
    const posting = ingest.ingest(bodyOf(text), author).catch((error: unknown) => error);

    await turn();
    await ingest.close();

    expect(await posting).toMatchObject({ code: "unavailable" });
    await expect(ingest.ingest(bodyOf([]), author)).rejects.toMatchObject({ code: "unavailable" });
    expect(await (await open(world)).ingest(bodyOf(text), author)).toMatchObject({ received: 20_000, conflicts: 0 });
    expect(await total(world, "acme")).toBe(20_000);
  });

  it("an import runs while rows come, is known after a restart, and ends with an audit row", async () => {
    await using world = await createWorldOn(place);
    const clock = createVirtualClock({ startMs });
    const first = await open(world, { clock });
    const plan = { name: "events.csv", slugs: ["acme", "globex"], rows: 3 };
    const id = await first.begin(plan, author);
    const rows = `{"at":1,"slug":"acme","number":0}\n{"at":1,"slug":"acme","number":1}\n`;

    expect(await first.addBody(id, bodyOf(rows), author)).toMatchObject({ received: 2, stored: 2 });
    expect([first.isImporting("acme"), first.isImporting("initech")]).toEqual([true, false]);
    const second = await open(world, { clock });
    expect(second.isImporting("globex")).toBe(true);
    await clock.advance(30 * secondMs);
    expect(second.isImporting("globex")).toBe(false);
    expect(second.imports()).toMatchObject([{ name: "events.csv", rows: 3, received: 2, isRunning: false }]);

    const again = await second.begin(plan, author);
    expect(second.imports()).toMatchObject([{ id: again, received: 0, isRunning: true }]);
    await expect(second.addBody(id, bodyOf(rows), author)).rejects.toMatchObject({ code: "not_found" });
    expect(await second.addBody(again, bodyOf(rows), author)).toMatchObject({ stored: 0, duplicates: 2 });
    await second.end(again, author);

    expect([second.imports(), await world.store.imports.list()]).toEqual([[], []]);
    const entries = await world.store.audit.list({ limit: 9 });
    expect(entries).toMatchObject([
      { action: "import.events", subject: "events.csv", detail: { received: 2, stored: 0, duplicates: 2, slugs: 2 } },
    ]);
  });
});
