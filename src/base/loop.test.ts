import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { createLoop, type Loop, type LoopOptions } from "./loop.ts";

let clock: VirtualClock;
let turns: number[];
let errors: unknown[];
let loop: Loop;

function open(changes: Partial<LoopOptions> = {}): Loop {
  loop = createLoop({
    clock,
    everyMs: 100,
    runOnce: async () => void turns.push(clock.monotonicMs()),
    onError: (error) => errors.push(error),
    ...changes,
  });
  return loop;
}

beforeEach(() => {
  clock = createVirtualClock({ startMs: 0, settleTurns: 2 });
  turns = [];
  errors = [];
});
afterEach(async () => {
  await loop.stop();
  clock.assertIdle();
});

describe("a loop", () => {
  it("takes a turn at once and every so often, until it is stopped", async () => {
    open().start();
    await clock.advance(250);
    await loop.stop();
    await clock.advance(250);

    expect(turns).toEqual([0, 100, 200]);
  });

  it("takes no turn before it is started, and its first one after the wait for it", async () => {
    open({ firstAfterMs: 30 }).wake();
    await clock.advance(1_000);
    loop.start();
    await clock.advance(130);

    expect(turns).toEqual([1_030, 1_130]);
  });

  it("waits as long as the turn says", async () => {
    open({
      runOnce: async () => {
        turns.push(clock.monotonicMs());
        return turns.length * 10;
      },
    }).start();
    await clock.advance(60);

    expect(turns).toEqual([0, 10, 30, 60]);
  });

  it.each([
    { rule: "at once", delayMs: 0, expected: [0, 20, 120] },
    { rule: "after the wait that was asked for", delayMs: 30, expected: [0, 50, 150] },
    { rule: "not later than it would anyway", delayMs: 500, expected: [0, 100] },
  ])("that is woken takes its turn $rule", async ({ delayMs, expected }) => {
    open().start();
    await clock.advance(20);
    loop.wake(delayMs);
    await clock.advance(140);

    expect(turns).toEqual(expected);
  });

  it("that is woken during a turn takes another one after it", async () => {
    open({
      runOnce: async () => {
        turns.push(clock.monotonicMs());
        if (turns.length === 1) loop.wake();
        await clock.sleep(10);
      },
    }).start();
    await clock.advance(50);

    expect(turns).toEqual([0, 10]);
  });

  it("reports a turn that fails and goes on, after the wait for that", async () => {
    open({
      retryAfterMs: 20,
      runOnce: async () => {
        turns.push(clock.monotonicMs());
        throw new Error(`turn ${turns.length}`);
      },
    }).start();
    await clock.advance(40);

    expect(turns).toEqual([0, 20, 40]);
    expect(errors).toEqual([new Error("turn 1"), new Error("turn 2"), new Error("turn 3")]);
  });

  it("that is stopped waits for its turn, which its signal asks to end", async () => {
    let hasEnded = false;
    open({
      runOnce: async () => {
        await clock.sleep(1_000, loop.signal);
        hasEnded = true;
      },
    }).start();
    await clock.advance(10);
    await loop.stop();

    expect(hasEnded).toBe(true);
  });

  it.each([
    { rule: "set forwards", byMs: 3_600_000 },
    { rule: "set back", byMs: -3_600_000 },
  ])("that follows the wall clock takes a turn within a minute when that is $rule", async ({ byMs }) => {
    open({ followsWallClock: true, everyMs: 1_000_000 }).start();
    await clock.advance(150_000);
    clock.shiftWall(byMs);
    await clock.advance(60_000);

    expect(turns).toEqual([0, 180_000]);
  });

  it("has stalled when its turn is overdue, not while it waits for it", async () => {
    // Its timer never fires.
    const sleep: VirtualClock["sleep"] = (_delayMs, signal) => clock.sleep(1_000_000, signal);
    open({
      clock: { ...clock, sleep },
      stalledAfterMs: 500,
      firstAfterMs: 2_000,
    }).start();
    await clock.advance(2_500);
    const inTime = loop.isStalled();
    await clock.advance(1);

    expect([inTime, loop.isStalled()]).toEqual([false, true]);
  });

  it("has stalled when a turn lasts for too long, or when it was stopped", async () => {
    open({ stalledAfterMs: 500, runOnce: () => clock.sleep(1_000, loop.signal) });
    const before = loop.isStalled();
    await clock.advance(1_000);
    const unstarted = loop.isStalled();
    loop.start();
    await clock.advance(500);
    const inTime = loop.isStalled();
    await clock.advance(1);
    const late = loop.isStalled();
    await loop.stop();

    expect([before, unstarted, inTime, late, loop.isStalled()]).toEqual([false, false, false, true, true]);
  });
});
