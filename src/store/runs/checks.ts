import { sql } from "kysely";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf, type CellValue, type ValueType } from "../engine/dialect.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { PlainDb } from "../schema.ts";
import { addChecks, findChecks } from "./check-numbers.ts";
import { isStoredReport } from "./reports.ts";
import { CheckState, type CheckKey } from "./check-state.ts";
import { pointOf } from "./run-point.ts";

/** A check with its number in the tables of runs, and its last state; null: it has not run, or that cannot be read. */
export interface StoredCheck extends CheckKey {
  readonly checkId: number;
  readonly state: CheckState | null;
}

/** A run of a commit, and the state that it leaves. */
export interface CommittedRun {
  readonly checkId: number;
  readonly report: CheckReport;
  readonly state: CheckState;
}

// These never change for a check, and a column that is set to the same value costs its index as much as another value.
const unset = new Set(["check_id", "check_name", "slug", "at_ms"]);

const saveStates = upsert("checks", ["check_id"], {
  check_id: "bigint",
  check_name: "text",
  slug: "text",
  due_at_ms: "bigint",
  is_asked: "bigint",
  severity_since_ms: "bigint",
  report: "text",
  last_result: "text",
  kept_at_ms: "bigint",
  kept_digest: "text",
});
const addRuns = upsert("runs", ["check_id", "at_ms"], {
  check_id: "bigint",
  at_ms: "bigint",
  evaluated_at_ms: "bigint",
  severity: "bigint",
  current_count: "double precision",
  baseline_count: "double precision",
  expected_count: "double precision",
  window_hours: "bigint",
  baseline_days: "bigint",
});

/** Creates the access to the checks, their last states and their runs. */
export function createCheckTable(db: PlainDb) {
  return {
    /** Returns the numbers of these checks by checkKey, and creates missing ones. */
    addChecks: (keys: readonly CheckKey[]): Promise<ReadonlyMap<string, number>> =>
      inTransaction(db, (db) => addChecks(db, keys)),
    /** Returns the numbers of these checks by checkKey; none for one that was never configured. */
    findChecks: (keys: readonly CheckKey[]): Promise<ReadonlyMap<string, number>> => findChecks(db, keys),
    /** Returns all checks. */
    load: (): Promise<readonly StoredCheck[]> => readChecks(db),
    /** Stores runs, at most one of each check, and the states that they leave. */
    commit: (runs: readonly CommittedRun[]): Promise<void> =>
      inTransaction(db, async (db) => {
        await saveStates(db, runs.map(stateCells));
        await addRuns(db, runs.map(runCells));
      }),
    /** Returns whether a commit of these runs was stored, of which only the answer was lost. */
    isStored: async ([run]: readonly CommittedRun[]): Promise<boolean> => {
      if (run === undefined) return true;
      // A commit whose connection was lost may not have ended yet.
      const { rows } = await sql<Pick<CheckRow, "due_at_ms" | "report">>`
        select due_at_ms, report from checks where check_id = ${run.checkId} ${dialectOf(db).lock("for update")}`.execute(
        db,
      );
      return rows[0]?.report === run.state.text && rows[0].due_at_ms === run.state.dueAtMs;
    },
    /** Deletes the last states of checks that are no longer configured; their history stays. */
    forget: async (checkIds: readonly number[]): Promise<void> => {
      for (const slice of chunksOf(checkIds)) {
        const ids = sql.join(slice);
        await sql`update checks set report = null, last_result = null
          where check_id in (${ids})`.execute(db);
      }
    },
  };
}

interface CheckRow {
  readonly check_id: number;
  readonly check_name: CheckName;
  readonly slug: string;
  readonly due_at_ms: number;
  readonly is_asked: number;
  readonly severity_since_ms: number;
  readonly report: string | null;
  readonly last_result: string | null;
  readonly kept_at_ms: number | null;
  readonly kept_digest: string | null;
}

async function readChecks(db: PlainDb): Promise<StoredCheck[]> {
  const { rows } = await sql<CheckRow>`
    select check_id, check_name, slug, due_at_ms, is_asked, severity_since_ms, report, last_result, kept_at_ms, kept_digest
    from checks`.execute(db);
  return rows.map((row) => ({ checkId: row.check_id, check: row.check_name, slug: row.slug, state: readState(row) }));
}

function readState(row: CheckRow): CheckState | null {
  const report = readReport(row.report);
  if (row.report === null || report === null) return null;
  const isResult = report.kind === "result";
  const result = isResult ? report : readReport(row.last_result);
  const origin = { dueAtMs: row.due_at_ms, isAsked: row.is_asked !== 0 };
  return new CheckState(report, row.report, origin, {
    severitySinceMs: row.severity_since_ms,
    resultText: result === null ? null : isResult ? row.report : row.last_result,
    lastSuccessAtMs: result?.finishedAtMs ?? null,
    kept: row.kept_at_ms === null ? null : { atMs: row.kept_at_ms, digest: row.kept_digest ?? "" },
  });
}

/** Returns a report as it was stored; null for none, or one of a version that cannot be read. */
function readReport(text: string | null): CheckReport | null {
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  return isStoredReport(value) ? value : null;
}

function stateCells({ checkId, state }: CommittedRun): CellValue[] {
  const { check, slug, dueAtMs, isAsked, severitySinceMs, text, resultText, kept } = state;
  const cells = [checkId, check, slug, dueAtMs, Number(isAsked), severitySinceMs];
  return [...cells, text, resultText === text ? null : resultText, kept?.atMs ?? null, kept?.digest ?? null];
}

function runCells({ checkId, report }: CommittedRun): CellValue[] {
  const { atMs, evaluatedAtMs, severity, currentCount, baselineCount, expectedCount, rule } = pointOf(report);
  const cells = [checkId, atMs, evaluatedAtMs, severities.indexOf(severity)];
  const { windowHours = null, baselineDays = null } = rule ?? {};
  return [...cells, currentCount, baselineCount, expectedCount, windowHours, baselineDays];
}

/** Creates a statement that writes rows over those with the same key. */
function upsert(table: string, key: readonly string[], columns: Readonly<Record<string, ValueType>>) {
  const names = Object.keys(columns);
  const set = names.filter((name) => !unset.has(name)).map((name) => `${name} = excluded.${name}`);
  return rowStatement(
    Object.values(columns),
    (rows) => `
      insert into ${table} (${names.join(", ")}) ${rows}
      on conflict (${key.join(", ")}) do update set ${set.join(", ")}`,
  );
}
