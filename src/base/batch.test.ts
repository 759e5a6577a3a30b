import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError } from "./errors.ts";
import { createBatch } from "./batch.ts";

interface Request {
  readonly key: string;
  readonly value: number;
}

/** A batch that notes its groups; `fails` decides which of them cannot be written, and why. */
function grouping(fails: (group: readonly Request[]) => Error | null = () => null) {
  const groups: string[][] = [];
  let hold: Promise<void> = Promise.resolve();
  const record = createBatch<Request, number>({
    keysOf: ({ key }) => key.split(" and "),
    run: async (requests) => {
      groups.push(requests.map(({ key }) => key));
      await hold;
      const error = fails(requests);
      if (error !== null) throw error;
      return requests.map(({ value }) => value * 2);
    },
  });
  const until = (promise: Promise<void>): void => {
    hold = promise;
  };
  return { groups, record, until };
}

const named = (key: string, value = 0): Request => ({ key, value });

describe("a batch", () => {
  it("answers each of a group with its own answer", async () => {
    const { groups, record } = grouping();

    const answers = await Promise.all([record(named("a", 1)), record(named("b", 2)), record(named("c", 3))]);

    expect(answers).toEqual([2, 4, 6]);
    expect(groups).toEqual([["a", "b", "c"]]);
  });

  it("writes what comes during a commit in the next one, together", async () => {
    const { groups, record, until } = grouping();
    const disk = Promise.withResolvers<void>();
    until(disk.promise);

    const first = record(named("a"));
    await turn();
    await turn();
    const later = [record(named("b")), record(named("c"))];
    disk.resolve();
    await Promise.all([first, ...later]);

    expect(groups).toEqual([["a"], ["b", "c"]]);
  });

  it("never has a key twice in one group, and keeps their order", async () => {
    const { groups, record } = grouping();

    await Promise.all([record(named("a")), record(named("b")), record(named("a")), record(named("c"))]);

    expect(groups).toEqual([
      ["a", "b"],
      ["a", "c"],
    ]);
  });

  it("tries each alone when a group fails, so that one loses none of the others", async () => {
    const { groups, record } = grouping((group) => (group.some(({ key }) => key === "b") ? new Error("broken") : null));

    const ended = await Promise.allSettled([record(named("a", 1)), record(named("b")), record(named("c", 3))]);

    expect(groups).toEqual([["a", "b", "c"], ["a"], ["b"], ["c"]]);
    expect(ended.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)))).toEqual([
      2,
      "Error: broken",
      6,
    ]);
  });

  it.each(["store_busy", "store_unusable", "unavailable"] as const)("fails as a whole when it is %s", async (code) => {
    const { groups, record } = grouping(() => new FlatlineError(code, "no store"));

    const ended = await Promise.allSettled([record(named("a")), record(named("b"))]);

    expect(groups).toEqual([["a", "b"]]);
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});

describe("a batch whose groups are paced", () => {
  /** Groups of at least 100 ms from one to the next; a key that begins with `urgent` is. */
  function pacing() {
    const clock = createVirtualClock({ startMs: 0 });
    const ending = new AbortController();
    const groups: { readonly atMs: number; readonly keys: readonly string[] }[] = [];
    const ask = createBatch<string, true>({
      run: async (keys) => {
        groups.push({ atMs: clock.nowMs(), keys });
        return keys.map(() => true as const);
      },
      pacing: { clock, everyMs: 100, isUrgent: (key) => key.startsWith("urgent"), ending: ending.signal },
    });
    const record = (...keys: string[]): Promise<unknown> => Promise.all(keys.map(ask));
    return { clock, ending, groups, record };
  }

  it("takes the first one at once, and what comes within the time after it together", async () => {
    const { clock, groups, record } = pacing();
    await record("a");
    const later = [record("b")];
    await clock.advance(60);
    later.push(record("c"));
    await clock.advance(60);
    await Promise.all(later);

    expect(groups).toEqual([
      { atMs: 0, keys: ["a"] },
      { atMs: 100, keys: ["b", "c"] },
    ]);
  });

  it("does not let an urgent one wait, nor what waits then", async () => {
    const { clock, groups, record } = pacing();
    await record("a");
    const waiting = record("b");
    await clock.advance(30);
    await Promise.all([waiting, record("urgent c")]);
    await record("urgent d");

    expect(groups).toEqual([
      { atMs: 0, keys: ["a"] },
      { atMs: 30, keys: ["b", "urgent c"] },
      { atMs: 30, keys: ["urgent d"] },
    ]);
  });

  it("takes a full group at once, so that the queue does not grow", async () => {
    const { clock, groups, record } = pacing();
    await record("a");
    const many = record(...Array.from({ length: 512 }, (_, index) => `run ${index}`));
    await many;
    const rest = record("b");
    await clock.advance(100);
    await rest;

    expect(groups.map(({ atMs, keys }) => [atMs, keys.length])).toEqual([
      [0, 1],
      [0, 512],
      [100, 1],
    ]);
  });

  it("lets nothing wait any more when it ends", async () => {
    const { clock, ending, groups, record } = pacing();
    await record("a");
    const waiting = record("b");
    await clock.settle();
    ending.abort();
    await waiting;
    await record("c");

    expect(groups.map(({ keys }) => keys)).toEqual([["a"], ["b"], ["c"]]);
    clock.assertIdle();
  });
});
