import type { UnchangedRun } from "../alerting/finished-run.ts";
import { dayMs, hourMs, minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { CountsHold } from "../contract/liveness-counts.ts";
import type { ErrorReport, ResultReport } from "../contract/report.ts";
import { splitReport, type SplitReport } from "../store/runs/report-shape.ts";
import { coverageOfBaseline, type SpikeTarget } from "../checks/dead-asset-spike/dead-asset-spike.ts";
import type { ReadFirstEvents } from "../checks/kind.ts";
import { noEvents } from "../checks/stored-events.ts";
import { observedCounts, type RunCheckDeps } from "./run-check.ts";
import type { CheckTarget } from "../checks/checks.ts";

/** A result, and how long it stays the same but for its time; null: it may be another one at any time. */
export interface TogetherResult {
  readonly result: HealthcheckResult;
  readonly hold: CountsHold | null;
}

export interface RunTogetherDeps extends Pick<RunCheckDeps, "clock" | "version" | "observedKeys"> {
  /** The results of these targets at one instant, in order; null for one that has to be run on its own. */
  readonly evaluate: (targets: readonly SpikeTarget[], nowMs: number) => Promise<readonly (TogetherResult | null)[]>;
  readonly firstEvents: ReadFirstEvents;
  /** Reads what ends holds since the last call; false: none is valid. */
  readonly follow: () => boolean;
}

/** The report of a check; null: it has to be run on its own. */
export type TogetherReport = ResultReport | ErrorReport | UnchangedRun | null;

// Only what removes old events can make a baseline incomplete that was complete.
const completeForMs = minuteMs;

/** An ok report that the next runs repeat for as long as its counts hold. */
interface HeldReport {
  readonly report: ResultReport;
  readonly hold: CountsHold;
  /** From here on its baseline is complete. */
  readonly fromMs: number;
  /** Made when the report is first repeated. */
  split: SplitReport | null;
}

/**
 * Runs the checks of many organizations at once; an organization that is not ok or unknown gets a run of its own. One read
 * answers for all of them what their first events were. A check whose counts cannot have changed is not evaluated again.
 */
export function createTogetherRunner(): (
  targets: readonly CheckTarget[],
  deps: RunTogetherDeps,
) => Promise<TogetherReport[]> {
  const known = new Map<string, { readonly atMs: number; readonly readAtMs: number }>();
  // By target: a new configuration has new ones.
  const held = new WeakMap<CheckTarget, HeldReport>();

  /** An older event may have come since the last read; it changes nothing only where the baseline is complete without it. */
  function isComplete({ slug, thresholds }: SpikeTarget, nowMs: number): boolean {
    const first = known.get(slug);
    if (first === undefined || Math.abs(nowMs - first.readAtMs) >= completeForMs) return false;
    return coverageOfBaseline(thresholds, nowMs, first.atMs) === 1;
  }

  /** Of those of which an event was ever stored. */
  async function readCoverages(
    targets: readonly SpikeTarget[],
    deps: RunTogetherDeps,
    nowMs: number,
  ): Promise<ReadonlyMap<string, number>> {
    const asked = targets.filter((target) => !isComplete(target, nowMs)).map(({ slug }) => slug);
    const firstEvents = asked.length === 0 ? new Map<string, number | null>() : await deps.firstEvents(asked);
    for (const slug of asked) {
      const atMs = firstEvents.get(slug) ?? null;
      if (atMs === null) known.delete(slug);
      else known.set(slug, { atMs, readAtMs: nowMs });
    }
    const seen = targets.filter(({ slug }) => known.has(slug) || firstEvents.has(slug));
    return new Map(
      seen.map(({ slug, thresholds }) => [slug, coverageOfBaseline(thresholds, nowMs, known.get(slug)?.atMs ?? null)]),
    );
  }

  function unchanged(target: CheckTarget, nowMs: number): UnchangedRun | null {
    const one = held.get(target);
    if (one === undefined || nowMs < one.fromMs || !one.hold.holdsAt(nowMs)) return null;
    const { check, slug, severity, counts } = one.report;
    const split = (one.split ??= splitReport(one.report));
    return { kind: "unchanged", check, slug, severity, counts, split, startedAtMs: nowMs, finishedAtMs: nowMs };
  }

  function hold(target: SpikeTarget, report: ResultReport, counts: CountsHold | null): void {
    const firstAtMs = known.get(target.slug)?.atMs;
    if (counts === null || firstAtMs === undefined || report.baselineCoverage !== 1) return void held.delete(target);
    const { windowHours, baselineDays } = target.thresholds;
    const fromMs = firstAtMs + windowHours * hourMs + baselineDays * dayMs;
    held.set(target, { report, hold: counts, fromMs, split: null });
  }

  async function evaluate(
    targets: readonly SpikeTarget[],
    deps: RunTogetherDeps,
    startedAtMs: number,
  ): Promise<ReadonlyMap<CheckTarget, TogetherReport>> {
    const results = await deps.evaluate(targets, startedAtMs);
    const isOk = (index: number): boolean => results[index]?.result.severity === "ok";
    const ok = targets.filter((_, index) => isOk(index));
    const coverages = await readCoverages(ok, deps, startedAtMs);
    const finishedAtMs = deps.clock.nowMs();
    const version = deps.version === undefined ? {} : { version: deps.version };
    const reports = new Map<CheckTarget, TogetherReport>();
    for (const [index, target] of targets.entries()) {
      const evaluated = results[index] ?? null;
      if (evaluated === null || !isOk(index)) continue;
      const { result } = evaluated;
      const base = { check: target.check, slug: target.slug, startedAtMs, finishedAtMs, ...version };
      const baselineCoverage = coverages.get(target.slug);
      if (baselineCoverage === undefined && target.whenNoEvents === "unknown") {
        const error = { reason: "no_events", message: noEvents(target.slug).message } as const;
        reports.set(target, { ...base, kind: "error", severity: "unknown", error });
        continue;
      }
      const counts = observedCounts(result, deps.observedKeys);
      const coverage = baselineCoverage ?? 0;
      const report = { ...base, result, baselineCoverage: coverage, kind: "result", severity: "ok", counts } as const;
      hold(target, report, evaluated.hold);
      reports.set(target, report);
    }
    return reports;
  }

  return async (targets, deps) => {
    const startedAtMs = deps.clock.nowMs();
    const isFollowed = deps.follow();
    const reports: TogetherReport[] = targets.map((target) => (isFollowed ? unchanged(target, startedAtMs) : null));
    const changed = targets.filter((target, index): target is SpikeTarget => reports[index] === null && isFit(target));
    if (changed.length === 0) return reports;
    const evaluated = await evaluate(changed, deps, startedAtMs);
    return targets.map((target, index) => reports[index] ?? evaluated.get(target) ?? null);
  };
}

/** Whose run waits for nothing but its counts. */
function isFit(target: CheckTarget): target is SpikeTarget {
  return target.check === "dead-asset-spike" && target.maxSilenceMs === undefined;
}
