import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { FlatlineError } from "./errors.ts";
import { createBatch } from "./batch.ts";

interface Request {
  readonly key: string;
  readonly value: number;
}

/** A batch that notes its groups; `fails` returns the error of a group, if any. */
function grouping(fails: (group: readonly Request[]) => Error | null = () => null) {
  const groups: string[][] = [];
  let hold: Promise<void> = Promise.resolve();
  const run = async (requests: readonly Request[]): Promise<number[]> => {
    groups.push(requests.map(({ key }) => key));
    await hold;
    const error = fails(requests);
    if (error !== null) throw error;
    return requests.map(({ value }) => value * 2);
  };
  const record = createBatch(run, ({ key }) => key);
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
