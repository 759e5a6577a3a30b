import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { drain, endsWithin, ReleaseGroup } from "./lifecycle.ts";

const never = new Promise<void>(() => undefined);
const clockAtZero = () => createVirtualClock({ startMs: 0 });

describe("a group of releases", () => {
  it("begins all of them before it returns, and tells each how long it may take", () => {
    const begun: string[] = [];
    const group = new ReleaseGroup();
    group.add("first", (limitMs) => void begun.push(`first ${limitMs}`));
    group.add("second", (limitMs) => {
      begun.push(`second ${limitMs}`);
      return never;
    });

    void group.releaseAll(clockAtZero(), 100);

    expect(begun).toEqual(["first 100", "second 100"]);
  });

  it("ends in time, and says which threw, rejected or hung", async () => {
    const clock = clockAtZero();
    const group = new ReleaseGroup();
    group.add("throws", () => {
      throw new Error("thrown");
    });
    group.add("rejects", () => Promise.reject(new Error("rejected")), { stores: true });
    group.add("hangs", () => never);
    group.add("is well", () => undefined);

    const released = group.releaseAll(clock, 100);
    await clock.advance(100);

    expect(await released).toEqual([
      { name: "throws", error: new Error("thrown"), stores: false },
      { name: "rejects", error: new Error("rejected"), stores: true },
      { name: "hangs", error: expect.objectContaining({ message: "it has not ended within 100 ms" }), stores: false },
    ]);
    clock.assertIdle();
  });

  it("releases nothing twice", async () => {
    let times = 0;
    const group = new ReleaseGroup();
    group.add("once", () => void times++);

    await group.releaseAll(clockAtZero(), 100);
    await group.releaseAll(clockAtZero(), 100);

    expect(times).toBe(1);
  });
});

describe("work that is to end", () => {
  it("leaves no timer behind when it ends or rejects in time", async () => {
    const clock = clockAtZero();

    expect(await endsWithin(clock, Promise.resolve(), 100)).toBe(true);
    await expect(endsWithin(clock, Promise.reject(new Error("failed")), 100)).rejects.toThrow("failed");

    clock.assertIdle();
  });

  it("is aborted when the drain is over, and not before", async () => {
    const clock = clockAtZero();
    const work = Promise.withResolvers<void>();
    let gaveUpMs = 0;

    const drained = drain(clock, work.promise, {
      drainMs: 1_000,
      giveUp: () => {
        gaveUpMs = clock.monotonicMs();
        work.resolve();
      },
    });
    await clock.advance(2_000);

    expect(await drained).toBeNull();
    expect(gaveUpMs).toBe(1_000);
  });

  it("is left alone when it does not give up", async () => {
    const clock = clockAtZero();

    const drained = drain(clock, never, { drainMs: 1_000, giveUp: () => undefined });
    await clock.advance(1_500);

    expect(await drained).toMatchObject({ code: "unavailable", message: "work in progress does not end" });
    clock.assertIdle();
  });
});
