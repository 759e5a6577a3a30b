import { describe, expect, it } from "vitest";

import { FlatlineError } from "../base/errors.ts";
import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createBatcher } from "./batcher.ts";

interface Asked {
  readonly items: readonly string[];
  readonly signal: AbortSignal;
  answer(answers: readonly (string | FlatlineError)[]): void;
  fail(error: unknown): void;
}

function bench(mostItems = 3) {
  const clock = createVirtualClock({ startMs: 0 });
  const asked: Asked[] = [];
  const batcher = createBatcher<string, string>({
    ask: (items, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ items, signal, answer: resolve, fail: reject });
      }),
    clock,
    waitMs: 20,
    mostItems,
    timeoutMs: 1_000,
  });
  return { clock, asked, batcher };
}

describe("a batcher", () => {
  it("asks once for what comes within the wait, and again for what comes later", async () => {
    const { clock, asked, batcher } = bench();
    const first = [batcher.ask("a"), batcher.ask("b")];

    await clock.advance(20);
    const late = batcher.ask("c");
    await clock.advance(20);
    asked[0]?.answer(["A", "B"]);
    asked[1]?.answer(["C"]);

    expect(await Promise.all([...first, late])).toEqual(["A", "B", "C"]);
    expect(asked.map(({ items }) => items)).toEqual([["a", "b"], ["c"]]);
  });

  it("does not wait when a batch is full", async () => {
    const { clock, asked, batcher } = bench(2);
    const all = ["a", "b", "c"].map((item) => batcher.ask(item));

    await clock.advance(0);
    expect(asked.map(({ items }) => items)).toEqual([["a", "b"]]);

    await clock.advance(20);
    asked[0]?.answer(["A", "B"]);
    asked[1]?.answer(["C"]);
    expect(await Promise.all(all)).toEqual(["A", "B", "C"]);
  });

  it("gives an error to the one item that it is about, and a failure to all", async () => {
    const { clock, asked, batcher } = bench();
    const problem = new FlatlineError("api_invalid_response", "no number");
    const partly = Promise.allSettled([batcher.ask("a"), batcher.ask("b")]);
    await clock.advance(20);
    asked[0]?.answer(["A", problem]);
    const failed = Promise.allSettled([batcher.ask("c"), batcher.ask("d")]);
    await clock.advance(20);
    asked[1]?.fail(problem);

    expect(await partly).toEqual([
      { status: "fulfilled", value: "A" },
      { status: "rejected", reason: problem },
    ]);
    expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("lets one go without the others, and gives up when all are gone", async () => {
    const { clock, asked, batcher } = bench();
    const [one, other] = [new AbortController(), new AbortController()];
    const leaving = Promise.allSettled([batcher.ask("a", one.signal), batcher.ask("b", other.signal)]);
    await clock.advance(20);

    one.abort();
    expect(asked[0]?.signal.aborted).toBe(false);
    other.abort();

    expect(asked[0]?.signal.aborted).toBe(true);
    expect(await leaving).toMatchObject([{ reason: { code: "api_network" } }, { reason: { code: "api_network" } }]);
    asked[0]?.answer(["A", "B"]);
  });

  it("asks nothing for who left before it was asked", async () => {
    const { clock, asked, batcher } = bench();
    const gone = new AbortController();
    const leaving = Promise.allSettled([batcher.ask("a", gone.signal)]);

    gone.abort(new DOMException("late", "TimeoutError"));
    await clock.advance(20);

    expect(await leaving).toMatchObject([{ reason: { code: "api_timeout" } }]);
    expect(asked).toEqual([]);
  });
});
