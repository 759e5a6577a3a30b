import { rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

import {
  countsOf,
  createEventWorld,
  createWorldOn,
  death,
  toCsv,
  toNdjson,
  type EventWorld,
} from "../../../test/support/store/event-store.ts";
import { storeEngines } from "../../../test/support/store/engines.ts";
import { hourMs } from "../../base/time.ts";
import type { LivenessEvent } from "./events.ts";

const startMs = Date.UTC(2026, 0, 15, 9);

/** Weighted deaths of a slug at all times. */
async function total({ store }: EventWorld, slug: string): Promise<number> {
  const counts = await countsOf(store, { slug, baselineStartMs: -1, windowStartMs: 0, endMs: 253_402_300_799_999 });
  return counts.reduce((sum, { currentCount, baselineCount }) => sum + currentCount + baselineCount, 0);
}

describe("input that can not be read", () => {
  it.each<[string, (world: EventWorld) => Promise<string>, string, string]>([
    ["no such file", async ({ folder }) => join(folder, "none.csv"), "no_input", "no such file"],
    ["a folder", async ({ folder }) => folder, "no_input", "is a folder"],
    ["an empty file", (world) => world.write("x", ""), "invalid_data", "1 bad line"],
    ["half a JSON array", (world) => world.write("x", "[{}"), "invalid_data", "1 bad line"],
    [
      "a truncated gzip file",
      (world) => world.write("x", gzipSync(toCsv([death(startMs, "acme")])).subarray(0, -9)),
      "invalid_data",
      "broken gzip file: unexpected end of file",
    ],
    [
      "gzip that unpacks to a line without end",
      (world) => world.write("x", gzipSync(Buffer.alloc(20_000_000, "a"))),
      "invalid_data",
      "1 bad line",
    ],
  ])("%s", async (_, make, code, message) => {
    await using world = await createEventWorld();

    await expect(world.import([await make(world)])).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    expect(await world.store.events.isEmpty()).toBe(true);
  });
});

describe.each(storeEngines)("on $engine,", (place) => {
  describe("an import", () => {
    it("says what it has stored", async () => {
      await using world = await createWorldOn(place);
      const file = await world.write(
        "events.csv",
        toCsv([
          death(startMs + 5, "acme", { id: "1" }),
          death(startMs, "globex"),
          death(startMs + 9, "acme", { id: "1" }),
          death(startMs + 5, "acme", { id: "1" }),
        ]),
      );

      const outcome = await world.import([file]);

      expect(outcome).toEqual({
        files: 1,
        received: 4,
        stored: 2,
        duplicates: 1,
        conflicts: 1,
        someConflicts: [{ slug: "acme", id: "1" }],
        firstAtMs: startMs,
        lastAtMs: startMs + 9,
        slugs: 2,
        otherStatuses: {},
      });
      expect([await total(world, "acme"), await total(world, "globex")]).toEqual([1, 1]);
    });

    it.each([
      ["CSV", toCsv],
      ["NDJSON", toNdjson],
    ])("knows gzipped %s by its content, whatever the file's name is", async (_, write) => {
      await using world = await createWorldOn(place);
      const file = await world.write("events.txt", gzipSync(write([death(startMs, "acme", { count: 7 })])));

      await world.import([file]);

      expect(await total(world, "acme")).toBe(7);
    });

    it("reads a gzip file of several members, and a byte order mark", async () => {
      await using world = await createWorldOn(place);
      const members = [gzipSync("\ufeffat,slug\n"), gzipSync(`${startMs},acme\n`), gzipSync(`${startMs},acme\n`)];

      await world.import([await world.write("events.csv.gz", Buffer.concat(members))]);

      expect(await total(world, "acme")).toBe(2);
    });

    it("takes several files as one: a bad line in the last keeps the first out too", async () => {
      await using world = await createWorldOn(place);
      const good = await world.write("good.csv", toCsv([death(startMs, "acme")]));
      const bad = await world.write(
        "bad.csv",
        "at,slug\n2026-01-01T00:00:00Z,acme\nsoon,acme\n2026-01-01T00:00:00Z,\n",
      );

      await expect(world.import([good, bad])).rejects.toMatchObject({
        code: "invalid_data",
        exitCode: 65,
        message: "nothing was stored: 2 bad lines",
        issues: [expect.stringMatching(/bad\.csv:3: at "soon"/), expect.stringMatching(/bad\.csv:4: slug is missing/)],
      });

      expect(await world.store.events.isEmpty()).toBe(true);
      expect(await world.import([good])).toMatchObject({ stored: 1 });
    });

    it("names twenty bad lines and no more", async () => {
      await using world = await createWorldOn(place);
      const file = await world.write("bad.csv", `at,slug\n${"x,y\n".repeat(100_000)}`);

      const error: unknown = await world.import([file]).catch((error: unknown) => error);

      expect(error).toMatchObject({ message: "nothing was stored: more than 20 bad lines" });
      expect((error as { issues: string[] }).issues).toHaveLength(21);
    });

    it("does not move events out of time", async () => {
      await using world = await createWorldOn(place);
      const file = await world.write("1.csv", toCsv([death(startMs, "acme"), death(startMs + hourMs, "acme")]));

      await expect(world.import([file], { rebaseToMs: 5 })).rejects.toMatchObject({ code: "usage" });
    });

    it("stores a header without rows as nothing", async () => {
      await using world = await createWorldOn(place);

      expect(await world.import([await world.write("1.csv", "at,slug\n")], { rebaseToMs: 5 })).toMatchObject({
        received: 0,
        firstAtMs: null,
      });
    });
  });

  describe("content that was imported before", () => {
    const withoutIds = toCsv([death(startMs, "acme"), death(startMs, "acme", { id: "1" })]);

    it("is refused when it has rows without an id, packed or not, unless it is to be imported again", async () => {
      await using world = await createWorldOn(place);
      await world.import([await world.write("1.csv", withoutIds)]);
      const packed = await world.write("other.csv.gz", gzipSync(withoutIds));

      await expect(world.import([packed])).rejects.toMatchObject({ code: "already_imported", exitCode: 65 });
      await expect(world.import([packed], { rebaseToMs: startMs })).rejects.toMatchObject({ code: "already_imported" });
      expect(await total(world, "acme")).toBe(2);

      expect(await world.import([packed], { again: true })).toMatchObject({ stored: 1, duplicates: 1 });
      expect(await total(world, "acme")).toBe(3);
    });

    it("is refused within one import too", async () => {
      await using world = await createWorldOn(place);
      const files = [await world.write("1.csv", withoutIds), await world.write("2.csv", withoutIds)];

      await expect(world.import(files)).rejects.toMatchObject({ code: "already_imported" });
    });

    it("is welcome when the import before has failed", async () => {
      await using world = await createWorldOn(place);
      const good = await world.write("1.csv", withoutIds);
      await world.import([good, await world.write("2.csv", "at\n")]).catch(() => undefined);

      expect(await world.import([good])).toMatchObject({ stored: 2 });
    });
  });

  it("reads the file it has opened, even when another takes its place meanwhile", async () => {
    await using world = await createWorldOn(place);
    const file = await world.write("1.csv", toCsv([death(startMs, "acme", { count: 2 })]));
    const other = await world.write("2.csv", toCsv([death(startMs, "acme", { count: 9 })]));

    await world.import([file], {
      onProgress: ({ phase }) => {
        if (phase === "checking") void rename(other, file).catch(() => undefined);
      },
    });

    expect(await total(world, "acme")).toBe(2);
  });

  it("stops when its signal aborts, with nothing counted and nothing in the way of the next one", async () => {
    await using world = await createWorldOn(place);
    const rows = Array.from({ length: 30_000 }, (_, index) => death(startMs + index, "acme", { id: String(index) }));
    const file = await world.write("1.csv", toCsv(rows));
    const stop = new AbortController();

    const importing = world.import([file], {
      signal: stop.signal,
      onProgress: ({ phase }) => {
        if (phase === "writing") stop.abort();
      },
    });

    await expect(importing).rejects.toMatchObject({ code: "unavailable" });
    expect(await world.store.events.isEmpty()).toBe(true);
    expect(await world.import([file])).toMatchObject({ stored: 30_000, duplicates: 0 });
    expect(await total(world, "acme")).toBe(30_000);
  });

  it("stops when its signal aborts while a stream is silent", async () => {
    await using world = await createWorldOn(place);
    const stop = new AbortController();
    let reads = 0;
    const stream = new Readable({
      read() {
        reads++;
        // Asked for more it says nothing, as a pipe whose writer stands still.
        if (reads === 1) stream.push("at,slug\n");
        else stop.abort();
      },
    });

    const importing = world.import([{ name: "standard input", stream }], { signal: stop.signal });

    await expect(importing).rejects.toMatchObject({
      code: "unavailable",
      message: "stopped while standard input was read; nothing was stored",
    });
  });

  describe("two imports at once", () => {
    const rows = (from: number, to: number): LivenessEvent[] =>
      Array.from({ length: to - from }, (_, index) =>
        death(startMs + ((from + index) % 500) * 1_000, `org-${(from + index) % 3}`, { id: `id-${from + index}` }),
      );

    it("of overlapping ids count each id once, whoever is first", async () => {
      await using world = await createWorldOn(place);
      const one = await world.write("1.csv", toCsv(rows(0, 6_000)));
      const two = await world.write("2.csv", toCsv(rows(3_000, 9_000)));

      const outcomes = await Promise.all([world.import([one]), world.import([two])]);
      await world.store.events.add(rows(0, 50));

      const totals = await Promise.all(["org-0", "org-1", "org-2"].map((slug) => total(world, slug)));
      expect(totals).toEqual([3_000, 3_000, 3_000]);
      expect(outcomes.reduce((sum, { stored }) => sum + stored, 0)).toBe(9_000);
      expect(outcomes.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(3_000);
    });
  });
});

// A PostgreSQL takes events of one process at a time.
it("two imports of the same content without ids into a file at once: one of them is refused", async () => {
  await using world = await createEventWorld();
  const rows = Array.from({ length: 3_000 }, (_, index) => death(startMs + (index % 500) * 1_000, "acme"));
  const file = await world.write("1.csv", toCsv(rows));

  const outcomes = await Promise.allSettled([world.import([file]), world.import([file])]);

  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await total(world, "acme")).toBe(3_000);
});
