import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readEventFiles, readStoredRecord } from "../../src/cli/replay/event-records.ts";
import { Replay } from "../../src/backtest/replay.ts";
import type { EventRecord } from "../../src/backtest/event-record.ts";
import { evaluationDeps } from "../../src/daemon/local-source.ts";
import { runCheck } from "../../src/monitor/run-check.ts";
import { apiRule, type SpikeRule } from "../../src/spike/evaluate.ts";
import { defaultThresholds } from "../../src/spike/spike.ts";
import type { LivenessEvent } from "../../src/store/events/rules.ts";
import { createScriptedSource } from "../support/far-side/scripted-source.ts";
import { createAlertingWorld, type AlertingWorld } from "../support/alerting-world.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const tickMs = 5 * 60_000;
const folder = fileURLToPath(new URL("../../examples/records", import.meta.url));
const policy = {
  forMs: 10 * 60_000,
  keepFiringForMs: hourMs,
  unknownAfter: 2,
  repeatIntervalMs: 0,
  minBaselineCoverage: 0.9,
};

/** Real days on which checkers broke, as each baseline sees them, and one whose stream falls silent. */
const watched = [
  { slug: "risk-mean", from: "riskhosts", day: "2019-10-22", baseline: "mean", historyDays: 30 },
  { slug: "risk-median", from: "riskhosts", day: "2019-10-22", baseline: "median", historyDays: 30 },
  { slug: "light-mean", from: "lightswitch", day: "2019-10-18", baseline: "mean", historyDays: 30 },
  { slug: "light-median", from: "lightswitch", day: "2019-10-18", baseline: "median", historyDays: 30 },
  {
    slug: "light-assets",
    from: "lightswitch",
    day: "2019-10-18",
    baseline: "median",
    historyDays: 30,
    count: "assets",
  },
  // Its first event is a few days old: the alert has to wait until enough of the baseline is covered.
  { slug: "light-young", from: "lightswitch", day: "2019-10-18", baseline: "median", historyDays: 7.5 },
  {
    slug: "risk-silent",
    from: "riskhosts",
    day: "2019-10-19",
    baseline: "mean",
    historyDays: 30,
    maxSilenceMs: 15 * hourMs,
  },
] as const;

function ruleOf(one: (typeof watched)[number]): SpikeRule {
  return { baseline: one.baseline, count: "count" in one ? one.count : "deaths" };
}

let world: AlertingWorld;
let startMs: number;
const changes = new Map<string, { atMs: number; event: string; severity: string; reason: string }[]>();
const live = new Map<string, ReturnType<Replay["run"]>[]>();

function eventsOf(record: EventRecord, one: (typeof watched)[number]): LivenessEvent[] {
  const dayStartMs = Date.parse(`${one.day}T00:00:00Z`);
  const event = (atMs: number, status: string, asset: string | null = null): LivenessEvent => ({
    atMs: atMs - dayStartMs + startMs,
    slug: one.slug,
    assetType: null,
    asset,
    status,
    id: null,
    count: 1,
  });
  const isNear = (atMs: number): boolean => atMs > dayStartMs - one.historyDays * dayMs && atMs <= dayStartMs + dayMs;
  // So few assets that each of them dies again and again.
  const assetOf = (death: number): string => `asset-${(record.deathAsset[death] ?? 0) % 400}`;
  const deaths = [...record.deathAtMs]
    .map((atMs, index) => ({ atMs, asset: "count" in one ? assetOf(index) : null }))
    .filter(({ atMs }) => isNear(atMs));
  const dead = new Set(deaths.map(({ atMs }) => atMs));
  const others = [...record.seenAtMs].filter((atMs) => isNear(atMs) && !dead.has(atMs));
  return [
    ...deaths.map(({ atMs, asset }) => event(atMs, "DETECTED_AS_DEAD", asset)),
    ...others.map((atMs) => event(atMs, "DETECTED_AS_ALIVE")),
  ].toSorted((left, right) => left.atMs - right.atMs);
}

beforeAll(async () => {
  const receivers = watched.map(({ slug }) => ({ name: slug, match: { slug } }));
  world = await createAlertingWorld({ slugs: watched.map(({ slug }) => slug), policy, receivers });
  const { clock, store } = world;
  startMs = clock.nowMs();
  const { signal } = new AbortController();
  const records = await readEventFiles({
    files: ["riskhosts.csv.gz", "lightswitch.csv.gz"].map((name) => join(folder, name)),
    signal,
    onProgress: () => undefined,
  });
  const rules = new Map(watched.map((one) => [one.slug as string, ruleOf(one)]));
  const deps = {
    source: createScriptedSource({}),
    ...evaluationDeps({ appUrl: null, ruleOf: (slug) => rules.get(slug) ?? apiRule }, store.events),
    clock,
    observedKeys: {
      currentCount: "currentCount",
      baselineCount: "baselineCount",
      expectedCount: "expectedCount",
      ratio: "ratio",
    },
    events: store,
  };
  const waiting = watched.map((one) => {
    const record = records.get(one.from);
    if (record === undefined) throw new Error(`no record of ${one.from}`);
    return { one, events: eventsOf(record, one) };
  });
  // Events come as they happen: of what is later nobody knows yet.
  for (let atMs = startMs; atMs <= startMs + dayMs; atMs += tickMs) {
    await world.advance(atMs - clock.nowMs());
    for (const { one, events } of waiting) {
      const later = events.findIndex((event) => event.atMs > atMs);
      const come = events.splice(0, later < 0 ? events.length : later);
      for (let at = 0; at < come.length; at += 500) await store.events.add(come.slice(at, at + 500));
      const target = {
        check: "dead-asset-spike" as const,
        slug: one.slug,
        schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 },
        thresholds: defaultThresholds,
        ...("maxSilenceMs" in one ? { maxSilenceMs: one.maxSilenceMs } : {}),
      };
      const report = await runCheck(target, deps, signal);
      const recorded = await world.record(report);
      const changed = recorded.changes.map(({ alert: { severity }, event, reason }) => ({
        atMs,
        event,
        severity,
        reason,
      }));
      changes.set(one.slug, [...(changes.get(one.slug) ?? []), ...changed]);
      const verdicts = live.get(one.slug) ?? [];
      live.set(one.slug, verdicts);
      verdicts.push({
        atMs,
        severity: report.severity,
        currentCount: report.kind === "result" ? (report.counts.currentCount ?? -1) : -1,
        expectedCount: report.kind === "result" ? (report.counts.expectedCount ?? -1) : -1,
      });
    }
  }
  await world.advance(hourMs);
});

afterAll(() => world.close());

describe("a day that was run live, and its backtest", () => {
  it.each(watched)("agree on every verdict and every notice: $slug", async (one) => {
    const { signal } = new AbortController();
    const record = await readStoredRecord(world.store.events, one.slug, { signal, onProgress: () => undefined });
    const replay = new Replay(record, {
      ...ruleOf(one),
      slug: one.slug,
      thresholds: defaultThresholds,
      policy,
      schedule: { pattern: "*/5 * * * *", timezone: "UTC", jitterMs: 0 },
      maxSilenceMs: "maxSilenceMs" in one ? one.maxSilenceMs : null,
    });
    const verdicts: unknown[] = [];

    for (let atMs = startMs; atMs <= startMs + dayMs; atMs += tickMs) {
      const verdict = replay.run(atMs);
      verdicts.push(verdict.severity === "unknown" ? { ...verdict, currentCount: -1, expectedCount: -1 } : verdict);
    }

    expect(verdicts).toEqual(live.get(one.slug));
    const told = world.sent(one.slug).flat();
    expect(replay.notices.map(({ event, severity }) => `${event} ${one.slug} ${severity}`)).toEqual(told);
    expect(replay.notices.map(({ atMs, event, severity, reason }) => ({ atMs, event, severity, reason }))).toEqual(
      changes.get(one.slug) ?? [],
    );
  });

  it("was worth living through: the median told of what the mean hid, and a silent stream was unknown", () => {
    expect(world.sent("risk-mean").flat()).toEqual([]);
    expect(world.sent("risk-median").flat()).toEqual(["firing risk-median fail"]);
    expect(world.sent("light-mean").flat()).toEqual(["firing light-mean warn", "escalated light-mean fail"]);
    expect(world.sent("risk-silent").flat()).toContain("unknown risk-silent unknown");
    expect(live.get("light-young")?.some(({ severity }) => severity === "fail")).toBe(true);
    const mostOf = (slug: string): number =>
      Math.max(...(live.get(slug) ?? []).map(({ currentCount }) => currentCount));
    expect(mostOf("light-median")).toBeGreaterThan(4_000);
    expect(mostOf("light-assets")).toBe(400);
  });
});
