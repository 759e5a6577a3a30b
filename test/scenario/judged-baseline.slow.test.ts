import { afterEach, beforeEach, expect, it } from "vitest";

import { judgeAlert } from "../../src/alerting/acts/judge.ts";
import { releaseGate } from "../../src/alerting/acts/release.ts";
import { decideGate, type GatePolicy } from "../../src/alerting/decide/gate.ts";
import type { AlertingSettings } from "../../src/alerting/settings.ts";
import { Replay } from "../../src/backtest/replay.ts";
import { hourMs, minuteMs } from "../../src/base/time.ts";
import { readStoredRecord } from "../../src/cli/replay/event-records.ts";
import type { Config } from "../../src/config/config.ts";
import { actor } from "../../src/contract/actor.ts";
import { stretchesReader } from "../../src/daemon/baselines.ts";
import { evaluateLocally } from "../../src/service/local-evaluation.ts";
import { defaultThresholds } from "../../src/spike/thresholds.ts";
import { createAlertingWorld, type AlertingWorld } from "../support/alerting-world.ts";
import { resultReport } from "../support/reports.ts";

const gate: GatePolicy = { releaseOn: ["judged"], whenUnknown: "allow" };
const organizations = [{ slug: "acme", baselineExclude: "judged", thresholds: defaultThresholds }];
const config = { organizations } as unknown as Config;
const kim = actor("kim", "token");

let world: AlertingWorld;
beforeEach(async () => {
  world = await createAlertingWorld();
});
afterEach(() => world.close());

/** What the gate answers now. */
async function askGate(): Promise<string> {
  const { store, clock } = world;
  const facts = {
    failures: await store.gate.failures("acme"),
    checkers: await store.judgements.judgedChecker("acme"),
    isKnown: true,
    nowMs: clock.nowMs(),
    windowHours: 24,
  };
  const { decision, reason } = decideGate(facts, gate);
  return `${decision} ${reason}`;
}

/** Each hour of the past and of what follows: one death, or sixty while the checker is broken. */
async function storeDeaths(fromMs: number, brokenHours: number, hours: number): Promise<void> {
  const events = [];
  for (let hour = -9 * 24; hour < hours; hour++) {
    const count = hour >= 0 && hour < brokenHours ? 60 : 1;
    const atMs = fromMs + hour * hourMs + 30 * minuteMs;
    events.push({ slug: "acme", atMs, status: "DETECTED_AS_DEAD", count, assetType: null, asset: null, id: null });
  }
  await world.store.events.add(events);
}

it("gets over a checker that was broken for ten days and judged on day one, and keeps the gate shut until it is released", async () => {
  const { store, clock } = world;
  const startMs = clock.nowMs();
  const brokenHours = 240;
  await storeDeaths(startMs, brokenHours, 500);
  const counts = { ...store.events, ...stretchesReader(config, store) };
  const seen: { atMs: number; severity: string; exclusion: unknown; expectedCount: number }[] = [];
  const context = () => ({
    store,
    settings: { gateOf: () => gate, receivers: [] } as unknown as AlertingSettings,
    nowMs: clock.nowMs(),
  });
  let endedAs: unknown = null;

  for (let hour = 1; hour <= 480; hour++) {
    await world.advance(hourMs);
    const nowMs = clock.nowMs();
    const evaluation = { slug: "acme", thresholds: defaultThresholds, baseline: "mean", appUrl: null, nowMs } as const;
    const result = await evaluateLocally(evaluation, counts);
    const { severity, observed } = result;
    await world.record({ ...resultReport({ severity, startedAtMs: nowMs }), result });
    const { baselineExclusion: exclusion, expectedCount } = observed;
    seen.push({ atMs: nowMs, severity, exclusion, expectedCount });
    const [live] = await store.alerts.allLive();
    if (hour === 24 && live !== undefined)
      await judgeAlert(context(), {
        alertId: live.id,
        verdict: "checker",
        comment: "captcha",
        author: kim,
      });
    if (live === undefined && endedAs === null && hour > 24) endedAs = { hour, exclusion };
  }

  // It is left out for as long as half of the baseline is sound, and its deaths are not expected meanwhile.
  const applied = seen.filter(({ exclusion }) => exclusion === "applied");
  expect(applied.length).toBeGreaterThan(48);
  for (const { expectedCount } of applied.slice(1, 48)) expect(expectedCount).toBeCloseTo(24, 0);
  // Then the incident is in the baseline, and what came of that says so.
  expect(endedAs).toMatchObject({ exclusion: "too_much" });
  expect(await store.alerts.allLive()).toEqual([]);
  expect(seen.at(-1)).toMatchObject({ severity: "ok" });
  const [ended] = await store.alerts.ended({ check: "dead-asset-spike", slug: "acme", fromMs: 0, limit: 9 });
  expect(ended).toMatchObject({ end: { isByRun: true, baselineExclusion: "too_much" } });
  expect(await askGate()).toBe("hold fail_latched");

  await releaseGate(context(), { slug: "acme", author: kim, comment: "the checker is mended" });

  expect(await askGate()).toBe("allow released");

  // A backtest over the same events decides as the daemon did at each of its runs.
  const stretches = (await stretchesReader(config, store).stretches?.(["acme"]))?.get("acme") ?? [];
  const record = await readStoredRecord(store.events, "acme", {
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 3, repeatIntervalMs: 0, minBaselineCoverage: 0 };
  const replayed: { atMs: number; severity: string; expectedCount: number }[] = [];
  const candidate = { thresholds: defaultThresholds, baseline: "mean", policy, maxSilenceMs: null, stretches } as const;
  const replay = new Replay(record, [candidate], (_index, { atMs, severity, expectedCount }) =>
    replayed.push({ atMs, severity, expectedCount }),
  );
  // What ran before the judgement of that hour did not know of it.
  for (const { atMs } of seen) if (atMs > startMs + 25 * hourMs) replay.run(atMs);
  expect(replayed).toEqual(
    seen
      .filter(({ atMs }) => atMs > startMs + 25 * hourMs)
      .map(({ atMs, severity, expectedCount }) => ({ atMs, severity, expectedCount })),
  );
}, 60_000);

it("opens by itself where the checker is mended before the baseline is full of it", async () => {
  const { store, clock } = world;
  await storeDeaths(clock.nowMs(), 30, 200);
  const counts = { ...store.events, ...stretchesReader(config, store) };
  const context = () => ({
    store,
    settings: { gateOf: () => gate, receivers: [] } as unknown as AlertingSettings,
    nowMs: clock.nowMs(),
  });

  for (let hour = 1; hour <= 80; hour++) {
    await world.advance(hourMs);
    const nowMs = clock.nowMs();
    const evaluation = { slug: "acme", thresholds: defaultThresholds, baseline: "mean", appUrl: null, nowMs } as const;
    const result = await evaluateLocally(evaluation, counts);
    await world.record({ ...resultReport({ severity: result.severity, startedAtMs: nowMs }), result });
    const [live] = await store.alerts.allLive();
    const act = { verdict: "checker", comment: null, author: kim } as const;
    if (hour === 24 && live !== undefined) await judgeAlert(context(), { ...act, alertId: live.id });
    if (hour === 40) expect(await askGate()).toBe("hold fail_firing");
  }

  expect(await store.alerts.allLive()).toEqual([]);
  expect(await askGate()).toBe("allow released");
  expect(await store.gate.releases("acme", 9)).toMatchObject([{ how: "judged", by: null }]);
}, 60_000);
