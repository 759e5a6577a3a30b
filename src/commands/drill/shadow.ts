import type { Recorder } from "../../alerting/record.ts";
import type { AlertingSettings } from "../../alerting/settings.ts";
import { dayMs, hourMs, minuteMs, type Clock } from "../../base/time.ts";
import type { Config, ReceiverConfig } from "../../config/config.ts";
import type { CheckReport } from "../../contract/report.ts";
import { runCheck } from "../../monitor/run-check.ts";
import type { CheckTarget } from "../../monitor/target.ts";
import { createLocalPlatformSource } from "../../service/local-platform-source.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import type { LivenessEvent } from "../../store/events/events.ts";
import type { OwnJournal } from "../../store/runs/own-journal.ts";
import type { Store } from "../../store/store.ts";

/** The shadow organization: no configured one can be meant by it, as nobody's checks run under it. */
export const drillSlug = "flatline-drill";

/** The shadow organization over a store of its own. */
export interface Shadow {
  /** Replaces its liveness events by those of a checker that breaks, or works again. */
  store(phase: "firing" | "resolved"): Promise<void>;
  evaluate(signal: AbortSignal): Promise<CheckReport>;
  /** Makes a run durable; answers what it changed. */
  record(report: CheckReport): Promise<readonly string[]>;
}

const check = "dead-asset-spike";
const runTimeoutMs = 30_000;
const target: CheckTarget = {
  check,
  slug: drillSlug,
  schedule: { pattern: "@hourly", timezone: "UTC", jitterMs: 0 },
  thresholds: defaultThresholds,
};

/** Alerting for the shadow organization alone: to each chosen receiver, at once, whatever it is routed. */
export function drillSettings(config: Config, receivers: readonly ReceiverConfig[]): AlertingSettings {
  const policy = { forMs: 0, keepFiringForMs: 0, unknownAfter: 1, repeatIntervalMs: 0, minBaselineCoverage: 0 };
  const routed = receivers.map(({ name }) => ({ name, afterMs: 0 }));
  return {
    groupWaitMs: 0,
    groupIntervalMs: 0,
    fleet: null,
    externalUrl: config.alerting.externalUrl,
    receivers: receivers.map((receiver) => ({ ...receiver, match: null })),
    silences: [],
    gateOf: () => config.defaults.gate,
    targetOf: () => ({ policy, receivers: routed, labels: {}, url: null, isDrill: true }),
  };
}

/** The shadow organization over `store`, which must be empty. */
export function createShadow(deps: {
  readonly store: Store;
  readonly journal: OwnJournal;
  readonly clock: Clock;
  readonly recorder: Recorder;
}): Shadow {
  const { store, journal, clock, recorder } = deps;
  const source = createLocalPlatformSource({ store, clock, appUrl: null, organizations: [drillSlug] });
  const observedKeys = {
    currentCount: "currentCount",
    baselineCount: "baselineCount",
    expectedCount: "expectedCount",
    ratio: "ratio",
  };
  return {
    store: async (phase) => {
      const nowMs = clock.nowMs();
      await store.transaction(async ({ events }) => {
        while ((await events.prune({ beforeMs: nowMs + hourMs, maxRows: 1_000 })).hasMore);
        await events.add(syntheticEvents(nowMs, phase === "firing"));
      });
    },
    evaluate: (signal) => runCheck(target, { source, clock, observedKeys }, clock.timeout(runTimeoutMs, signal)),
    record: async (report) => {
      const nowMs = clock.nowMs();
      const run = { check, slug: drillSlug, dueAtMs: nowMs, isAsked: true, journal } as const;
      const { changes } = await recorder.record({ run, report, nextDueAtMs: nowMs + hourMs });
      return changes.map(({ event }) => event);
    },
  };
}

/** A quiet week, four deaths a day; then a day like that, or one with thirty times as many of two types. */
function syntheticEvents(nowMs: number, isRegression: boolean): LivenessEvent[] {
  const common = { slug: drillSlug, asset: null, status: "DETECTED_AS_DEAD", id: null };
  const quietDay = (atMs: number): LivenessEvent[] => [
    { ...common, atMs, assetType: "URL", count: 3 },
    { ...common, atMs, assetType: "EMAIL", count: 1 },
  ];
  const week = Array.from({ length: 7 }, (_, day) => quietDay(nowMs - (day + 1) * dayMs - hourMs)).flat();
  if (!isRegression) return [...week, ...quietDay(nowMs - hourMs)];
  return [
    ...week,
    { ...common, atMs: nowMs - minuteMs, assetType: "URL", count: 90 },
    { ...common, atMs: nowMs - minuteMs, assetType: "EMAIL", count: 30 },
  ];
}
