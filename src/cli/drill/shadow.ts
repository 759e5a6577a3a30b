import { judgeAlert } from "../../alerting/acts/judge.ts";
import { decideGate, type GateDecision } from "../../alerting/decide/gate.ts";
import { stretchOf } from "../../alerting/decide/stretch.ts";
import { recordRun, type Recorder } from "../../alerting/record.ts";
import type { AlertingSettings } from "../../alerting/settings.ts";
import { FlatlineError } from "../../base/errors.ts";
import { dayMs, hourMs, minuteMs, type Clock } from "../../base/time.ts";
import type { Config, ReceiverConfig } from "../../config/config.ts";
import { actor } from "../../contract/actor.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckReport } from "../../contract/report.ts";
import { runCheck } from "../../monitor/run-check.ts";
import type { CheckTarget } from "../../checks/checks.ts";
import { evaluateLocally } from "../../service/local-evaluation.ts";
import { createLocalPlatformSource } from "../../service/local-platform-source.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import type { LivenessEvent } from "../../store/events/events.ts";
import type { Owner } from "../../store/runs/owners.ts";
import type { Store } from "../../store/store.ts";

/** The shadow organization: no configured one can be meant by it, because no check runs under it. */
export const drillSlug = "flatline-drill";

/** The shadow organization over a store of its own. */
export interface Shadow {
  /** Replaces its liveness events by those of a checker that breaks, or works again. */
  store(phase: "firing" | "resolved"): Promise<void>;
  evaluate(signal: AbortSignal): Promise<CheckReport>;
  /** Makes a run durable; answers what it changed. */
  record(report: CheckReport): Promise<readonly string[]>;
  /** Says of its alert that the checker was wrong. */
  judge(): Promise<JudgementVerdict>;
  gate(): Promise<GateDecision>;
  /** Returns how many deaths a day are expected when the incident is in the baseline, and when it is left out. */
  expectTomorrow(): Promise<{ readonly withIt: number; readonly without: number }>;
}

const check = "dead-asset-spike";
const runTimeoutMs = 30_000;
const { windowHours } = defaultThresholds;
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
    incidentWithinMs: 30 * 60_000,
    fleet: null,
    externalUrl: config.alerting.externalUrl,
    // A platform acts on a judgement by itself, and cannot know that it is of a drill.
    receivers: receivers.map((receiver) => ({ ...receiver, match: null, sendActs: false, sendComments: false })),
    silences: [],
    gateOf: () => config.defaults.gate,
    targetOf: () => ({ policy, receivers: routed, labels: {}, url: null, isDrill: true }),
  };
}

/** Creates the shadow organization over `store`, which must be empty. */
export function createShadow(deps: {
  readonly store: Store;
  readonly owner: Owner;
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly settings: AlertingSettings;
}): Shadow {
  const { store, owner, clock, recorder, settings } = deps;
  const source = createLocalPlatformSource({ store, clock, appUrl: null, organizations: [drillSlug] });
  const observedKeys = {
    currentCount: "currentCount",
    baselineCount: "baselineCount",
    expectedCount: "expectedCount",
    ratio: "ratio",
  };
  const storeEvents = async (nowMs: number, isRegression: boolean): Promise<void> => {
    while ((await store.events.prune({ beforeMs: nowMs + hourMs, maxRows: 1_000 })).hasMore);
    await store.events.add(syntheticEvents(nowMs, isRegression));
  };
  return {
    store: (phase) => storeEvents(clock.nowMs(), phase === "firing"),
    evaluate: (signal) => runCheck(target, { source, clock, observedKeys }, clock.timeout(runTimeoutMs, signal)),
    record: async (report) => {
      const nowMs = clock.nowMs();
      const run = { check, slug: drillSlug, dueAtMs: nowMs, isAsked: true, owner } as const;
      const { changes } = await recordRun(recorder, { run, report, nextDueAtMs: nowMs + hourMs });
      return changes.map(({ event }) => event);
    },
    judge: async () => {
      const [alert] = await store.alerts.live(check, drillSlug);
      if (alert === undefined) throw new FlatlineError("internal", "the drill has no alert to judge");
      const author = actor("drill", "cli");
      const judgement = { alertId: alert.id, verdict: "checker", author, comment: null, mayOpenGate: true } as const;
      await judgeAlert({ store, settings, nowMs: clock.nowMs() }, judgement);
      return judgement.verdict;
    },
    gate: async () =>
      decideGate(
        {
          failures: await store.gate.failures(drillSlug),
          checkers: await store.judgements.judgedChecker(drillSlug),
          isKnown: true,
          nowMs: clock.nowMs(),
          windowHours,
        },
        settings.gateOf(drillSlug),
      ),
    expectTomorrow: async () => {
      const nowMs = clock.nowMs();
      await storeEvents(nowMs, true);
      const judged = await store.judgements.judgedChecker(drillSlug);
      const stretches = judged.flatMap((kept) => stretchOf(kept, windowHours) ?? []);
      const later = {
        slug: drillSlug,
        thresholds: defaultThresholds,
        baseline: "mean",
        appUrl: null,
        nowMs: nowMs + dayMs + hourMs,
      } as const;
      const [withIt, without] = [
        await evaluateLocally(later, store.events),
        await evaluateLocally({ ...later, stretches }, store.events),
      ];
      return { withIt: withIt.observed.expectedCount, without: without.observed.expectedCount };
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
  const spike = (assetType: string, count: number, assetOf: (index: number) => string): LivenessEvent[] =>
    Array.from({ length: count }, (_, index) => {
      return { ...common, atMs: nowMs - minuteMs, assetType, asset: assetOf(index + 1), count: 1 };
    });
  return [
    ...week,
    ...spike("URL", 90, (index) => `https://drill-${index}.example/login`),
    ...spike("EMAIL", 30, (index) => `drill-${index}@drill.example`),
  ];
}
