import { describe, expect, it } from "vitest";

import { createVirtualClock } from "../../test/support/virtual-clock.ts";
import { FlatlineError, type ErrorCode } from "../base/errors.ts";
import { recordPatiently } from "./patient-recording.ts";

/** How recording ends whose first attempts fail with `codes`, and when, ms. */
async function endOf(codes: readonly ErrorCode[], stopAfterMs = Infinity): Promise<{ end: string; afterMs: number }> {
  const clock = createVirtualClock({ startMs: 0 });
  const stopping = new AbortController();
  const over = new AbortController();
  let attempt = 0;
  const record = (): Promise<string> => {
    const code = codes[attempt++];
    return code === undefined ? Promise.resolve("recorded") : Promise.reject(new FlatlineError(code, "not now"));
  };
  const recording = recordPatiently(record, { clock, withinMs: 10_000, signal: stopping.signal })
    .catch((error: unknown) => (error instanceof FlatlineError ? error.code : "other"))
    .finally(() => over.abort());
  while (!over.signal.aborted) {
    if (clock.monotonicMs() >= stopAfterMs) stopping.abort();
    await clock.advance(50);
  }
  return { end: await recording, afterMs: clock.monotonicMs() };
}

describe("recording a run", () => {
  it("is tried again while the store is busy or away, ever later", async () => {
    expect(await endOf([])).toEqual({ end: "recorded", afterMs: 50 });
    expect(await endOf(["store_busy", "store_busy", "store_busy"])).toEqual({ end: "recorded", afterMs: 700 });
  });

  it("is given up when a lease's time is over", async () => {
    const { end, afterMs } = await endOf(Array.from({ length: 100 }, () => "store_busy" as const));

    expect(end).toBe("store_busy");
    expect(afterMs).toBeGreaterThan(8_000);
    expect(afterMs).toBeLessThanOrEqual(10_000);
  });

  it("is given up at once when trying again cannot help, or flatline stops", async () => {
    expect(await endOf(["store_unusable"])).toEqual({ end: "store_unusable", afterMs: 50 });
    expect(
      (
        await endOf(
          Array.from({ length: 100 }, () => "store_busy" as const),
          1_000,
        )
      ).afterMs,
    ).toBeLessThan(1_200);
  });
});
