import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import {
  countsOf,
  createEventWorld,
  createWorldOn,
  death,
  openPosts,
  toNdjson,
  type EventWorld,
} from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { FlatlineError } from "../../base/errors.ts";
import { createSystemClock } from "../../base/time.ts";
import { createIngestAnswers } from "./ingest-answers.ts";
import type { EventPosts } from "./posts.ts";
import { createEventIngest, type EventIngest } from "./thread.ts";
import { isLong } from "../../../test/support/tier.ts";

const startMs = Date.UTC(2026, 0, 15, 9);
const at = new Date(startMs).toISOString();
const noKey = { idempotencyKey: null };

async function total({ store }: EventWorld, slug: string): Promise<number> {
  const counts = await countsOf(store, { slug, baselineStartMs: -1, windowStartMs: 0, endMs: 9e14 });
  return counts.reduce((sum, { currentCount, baselineCount }) => sum + currentCount + baselineCount, 0);
}

const body = (value: unknown): Buffer => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

async function withIngestIn(
  makeWorld: () => Promise<EventWorld>,
  work: (ingest: EventIngest, world: EventWorld) => Promise<void>,
  options: { readonly maxBodyBytes?: number } = {},
): Promise<void> {
  await using world = await makeWorld();
  const ingest = createEventIngest({ ...world, clock: createSystemClock(), ...options });
  try {
    await work(ingest, world);
  } finally {
    await ingest.close();
  }
}

describe("what never reaches the store", () => {
  const withIngest = (work: Parameters<typeof withIngestIn>[1], options = {}): Promise<void> =>
    withIngestIn(createEventWorld, work, options);

  it.each([
    ["an empty array", "[]"],
    ["nothing at all", ""],
    ["blank lines", "\n \n"],
  ])("a post of %s stores nothing and is no error", async (_, content) => {
    await withIngest(async (ingest) => {
      expect(await ingest.ingest(body(content), noKey)).toMatchObject({ received: 0, stored: 0, duplicates: 0 });
    });
  });

  it.each([
    ["CSV", "at,slug\n1,acme\n", "neither NDJSON nor a JSON array"],
    ["half an array", '[{"at":1,"slug":"a"}', "nothing was stored: 1 bad event"],
    ["a word", "events", "neither NDJSON nor a JSON array"],
  ])("a post of %s is refused", async (_, content, message) => {
    await withIngest(async (ingest) => {
      await expect(ingest.ingest(body(content), noKey)).rejects.toMatchObject({
        code: "invalid_data",
        message: expect.stringContaining(message),
      });
    });
  });

  it("a post of too many bytes is refused before it is read to its end", async () => {
    await withIngest(
      async (ingest) => {
        let pulled = 0;
        const endless = async function* (): AsyncGenerator<Uint8Array> {
          for (;;) {
            pulled++;
            yield Buffer.alloc(400, " ");
          }
        };

        await expect(ingest.ingest(endless(), noKey)).rejects.toMatchObject({ code: "too_large", httpStatus: 413 });
        await expect(ingest.ingest(Buffer.alloc(1_001), noKey)).rejects.toMatchObject({ code: "too_large" });
        expect(pulled).toBe(3);
      },
      { maxBodyBytes: 1_000 },
    );
  });
});

describe.each(storeEngines)("on $engine,", (place) => {
  const withIngest = (work: Parameters<typeof withIngestIn>[1]): Promise<void> =>
    withIngestIn(() => createWorldOn(place), work);

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
      await withIngest(async (ingest, world) => {
        const outcome = await ingest.ingest(body(content), noKey);

        expect(outcome).toEqual({
          received: 2,
          stored: 2,
          duplicates: 0,
          conflicts: 0,
          storedByStatus: { DETECTED_AS_DEAD: 1, DETECTED_AS_ALIVE: 1, other: 0 },
          someConflicts: [],
          otherStatuses: {},
        });
        expect(await total(world, "acme")).toBe(3);
      });
    });

    it("comes in chunks as well", async () => {
      await withIngest(async (ingest) => {
        const chunks = async function* (): AsyncGenerator<Uint8Array> {
          yield Buffer.from(`[{"at":${startMs},"sl`);
          yield Buffer.from('ug":"zürich"}]').subarray(0, 8);
          yield Buffer.from('ug":"zürich"}]').subarray(8);
        };

        expect(await ingest.ingest(chunks(), noKey)).toMatchObject({ stored: 1 });
      });
    });

    it("stores an id once a slug: within a post, over posts and beside an import", async () => {
      await withIngest(async (ingest, world) => {
        await world.import([await world.write("1.ndjson", toNdjson([death(startMs, "acme", { id: "imported" })]))]);
        const post = [
          { at, slug: "acme", id: "imported" },
          { at, slug: "acme", id: "a" },
          { at, slug: "acme", id: "a" },
          { at, slug: "globex", id: "a" },
        ];

        expect(await ingest.ingest(body(post), noKey)).toMatchObject({ received: 4, stored: 2, duplicates: 2 });
        expect(await ingest.ingest(body(post), noKey)).toMatchObject({ received: 4, stored: 0, duplicates: 4 });
        expect([await total(world, "acme"), await total(world, "globex")]).toEqual([2, 1]);
      });
    });

    it("says which of its ids are stored with other content, and which statuses count for nothing", async () => {
      await withIngest(async (ingest) => {
        const event = { at, slug: "acme", asset: "x", attributes: { a: "b" } };
        await ingest.ingest(body(["1", "2", "3", "4", "5"].map((id) => ({ ...event, id }))), noKey);
        const post = [
          { ...event, id: "1" },
          { ...event, id: "2", asset: "y" },
          { ...event, id: "3", attributes: {} },
          { ...event, id: "4", at: "2026-01-15T09:00:01.001Z" },
          { ...event, id: "5", status: "offline" },
          { ...event, id: "6", status: "offline" },
          { ...event, id: "6", count: 2 },
        ];

        expect(await ingest.ingest(body(post), noKey)).toMatchObject({
          received: 7,
          stored: 1,
          duplicates: 1,
          conflicts: 5,
          someConflicts: ["2", "3", "4"].map((id) => ({ slug: "acme", id })),
          otherStatuses: { offline: 2 },
        });
      });
    });

    it("is stored all or not at all, and every bad event is named", async () => {
      await withIngest(async (ingest, world) => {
        const good = { at, slug: "acme" };

        await expect(ingest.ingest(body([good, { at }, good, 5]), noKey)).rejects.toMatchObject({
          code: "invalid_data",
          httpStatus: 400,
          issues: ["event 2: slug is missing", "event 4: is not a JSON object"],
          refused: { invalid: 2 },
        });
        await expect(
          ingest.ingest(body(`${JSON.stringify(good)}\n${JSON.stringify({ at })}\n`), noKey),
        ).rejects.toMatchObject({
          issues: ["line 2: slug is missing"],
        });
        const inSeconds = Array.from({ length: 12 }, () => ({ ...good, at: startMs / 1_000 }));
        await expect(ingest.ingest(body(inSeconds), noKey)).rejects.toMatchObject({
          issues: { length: 10, 0: expect.stringMatching(/^event 1: at 1768467600 is 1970-.*: seconds in place of/) },
          refused: { seconds: expect.any(Number) },
        });
        expect(await world.store.events.isEmpty()).toBe(true);
      });
    });

    it("of more events than one transaction holds counts all at once, too", async () => {
      await withIngest(async (ingest, world) => {
        const events = Array.from({ length: 12_000 }, (_, index) => death(startMs + index, "acme", { id: `${index}` }));
        const known = events.slice(0, 100);
        await world.store.events.add(known);
        const state = { isDone: false };
        const posting = ingest.ingest(body(toNdjson(events)), noKey).finally(() => (state.isDone = true));

        const seen = new Set<number>();
        while (!state.isDone) {
          seen.add(await total(world, "acme"));
          await turn();
        }

        expect(await posting).toMatchObject({ received: 12_000, stored: 11_900, duplicates: 100 });
        expect([...seen].filter((count) => count !== 100 && count !== 12_000)).toEqual([]);
        expect(await total(world, "acme")).toBe(12_000);
      });
    });
  });

  describe("an Idempotency-Key", () => {
    const events = [{ at, slug: "acme" }];

    it("gives the same answer to the same body without storing it again", async () => {
      await withIngest(async (ingest, world) => {
        const first = await ingest.ingest(body(events), { idempotencyKey: "k1" });
        const again = await ingest.ingest(body(events), { idempotencyKey: "k1" });

        expect(again).toEqual({
          ...first,
          storedByStatus: { DETECTED_AS_DEAD: 0, DETECTED_AS_ALIVE: 0, other: 0 },
        });
        expect(await ingest.ingest(body(events), { idempotencyKey: "k2" })).toMatchObject({ stored: 1 });
        expect(await total(world, "acme")).toBe(2);
      });
    });
  });

  describe("while events are posted", () => {
    it(
      "the event loop stays free: the daemon reads its store many times amid each post",
      { timeout: 300_000 },
      async () => {
        await withIngest(async (ingest, world) => {
          const rows = isLong ? 1_000_000 : 20_000;
          const post = Buffer.from(
            toNdjson(Array.from({ length: rows / 10 }, (_, index) => death(startMs + index, `org-${index % 100}`))),
          );

          for (let part = 0; part < 10; part++) {
            const state = { isDone: false };
            const posting = ingest.ingest(post, noKey).then(() => (state.isDone = true));
            let reads = 0;
            for (; !state.isDone; reads++) {
              await world.store.events.firstEventAtMs("org-1");
              await turn();
            }
            await posting;
            // A body that is parsed or stored on this thread would let the daemon read once.
            expect(reads).toBeGreaterThan(3);
          }
          expect(await total(world, "org-1")).toBe(rows / 100);
        });
      },
    );

    it("an import goes on, posts wait for it, and both are counted", { timeout: 60_000 }, async () => {
      await withIngest(async (ingest, world) => {
        // A post waits for five seconds: many times as long as this import takes.
        const events = Array.from({ length: 8_000 }, (_, index) => death(startMs + index, "acme", { id: `${index}` }));
        const importing = world.import([await world.write("1.ndjson", toNdjson(events))]);

        const posting = async (): Promise<number> => {
          let stored = 0;
          for (let start = 0; start < 8_000; start += 800)
            stored += (await ingest.ingest(body(toNdjson(events.slice(start, start + 80))), noKey)).stored;
          return stored;
        };
        const [imported, posted] = await Promise.all([importing, posting()]);

        expect(imported.stored + posted).toBe(8_000);
        expect(await total(world, "acme")).toBe(8_000);
      });
    });
  });

  describe("a stop", () => {
    it("gives up what is under way, refuses what comes after it, and leaves nothing behind", async () => {
      await using world = await createWorldOn(place);
      const clock = createSystemClock();
      const ingest = createEventIngest({ ...world, clock });
      const events = Array.from({ length: 40_000 }, (_, index) => death(startMs + index, "acme"));
      await ingest.ingest(body([]), noKey);
      const posting = ingest.ingest(body(toNdjson(events)), noKey).catch((error: unknown) => error);

      await ingest.close();

      expect(await posting).toMatchObject({ code: "unavailable" });
      await expect(ingest.ingest(body([]), noKey)).rejects.toMatchObject({ code: "unavailable" });
      expect(await world.store.events.isEmpty()).toBe(true);
      const next = createEventIngest({ ...world, clock });
      expect(await next.ingest(body([]), noKey)).toMatchObject({ stored: 0 });
      await next.close();
    });
  });
});

it("lets its thread go when there was nothing to store for a while, and starts another for the next post", async () => {
  await using world = await createEventWorld();
  const clock = createVirtualClock({ startMs });
  let threads = 0;
  const count = (): void => void threads++;
  process.on("worker", count);
  const ingest = createEventIngest({ location: world.location, clock });
  await ingest.ingest(body(toNdjson([death(startMs, "acme")])), noKey);
  await clock.advance(9_999);
  await ingest.ingest(body(toNdjson([death(startMs + 1, "acme")])), noKey);
  const threadsBefore = threads;

  await clock.advance(10_000);
  const outcome = await ingest.ingest(body(toNdjson([death(startMs + 2, "acme")])), noKey);
  await ingest.close();

  process.off("worker", count);
  expect(outcome).toMatchObject({ received: 1, stored: 1 });
  expect([threadsBefore, threads]).toEqual([1, 2]);
  expect(await total(world, "acme")).toBe(3);
});

it("stores a post that met a locked database when it is sent again, once", async () => {
  await using world = await createEventWorld();
  const { databasePath } = world;
  const posts = await openPosts(world);
  const other = new DatabaseSync(databasePath);
  const post = body([
    { at, slug: "acme", id: "1" },
    { at, slug: "acme" },
  ]);

  other.exec("BEGIN IMMEDIATE");
  await expect(posts.store(post, "k1", null, 20)).rejects.toMatchObject({ code: "store_busy", httpStatus: 503 });
  other.exec("ROLLBACK");
  other.close();

  expect(await posts.store(post, "k1")).toMatchObject({ received: 2, stored: 2 });
  expect(await total(world, "acme")).toBe(2);
  await posts.close();
});

it("lets posts that meet an import wait for 5 s together, not one after the other", async () => {
  const clock = createVirtualClock({ startMs });
  const waits: (number | undefined)[] = [];
  const posts: EventPosts = {
    store: async (_body, _key, _organizations, waitMs) => {
      waits.push(waitMs);
      await clock.sleep(3_000);
      throw new FlatlineError("store_busy", "an import");
    },
    close: () => Promise.resolve(),
  };
  const answer = createIngestAnswers(() => Promise.resolve(posts), clock);
  const post = { kind: "post", body: body([]), idempotencyKey: null, organizations: null } as const;

  const answers = [1, 2, 3].map((id) => answer({ ...post, id }));
  await clock.advance(9_000);

  expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(["failed", "failed", "failed"]);
  expect(waits).toEqual([5_000, 2_000, 0]);
});
