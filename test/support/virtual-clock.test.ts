import { describe, expect, it } from "vitest";

import { createVirtualClock } from "./virtual-clock.ts";

describe("the virtual clock", () => {
  it("fires sleepers and timeouts in order of time, each at its own instant", async () => {
    const clock = createVirtualClock({ startMs: 1_000 });
    const seen: [string, number][] = [];
    void clock.sleep(30).then(() => seen.push(["late", clock.nowMs()]));
    const chain = async (): Promise<void> => {
      await clock.sleep(10);
      seen.push(["early", clock.nowMs()]);
      await clock.sleep(10);
      seen.push(["chained", clock.nowMs()]);
    };
    void chain();
    clock.timeout(15).addEventListener("abort", () => seen.push(["timeout", clock.nowMs()]));

    await clock.advance(25);
    await clock.advanceTo(1_100);

    expect(seen).toEqual([
      ["early", 1_010],
      ["timeout", 1_015],
      ["chained", 1_020],
      ["late", 1_030],
    ]);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_100, 100]);
    clock.assertIdle();
  });

  it("fires everything that became due in a jump at the new time", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const seen: number[] = [];
    for (const delayMs of [10, 20]) void clock.sleep(delayMs).then(() => seen.push(clock.nowMs()));

    await clock.jump(500);

    expect(seen).toEqual([500, 500]);
  });

  it("keeps timers when somebody sets the wall clock", async () => {
    const clock = createVirtualClock({ startMs: 10_000 });
    let wokenAtMs = 0;
    void clock.sleep(100).then(() => (wokenAtMs = clock.nowMs()));

    clock.shiftWall(-5_000);
    await clock.advance(100);

    expect(wokenAtMs).toBe(5_100);
  });

  it("wakes a sleeper whose signal aborts, and says which are left", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const stop = new AbortController();
    const sleeping = clock.sleep(100, stop.signal);
    expect(() => clock.assertIdle()).toThrow("1 sleeper(s) left on the clock");

    stop.abort();
    await sleeping;

    clock.assertIdle();
  });

  it("aborts a timeout with a TimeoutError, and drops it when its own signal came first", async () => {
    const clock = createVirtualClock({ startMs: 0 });
    const stop = new AbortController();
    const bounded = clock.timeout(50);
    const cancelled = clock.timeout(50, stop.signal);

    stop.abort(new Error("stopped"));
    await clock.advance(50);

    expect(bounded.reason).toMatchObject({ name: "TimeoutError" });
    expect(cancelled.reason).toMatchObject({ message: "stopped" });
    expect(clock.pendingTimeouts()).toBe(0);
  });

  it("advances until something holds, and says when it never does", async () => {
    const clock = createVirtualClock({ startMs: 0, realLimitMs: 10 });
    let ticks = 0;
    const loop = async (): Promise<void> => {
      for (; ticks < 5; ticks++) await clock.sleep(1_000);
    };
    void loop();

    await clock.advanceUntil(() => ticks === 3);

    expect(clock.nowMs()).toBe(3_000);
    await expect(clock.advanceUntil(() => false, 10_000)).rejects.toThrow("not so within 10000 ms");
  });
});
