import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { retrying, type RetryOptions } from "./retry.ts";

/** Runs work that fails so often, or for good, and notes when it was tried. */
async function attempt(failures: number, changes: Partial<RetryOptions> = {}, isPassing = true) {
  const clock = createVirtualClock({ startMs: 0, settleTurns: 2 });
  const attemptsMs: number[] = [];
  const work = async (): Promise<string> => {
    attemptsMs.push(clock.monotonicMs());
    if (attemptsMs.length <= failures) throw new Error(`failure ${attemptsMs.length}`);
    return "done";
  };
  const options = { clock, withinMs: 1_000, firstMs: 100, longestMs: 300, isPassing: () => isPassing, ...changes };
  const ended = retrying(work, options).catch((error: unknown) => (error instanceof Error ? error.message : error));
  await clock.advance(10_000);
  clock.assertIdle();
  return { outcome: await ended, attemptsMs };
}

describe("retries", () => {
  it.each([
    { rule: "none are needed when the first attempt succeeds", failures: 0, outcome: "done", attemptsMs: [0] },
    {
      rule: "wait twice as long each time, up to the longest wait",
      failures: 4,
      outcome: "done",
      attemptsMs: [0, 100, 300, 600, 900],
    },
    {
      rule: "end with the last error when the time is over",
      failures: 9,
      outcome: "failure 5",
      attemptsMs: [0, 100, 300, 600, 900],
    },
  ])("$rule", async ({ failures, outcome, attemptsMs }) => {
    expect(await attempt(failures)).toEqual({ outcome, attemptsMs });
  });

  it("are not made of an error that stays", async () => {
    expect(await attempt(3, {}, false)).toEqual({ outcome: "failure 1", attemptsMs: [0] });
  });

  it("end when the signal aborts", async () => {
    expect(await attempt(3, { signal: AbortSignal.abort() })).toEqual({ outcome: "failure 1", attemptsMs: [0] });
  });
});
