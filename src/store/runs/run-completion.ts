import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { readParts, readReport, writeParts, writeReport } from "./check-reports.ts";
import { engineOf } from "../engine/engine.ts";
import type { ReportParts } from "./report-parts.ts";
import { rowStatement, type CellValue } from "../engine/row-statement.ts";
import type { CheckState, FinishedRun } from "./schedule.ts";
import type { Db } from "../schema.ts";

interface CompletedRow {
  readonly check_id: number;
  readonly check_name: CheckName;
  readonly slug: string;
  readonly last_success_at_ms: number | null;
  readonly severity_since_ms: number;
  readonly last_result_report: string | null;
  /** Of the last result, after a run without one. */
  readonly report_values: Uint8Array | null;
  readonly report_shape: string | null;
}

interface StoredRun {
  readonly done: FinishedRun;
  /** null: the report is kept whole. */
  readonly parts: ReportParts | null;
}

/** `held` is what has to be so of a row for its run to be recorded, and `fence` what becomes of its fence. */
function completion({ held, fence }: { readonly held: string; readonly fence: string }) {
  // last_result_report is only kept apart while the last report is an error. The right sides see the row as it was.
  return rowStatement<CompletedRow>(
    ["text", "text", "text", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text", "bytea"],
    (values) => `
    with done (check_name, slug, owner, fence, due_at_ms, next_due_at_ms, finished_at_ms, is_result, severity, report,
      report_values) as (${values})
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
      last_report = done.report,
      report_values = case when done.is_result = 1 then done.report_values else checks.report_values end
    from done
    where checks.check_name = done.check_name and checks.slug = done.slug and checks.fence = done.fence and ${held}
    returning checks.check_id, checks.check_name, checks.slug, checks.last_success_at_ms, checks.severity_since_ms,
      checks.last_result_report, case when checks.severity = 'unknown' then checks.report_values end as report_values,
      checks.report_shape`,
  );
}

const completeLeased = completion({ held: "checks.lease_owner = done.owner", fence: "checks.fence" });
// A lease that had run out is taken over, as by a claim: its holder comes too late from now on. Who gets a lease again, or
// ends a run after all, is seen by the fence or by the due time.
const completeUnleased = completion({
  held: "checks.next_due_at_ms = done.due_at_ms and checks.lease_until_ms <= done.finished_at_ms",
  fence: "checks.fence + 1",
});

const saveShapes = rowStatement(
  ["bigint", "text", "text"],
  (values) => `
    insert into check_reports (check_id, shape_id, shape) ${values}
    on conflict (check_id) do update set shape_id = excluded.shape_id, shape = excluded.shape`,
);
const nameShapes = rowStatement(
  ["bigint", "text"],
  (values) => `
    with given (check_id, shape_id) as (${values})
    update checks set report_shape = given.shape_id from given where checks.check_id = given.check_id`,
);
const selectShapes = rowStatement<{ readonly check_id: number; readonly shape_id: string; readonly shape: string }>(
  ["bigint"],
  (values) => `select check_id, shape_id, shape from check_reports where check_id in (${values})`,
);

/** Ends runs (ScheduleStore.completeAll): many rows a statement, because a statement costs more than a row of it. */
export async function completeRuns(db: Db, done: readonly FinishedRun[]): Promise<(CheckState | null)[]> {
  // A replica of the version before knows whole reports only, and runs beside this one while they are replaced.
  const isWhole = engineOf(db) === "postgres";
  const runs = done.map((one): StoredRun => {
    const { report } = one;
    return { done: one, parts: isWhole || report.kind === "error" ? null : writeParts(report) };
  });
  const leased = runs.filter((run) => run.done.owner !== null);
  const unleased = runs.filter((run) => run.done.owner === null);
  const rows = [
    ...(await completeLeased(db, leased.map(valuesOf))),
    ...(await completeUnleased(db, unleased.map(valuesOf))),
  ];
  const completed = new Map(rows.map((row) => [checkKey(row.check_name, row.slug), row]));
  const rowOf = ({ run }: FinishedRun): CompletedRow | undefined => completed.get(checkKey(run.check, run.slug));
  await keepShapes(db, runs, rowOf);
  const shapes = await readShapes(db, rows);
  return done.map((one) => {
    const row = rowOf(one);
    return row === undefined ? null : stateAfter(one, row, shapes.get(row.check_id) ?? null);
  });
}

/** Writes the shapes of the reports that are not those of the run before. */
async function keepShapes(
  db: Db,
  runs: readonly StoredRun[],
  rowOf: (done: FinishedRun) => CompletedRow | undefined,
): Promise<void> {
  const changed = runs.flatMap(({ done, parts }) => {
    const row = parts === null ? undefined : rowOf(done);
    return parts === null || row === undefined || row.report_shape === parts.shapeId ? [] : [{ ...parts, row }];
  });
  await saveShapes(
    db,
    changed.map(({ row, shapeId, shape }) => [row.check_id, shapeId, shape]),
  );
  await nameShapes(
    db,
    changed.map(({ row, shapeId }) => [row.check_id, shapeId]),
  );
}

/** By check_id, the shapes of the last results of those whose run gave none. */
async function readShapes(db: Db, rows: readonly CompletedRow[]): Promise<Map<number, string>> {
  const wanted = new Map(
    rows.filter((row) => row.report_values !== null).map((row) => [row.check_id, row.report_shape]),
  );
  const found = await selectShapes(
    db,
    [...wanted.keys()].map((id) => [id]),
  );
  return new Map(
    found.filter((row) => row.shape_id === wanted.get(row.check_id)).map((row) => [row.check_id, row.shape]),
  );
}

function valuesOf({ done: { run, owner, report, nextDueAtMs }, parts }: StoredRun): CellValue[] {
  const { severity, finishedAtMs } = report;
  const isResult = report.kind === "result" ? 1 : 0;
  const times = [run.fence, run.dueAtMs, nextDueAtMs, finishedAtMs] as const;
  const whole = parts === null ? writeReport(report) : null;
  return [run.check, run.slug, owner, ...times, isResult, severity, whole, parts?.values ?? null];
}

function stateAfter({ run, report, nextDueAtMs }: FinishedRun, row: CompletedRow, shape: string | null): CheckState {
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
    lastResultReport: report.kind === "result" ? report : lastResultOf(row, shape),
  };
}

/** The report of the last run with a result, of a row whose last run gave none. */
export function lastResultOf(
  row: Pick<CompletedRow, "check_name" | "slug" | "last_success_at_ms" | "last_result_report" | "report_values">,
  shape: string | null,
): CheckReport | null {
  if (row.last_result_report !== null) return readReport(row.last_result_report);
  return readParts(
    { check: row.check_name, slug: row.slug, finishedAtMs: row.last_success_at_ms ?? 0 },
    { shape, values: row.report_values },
  );
}
