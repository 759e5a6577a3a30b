import { countingOf } from "../contract/death-counts.ts";
import type { CheckReport } from "../contract/report.ts";
import { noEvidence } from "../contract/spike-evidence.ts";
import type { AlertFound } from "../store/alerts/alerts.ts";
import type { Run } from "../store/runs/check-state.ts";
import type { RunFacts } from "./decide/transition.ts";

/** A run that has ended, to be made durable. */
export interface FinishedRun {
  readonly run: Run;
  readonly report: CheckReport;
  readonly nextDueAtMs: number;
}

/** Returns what a report says beside its verdict, as far as it can be read. */
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

// Runs begin some ms to seconds after they are due, each time others; what is later than that has waited for something.
const onTimeShare = 0.25;

/**
 * Returns the time at which a run counts for the waits of alerts: when it was due, if it began within a quarter of its
 * interval after that; else when it began. Measured between starts, `for: 10m` would end with the third or the fourth
 * of runs that come every 5 minutes, as a few milliseconds have it.
 */
export function runTimeMs({ run: { dueAtMs }, report: { startedAtMs }, nextDueAtMs }: FinishedRun): number {
  const lagMs = startedAtMs - dueAtMs;
  return lagMs >= 0 && lagMs <= (nextDueAtMs - dueAtMs) * onTimeShare ? dueAtMs : startedAtMs;
}
