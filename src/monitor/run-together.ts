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

/**
 * Runs the checks of many organizations at once; null for an organization that is not ok or unknown, which gets a run of its
 * own. One read answers for all of them what their first events were.
 */
export async function runTogether(
  targets: readonly CheckTarget[],
  deps: RunTogetherDeps,
): Promise<(CheckReport | null)[]> {
  const startedAtMs = deps.clock.nowMs();
  const fit = targets.filter(isFit);
  const results = await deps.evaluate(fit, startedAtMs);
  const ok = fit.flatMap((target, index) => {
    const result = results[index];
    return result?.severity === "ok" ? [{ target, result }] : [];
  });
  const firstEvents = await deps.firstEvents(ok.map(({ target }) => target.slug));
  const finishedAtMs = deps.clock.nowMs();
  const runs = new Map<CheckTarget, CheckReport>();
  for (const { target, result } of ok) {
    const { check, slug, thresholds, whenNoEvents } = target;
    const base = { check, slug, startedAtMs, finishedAtMs };
    if (!firstEvents.has(slug) && whenNoEvents === "unknown") {
      const error = { reason: "no_events", message: noEvents(slug).message } as const;
      runs.set(target, { ...base, kind: "error", severity: "unknown", error });
      continue;
    }
    const baselineCoverage = coverageOfBaseline(thresholds, startedAtMs, firstEvents.get(slug) ?? null);
    const counts = observedCounts(result, deps.observedKeys);
    runs.set(target, { ...base, result, baselineCoverage, kind: "result", severity: "ok", counts });
  }
  return targets.map((target) => runs.get(target) ?? null);
}

/** Returns whether a run needs nothing but its counts. */
function isFit(target: CheckTarget): target is SpikeTarget {
  return isSpike(target) && target.maxSilenceMs === undefined;
}
