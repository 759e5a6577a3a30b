import { minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { CheckReport } from "../contract/report.ts";
import { coverageOfBaseline, type SpikeTarget } from "../checks/dead-asset-spike/dead-asset-spike.ts";
import type { ReadFirstEvents } from "../checks/kind.ts";
import { noEvents } from "../checks/stored-events.ts";
import { observedCounts, type RunCheckDeps } from "./run-check.ts";
import { isSpike, type CheckTarget } from "../checks/checks.ts";

export interface RunTogetherDeps extends Pick<RunCheckDeps, "clock" | "observedKeys"> {
  /** The results of these targets at one instant, in order; null for one that has to be run on its own. */
  readonly evaluate: (targets: readonly SpikeTarget[], nowMs: number) => Promise<readonly (HealthcheckResult | null)[]>;
  readonly firstEvents: ReadFirstEvents;
}

// Only what removes old events can make a baseline incomplete that was complete.
const completeForMs = minuteMs;

/**
 * Runs the checks of many organizations at once; null for an organization that is not ok or unknown, which gets a run of its
 * own. One read answers for all of them what their first events were.
 */
export function createTogetherRunner(): (
  targets: readonly CheckTarget[],
  deps: RunTogetherDeps,
) => Promise<(CheckReport | null)[]> {
  const known = new Map<string, { readonly atMs: number; readonly readAtMs: number }>();

  /** An older event may have come since the last read; it changes nothing only where the baseline is complete without it. */
  function isComplete({ slug, thresholds }: SpikeTarget, nowMs: number): boolean {
    const first = known.get(slug);
    if (first === undefined || Math.abs(nowMs - first.readAtMs) >= completeForMs) return false;
    return coverageOfBaseline(thresholds, nowMs, first.atMs) === 1;
  }

  /** Reads the coverage of those that ever had an event. */
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

  async function evaluate(
    targets: readonly SpikeTarget[],
    deps: RunTogetherDeps,
    startedAtMs: number,
  ): Promise<ReadonlyMap<CheckTarget, CheckReport>> {
    const results = await deps.evaluate(targets, startedAtMs);
    const isOk = (index: number): boolean => results[index]?.severity === "ok";
    const ok = targets.filter((_, index) => isOk(index));
    const coverages = await readCoverages(ok, deps, startedAtMs);
    const finishedAtMs = deps.clock.nowMs();
    const runs = new Map<CheckTarget, CheckReport>();
    for (const [index, target] of targets.entries()) {
      const result = results[index] ?? null;
      if (result === null || !isOk(index)) continue;
      const base = { check: target.check, slug: target.slug, startedAtMs, finishedAtMs };
      const baselineCoverage = coverages.get(target.slug);
      if (baselineCoverage === undefined && target.whenNoEvents === "unknown") {
        const error = { reason: "no_events", message: noEvents(target.slug).message } as const;
        runs.set(target, { ...base, kind: "error", severity: "unknown", error });
        continue;
      }
      const counts = observedCounts(result, deps.observedKeys);
      const coverage = baselineCoverage ?? 0;
      runs.set(target, { ...base, result, baselineCoverage: coverage, kind: "result", severity: "ok", counts });
    }
    return runs;
  }

  return async (targets, deps) => {
    const runs = await evaluate(targets.filter(isFit), deps, deps.clock.nowMs());
    return targets.map((target) => runs.get(target) ?? null);
  };
}

/** Returns whether a run needs nothing but its counts. */
function isFit(target: CheckTarget): target is SpikeTarget {
  return isSpike(target) && target.maxSilenceMs === undefined;
}
