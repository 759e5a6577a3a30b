import { countingOf } from "../contract/death-counts.ts";
import type { CheckReport } from "../contract/report.ts";
import { noEvidence } from "../contract/spike-evidence.ts";
import type { AlertFound } from "../store/alerts/alerts.ts";
import type { Run } from "../store/runs/check-state.ts";
import type { RunFacts } from "./decide/transition.ts";

export interface FinishedRun {
  readonly run: Run;
  readonly report: CheckReport;
  readonly nextDueAtMs: number;
}

/** Returns the facts of a report besides its verdict, as far as they can be read. */
export function reportFacts(report: CheckReport): RunFacts {
  const found = foundIn(report);
  if (report.kind !== "result" || report.check !== "dead-asset-spike") return { found };
  const onset = report.evidence?.onset ?? null;
  const { windowHours } = report.result.threshold;
  const { baselineDaysKnown } = report.result.observed;
  return {
    found,
    ...(onset === null ? {} : { onset }),
    ...(typeof windowHours === "number" && windowHours > 0 ? { windowHours } : {}),
    ...(typeof baselineDaysKnown === "number" ? { baselineDaysKnown } : {}),
  };
}

function foundIn(report: CheckReport): AlertFound {
  if (report.kind === "error") return { deaths: null, carriers: [], revived: null, cause: null, error: report.error };
  const { counts, result, evidence = noEvidence } = report;
  const { currentCount: count, expectedCount: expected } = counts;
  const { carriers, revived, cause, excess } = evidence;
  const counting = countingOf(result) === "assets" ? ({ counting: "assets" } as const) : {};
  return {
    deaths: count === null || expected === null ? null : { count, expected, ...counting },
    carriers,
    revived,
    cause,
    ...(excess === null ? {} : { excess }),
    error: null,
  };
}

// Runs begin up to seconds late, and not evenly. A longer delay has a cause.
const onTimeShare = 0.25;

/**
 * Returns the run's time for the waits of alerts: the due time, if the run began at most a quarter of its interval
 * later; else its start. With start times, milliseconds would decide whether `for: 10m` ends with the third or the
 * fourth of runs every 5 minutes.
 */
export function runTimeMs({ run: { dueAtMs }, report: { startedAtMs }, nextDueAtMs }: FinishedRun): number {
  const lagMs = startedAtMs - dueAtMs;
  return lagMs >= 0 && lagMs <= (nextDueAtMs - dueAtMs) * onTimeShare ? dueAtMs : startedAtMs;
}
