import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { createSystemClock, type Clock } from "./time.ts";

const clocks: readonly {
  readonly name: string;
  readonly make: () => Clock;
  readonly pass: (clock: Clock) => Promise<void>;
}[] = [
  { name: "the machine's", make: createSystemClock, pass: (clock) => clock.sleep(3) },
  {
    name: "the tests'",
    make: () => createVirtualClock({ startMs: 0 }),
    pass: (clock) => (clock as ReturnType<typeof createVirtualClock>).advance(30),
  },
];

describe.each(clocks)("a deadline by $name clock", ({ make, pass }) => {
  it("aborts with a TimeoutError when its time is over", async () => {
    const clock = make();
    const { signal } = clock.deadline(1);

    await pass(clock);

    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  it("aborts with the reason of its signal", () => {
    const stop = new AbortController();
    const { signal } = make().deadline(60_000, stop.signal);

    stop.abort("stopped");

    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe("stopped");
  });

  it("has aborted when its signal has", () => {
    const { signal, release } = make().deadline(60_000, AbortSignal.abort("before"));

    expect(signal.reason).toBe("before");
    release();
  });

  it("aborts no more once it is released, neither by time nor by its signal", async () => {
    const clock = make();
    const stop = new AbortController();
    const { signal, release } = clock.deadline(1, stop.signal);

    release();
    await pass(clock);
    stop.abort();

    expect(signal.aborted).toBe(false);
  });
});
