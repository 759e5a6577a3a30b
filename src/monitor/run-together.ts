import { minuteMs } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { ResultReport } from "../contract/report.ts";
import { coverageOfBaseline, observedCounts, type RunCheckDeps } from "./run-check.ts";
import type { CheckTarget } from "./target.ts";

/** A spike check. */
export type SpikeTarget = Extract<CheckTarget, { check: "dead-asset-spike" }>;

export interface RunTogetherDeps extends Pick<RunCheckDeps, "clock" | "version" | "observedKeys"> {
  /** The results of these targets at one instant, in order; null for one that has to be run on its own. */
  readonly evaluate: (targets: readonly SpikeTarget[], nowMs: number) => Promise<readonly (HealthcheckResult | null)[]>;
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
}

// Only what removes old events can make a baseline incomplete that was complete.
const completeForMs = minuteMs;

/** Runs the checks of many organizations at once; what is not ok, or cannot be told, is left to a run of its own. */
export function createTogetherRunner(): (
  targets: readonly CheckTarget[],
  deps: RunTogetherDeps,
) => Promise<(ResultReport | null)[]> {
  const firstEvents = new Map<string, { readonly atMs: number; readonly readAtMs: number }>();

  /** null: has to be read. */
  function knownCoverage({ slug, thresholds }: SpikeTarget, nowMs: number): number | null {
    const known = firstEvents.get(slug);
    if (known === undefined || Math.abs(nowMs - known.readAtMs) >= completeForMs) return null;
    // An older event may have come since; it changes nothing only where the baseline is complete without it.
    return coverageOfBaseline(thresholds, nowMs, known.atMs) === 1 ? 1 : null;
  }

  async function readCoverage(
    { slug, thresholds }: SpikeTarget,
    deps: RunTogetherDeps,
    nowMs: number,
  ): Promise<number> {
    const atMs = await deps.firstEventAtMs(slug);
    if (atMs === null) firstEvents.delete(slug);
    else firstEvents.set(slug, { atMs, readAtMs: nowMs });
    return coverageOfBaseline(thresholds, nowMs, atMs);
  }

  return async (targets, deps) => {
    const { clock, observedKeys } = deps;
    const startedAtMs = clock.nowMs();
    const version = deps.version === undefined ? {} : { version: deps.version };
    const fit = targets.filter(isFit);
    const results = await deps.evaluate(fit, startedAtMs);
    const evaluated = new Map<CheckTarget, { readonly result: HealthcheckResult; readonly baselineCoverage: number }>();
    for (const [index, target] of fit.entries()) {
      const result = results[index] ?? null;
      if (result?.severity !== "ok") continue;
      const known = knownCoverage(target, startedAtMs);
      const baselineCoverage = known ?? (await readCoverage(target, deps, startedAtMs));
      evaluated.set(target, { result, baselineCoverage });
    }
    const finishedAtMs = clock.nowMs();
    return targets.map((target) => {
      const found = evaluated.get(target);
      if (found === undefined) return null;
      const { result, baselineCoverage } = found;
      const counts = observedCounts(result, observedKeys);
      const base = { check: target.check, slug: target.slug, startedAtMs, ...version };
      return { ...base, result, baselineCoverage, kind: "result", finishedAtMs, severity: "ok", counts };
    });
  };
}

/** Whose run waits for nothing but its counts. */
function isFit(target: CheckTarget): target is SpikeTarget {
  return target.check === "dead-asset-spike" && target.maxSilenceMs === undefined;
}
