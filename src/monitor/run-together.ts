import { minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { CheckReport, ErrorReport, ResultReport } from "../contract/report.ts";
import { coverageOfBaseline, noEvents, observedCounts, type ReadFirstEvents, type RunCheckDeps } from "./run-check.ts";
import type { CheckTarget } from "../checks/target.ts";

/** A spike check. */
export type SpikeTarget = Extract<CheckTarget, { check: "dead-asset-spike" }>;

export interface RunTogetherDeps extends Pick<RunCheckDeps, "clock" | "version" | "observedKeys"> {
  /** The results of these targets at one instant, in order; null for one that has to be run on its own. */
  readonly evaluate: (targets: readonly SpikeTarget[], nowMs: number) => Promise<readonly (HealthcheckResult | null)[]>;
  readonly firstEvents: ReadFirstEvents;
}

// Only what removes old events can make a baseline incomplete that was complete.
const completeForMs = minuteMs;

/**
 * Runs the checks of many organizations at once; an organization that is not ok or unknown gets a run of its own. One read
 * answers for all of them what their first events were.
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

  return async (targets, deps) => {
    const { clock, observedKeys } = deps;
    const startedAtMs = clock.nowMs();
    const version = deps.version === undefined ? {} : { version: deps.version };
    const fit = targets.filter(isFit);
    const results = await deps.evaluate(fit, startedAtMs);
    const ok = new Map<CheckTarget, HealthcheckResult>();
    for (const [index, target] of fit.entries()) {
      const result = results[index] ?? null;
      if (result?.severity === "ok") ok.set(target, result);
    }
    const coverages = await readCoverages(
      fit.filter((target) => ok.has(target)),
      deps,
      startedAtMs,
    );
    const finishedAtMs = clock.nowMs();
    return targets.map((target): ResultReport | ErrorReport | null => {
      const result = ok.get(target);
      if (result === undefined || !isFit(target)) return null;
      const base = { check: target.check, slug: target.slug, startedAtMs, finishedAtMs, ...version };
      const baselineCoverage = coverages.get(target.slug);
      if (baselineCoverage === undefined && target.whenNoEvents === "unknown") {
        const { message } = noEvents(target.slug);
        return { ...base, kind: "error", severity: "unknown", error: { reason: "no_events", message } };
      }
      const counts = observedCounts(result, observedKeys);
      return { ...base, result, baselineCoverage: baselineCoverage ?? 0, kind: "result", severity: "ok", counts };
    });
  };
}

/** Whose run waits for nothing but its counts. */
function isFit(target: CheckTarget): target is SpikeTarget {
  return target.check === "dead-asset-spike" && target.maxSilenceMs === undefined;
}
