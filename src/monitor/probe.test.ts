import { describe, expect, it } from "vitest";

import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import type { CheckReport } from "../contract/report.ts";
import { createProber, type Prober } from "./probe.ts";
import type { CheckTarget } from "../checks/checks.ts";

const target: CheckTarget = {
  check: "dead-asset-spike",
  slug: "acme",
  schedule: { pattern: "* * * * *", timezone: "UTC", jitterMs: 0 },
  thresholds: { windowHours: 24, baselineDays: 7, warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 10 },
};

/** A prober whose runs take a second; each report's startedAtMs tells the run that it came from. */
function setUp(): { clock: VirtualClock; prober: Prober; started: AbortSignal[] } {
  const clock = createVirtualClock({ startMs: 0 });
  const started: AbortSignal[] = [];
  const run = async (target: CheckTarget, signal: AbortSignal): Promise<CheckReport> => {
    started.push(signal);
    const startedAtMs = clock.nowMs();
    await clock.sleep(1_000, signal);
    const error = { reason: "network", message: "refused" } as const;
    const { check, slug } = target;
    return { kind: "error", check, slug, startedAtMs, finishedAtMs: clock.nowMs(), severity: "unknown", error };
  };
  return { clock, prober: createProber({ clock, run }), started };
}

describe("probes", () => {
  it("that come together share one run", async () => {
    const { clock, prober, started } = setUp();
    const first = prober.probe(target, 9_500);
    await clock.advance(600);
    const second = prober.probe(target, 9_500);
    await clock.advance(400);

    expect(await first).toBe(await second);
    expect(started).toHaveLength(1);
    clock.assertIdle();
  });

  it.each([
    { rule: "within 5 s of a finished one gets its result", afterMs: 5_000, runs: 1 },
    { rule: "later runs anew", afterMs: 5_001, runs: 2 },
  ])("one that comes $rule", async ({ afterMs, runs }) => {
    const { clock, prober, started } = setUp();
    const first = prober.probe(target, 9_500);
    await clock.advance(1_000);
    await first;

    await clock.advance(afterMs);
    const second = prober.probe(target, 9_500);
    await clock.advance(1_000);

    expect((await second).startedAtMs).toBe(runs === 1 ? 0 : 1_000 + afterMs);
    expect(started).toHaveLength(runs);
  });

  it("after a reload run with the new thresholds", async () => {
    const { clock, prober, started } = setUp();
    const first = prober.probe(target, 9_500);
    await clock.advance(1_000);
    await first;

    const second = prober.probe({ ...target }, 9_500);
    await clock.advance(1_000);
    await second;

    expect(started).toHaveLength(2);
  });

  it("end at their own timeout; the run goes on for who has more time", async () => {
    const { clock, prober, started } = setUp();
    const short = prober.probe(target, 500);
    const long = prober.probe(target, 9_500);

    await clock.advance(500);

    expect(await short).toMatchObject({ kind: "error", finishedAtMs: 500, error: { reason: "timeout" } });
    await clock.advance(500);
    expect(await long).toMatchObject({ finishedAtMs: 1_000, error: { reason: "network" } });
    expect(started).toHaveLength(1);
  });

  it("stop a run for which nobody waits, and do not hand on what it gave", async () => {
    const { clock, prober, started } = setUp();
    const short = prober.probe(target, 500);
    await clock.advance(500);
    await short;

    const next = prober.probe(target, 9_500);
    await clock.advance(1_000);

    expect(started.map((signal) => signal.aborted)).toEqual([true, false]);
    expect(await next).toMatchObject({ startedAtMs: 500, error: { reason: "network" } });
  });
});
