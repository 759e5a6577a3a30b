import type { Run } from "../alerting/finished-run.ts";
import type { CheckTarget } from "../checks/checks.ts";
import type { CheckReport } from "../contract/report.ts";
import { planOf, type RunPlan } from "./due-times.ts";
import type { OwnCheck } from "./own-checks.ts";

/** A run whose report is there, but not recorded yet. */
export interface EndedRun {
  readonly one: OwnCheck;
  readonly run: Run;
  readonly report: CheckReport;
  readonly durationMs: number;
}

/** A run that ended, with what follows from its times. */
export interface PlannedRun extends EndedRun, RunPlan {
  readonly schedule: CheckTarget["schedule"];
}

/** Plans when the check of a run is due again, by the schedule that holds now. */
export function planRun(ended: EndedRun): PlannedRun {
  const { one, run, report } = ended;
  // The configuration may be read again while the run is recorded.
  const { schedule, slug } = one.target;
  const { dueAtMs, isAsked } = run;
  const { startedAtMs, finishedAtMs } = report;
  const ran = { schedule, slug, dueAtMs, startedAtMs, finishedAtMs, isScheduled: !isAsked };
  return { ...ended, schedule, ...planOf(ran) };
}
