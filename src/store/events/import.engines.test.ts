import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";

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
import type { LivenessEvent } from "./rules.ts";

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
        deaths: 4,
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

      await expect(world.import([file], { rebaseTo: () => 5 })).rejects.toMatchObject({ code: "usage" });
    });

    it("asks where to move them to when all are checked, so that a slow check delays nothing", async () => {
      await using world = await createWorldOn(place);
      const file = await world.write("bad.csv", "at,slug\nsoon,acme\n");
      const rebaseTo = vi.fn(() => 5);

      await expect(world.import([file], { rebaseTo })).rejects.toMatchObject({ code: "invalid_data" });

      expect(rebaseTo).not.toHaveBeenCalled();
    });
  });

  it("content that was imported before counts once, and a file that has grown adds its new rows", async () => {
    await using world = await createWorldOn(place);
    const rows = [
      death(startMs, "acme"),
      death(startMs, "acme"),
      death(startMs, "acme", { id: "1" }),
      death(startMs, "acme", { asset: "x" }),
    ];
    await world.import([await world.write("1.csv", toCsv(rows))]);

    const grown = [...rows, death(startMs, "acme"), death(startMs, "acme", { asset: "y" }), death(startMs, "acme")];
    const packed = await world.write("other.csv.gz", gzipSync(toCsv(grown)));

    expect(await world.import([packed])).toMatchObject({ stored: 3, duplicates: 4, conflicts: 0 });
    expect(await world.import([packed])).toMatchObject({ stored: 0, duplicates: 7 });
    expect(await world.import([packed], { rebaseTo: () => startMs + 1 })).toMatchObject({ stored: 6, conflicts: 1 });
    expect(await total(world, "acme")).toBe(7 + 6);
  });

  it("numbers equal rows wherever they stand, also over what is stored at a time", async () => {
    await using world = await createWorldOn(place);
    // Not in the order of time, and more than a batch.
    const rows = Array.from({ length: 25_000 }, (_, index) => death(startMs + (index % 3) * 1_000, "acme"));
    const file = await world.write("1.csv", toCsv(rows));

    expect(await world.import([file])).toMatchObject({ stored: 25_000 });
    expect(await world.import([file])).toMatchObject({ stored: 0, duplicates: 25_000 });
  });

  it("takes what can be read once, as a pipe, and leaves no copy of it", async () => {
    await using world = await createWorldOn(place);
    const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("flatline-import-"));
    const before = await copies();
    const stream = Readable.from([Buffer.from(`at,slug\n${startMs},acme\n`)]);

    expect(await world.import([{ name: "standard input", stream }])).toMatchObject({ stored: 1 });
    expect((await copies()).filter((name) => !before.includes(name))).toEqual([]);
  });

  it("reads the file it has opened, even when another takes its place meanwhile", async () => {
    await using world = await createWorldOn(place);
    const file = await world.write("1.csv", toCsv([death(startMs, "acme", { count: 2 })]));
    const other = await world.write("2.csv", toCsv([death(startMs, "acme", { count: 9 })]));

    await world.import([file], {
      onProgress: (phase) => {
        if (phase === "checking") void rename(other, file).catch(() => undefined);
      },
    });

    expect(await total(world, "acme")).toBe(2);
  });

  it("stops when its signal aborts, is known as such, and is completed by the same again", async () => {
    await using world = await createWorldOn(place);
    const rows = Array.from({ length: 50_000 }, (_, index) => death(startMs + index, "acme", { id: String(index) }));
    const file = await world.write("1.csv", toCsv(rows));
    const stop = new AbortController();

    const importing = world.import([file], {
      signal: stop.signal,
      onProgress: (phase) => {
        if (phase === "writing") stop.abort();
      },
    });

    await expect(importing).rejects.toMatchObject({ code: "unavailable" });
    expect(await world.store.imports.list()).toMatchObject([{ name: file, slugs: ["acme"], rows: 50_000 }]);
    expect(await world.import([file])).toMatchObject({ received: 50_000, conflicts: 0 });
    expect(await world.store.imports.list()).toEqual([]);
    expect(await total(world, "acme")).toBe(50_000);
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
      message: "stopped while standard input was read",
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
