import type { CheckName } from "../contract/report.ts";
import { readReport, writeReport } from "./check-reports.ts";
import { rowStatement } from "./row-statement.ts";
import type { CheckState, FinishedRun } from "./schedule.ts";
import type { Db } from "./schema.ts";

interface CompletedRow {
  readonly check_name: CheckName;
  readonly slug: string;
  readonly last_success_at_ms: number | null;
  readonly severity_since_ms: number;
  readonly last_result_report: string | null;
}

/** `held` is what has to be so of a row for its run to be recorded, and `fence` what becomes of its fence. */
function completion({ held, fence }: { readonly held: string; readonly fence: string }) {
  // last_result_report is only kept apart while the last report is an error. The right sides see the row as it was.
  return rowStatement<CompletedRow>(
    ["text", "text", "text", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text"],
    (values) => `
    with done (check_name, slug, owner, fence, due_at_ms, next_due_at_ms, finished_at_ms, is_result, severity, report)
      as (${values})
    update checks set next_due_at_ms = done.next_due_at_ms, lease_owner = null, lease_until_ms = 0, fence = ${fence},
      last_run_at_ms = done.finished_at_ms,
      last_success_at_ms = case when done.is_result = 1 then done.finished_at_ms else checks.last_success_at_ms end,
      severity = done.severity,
      severity_since_ms =
        case when checks.severity = done.severity then checks.severity_since_ms else done.finished_at_ms end,
      last_result_report = case
        when done.is_result = 1 then null
        when checks.severity <> 'unknown' then checks.last_report
        else checks.last_result_report end,
      last_report = done.report
    from done
    where checks.check_name = done.check_name and checks.slug = done.slug and checks.fence = done.fence and ${held}
    returning checks.check_name, checks.slug, checks.last_success_at_ms, checks.severity_since_ms,
      checks.last_result_report`,
  );
}

const completeLeased = completion({ held: "checks.lease_owner = done.owner", fence: "checks.fence" });
// A lease that had run out is taken over, as by a claim: its holder comes too late from now on. Who gets a lease again, or
// ends a run after all, is seen by the fence or by the due time.
const completeUnleased = completion({
  held: "checks.next_due_at_ms = done.due_at_ms and checks.lease_until_ms <= done.finished_at_ms",
  fence: "checks.fence + 1",
});

/** Ends runs (ScheduleStore.completeAll): many rows a statement, because a statement costs more than a row of it. */
export async function completeRuns(db: Db, done: readonly FinishedRun[]): Promise<(CheckState | null)[]> {
  const leased = done.filter(({ owner }) => owner !== null);
  const unleased = done.filter(({ owner }) => owner === null);
  const rows = [
    ...(await completeLeased(db, leased.map(valuesOf))),
    ...(await completeUnleased(db, unleased.map(valuesOf))),
  ];
  const completed = new Map(rows.map((row) => [keyOf(row.check_name, row.slug), row]));
  return done.map((one) => {
    const row = completed.get(keyOf(one.run.check, one.run.slug));
    return row === undefined ? null : stateAfter(one, row);
  });
}

function valuesOf({ run, owner, report, nextDueAtMs }: FinishedRun): (string | number | null)[] {
  const { severity, finishedAtMs } = report;
  const isResult = report.kind === "result" ? 1 : 0;
  const times = [run.fence, run.dueAtMs, nextDueAtMs, finishedAtMs] as const;
  return [run.check, run.slug, owner, ...times, isResult, severity, writeReport(report)];
}

function stateAfter({ run, report, nextDueAtMs }: FinishedRun, row: CompletedRow): CheckState {
  return {
    check: run.check,
    slug: run.slug,
    nextDueAtMs,
    isRunning: false,
    lastRunAtMs: report.finishedAtMs,
    lastSuccessAtMs: row.last_success_at_ms,
    severity: report.severity,
    severitySinceMs: row.severity_since_ms,
    lastReport: report,
    lastResultReport: report.kind === "result" ? report : readReport(row.last_result_report),
  };
}

function keyOf(check: CheckName, slug: string): string {
  return `${check} ${slug}`;
}
