import { sql } from "kysely";
import { checkKey } from "../../contract/check-key.ts";
import type { CheckName, CheckReport } from "../../contract/report.ts";
import { severities } from "../../contract/severity.ts";
import { chunksOf } from "../engine/chunks.ts";
import { dialectOf, inTransaction, rowStatement, type CellValue, type ValueType } from "../engine/dialect.ts";
import type { PlainDb } from "../tables.ts";
import { checkState, type CheckKey, type CheckState } from "./check-state.ts";

/** A check with its number in the tables of runs, and its last state; null: it has not run. */
export interface StoredCheck extends CheckKey {
  readonly checkId: number;
  readonly state: CheckState | null;
}

/** A run of a commit, and the state that it leaves. */
export interface StoredRun {
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
});
const addRuns = upsert("runs", ["check_id", "at_ms"], {
  check_id: "bigint",
  at_ms: "bigint",
  severity: "bigint",
  current_count: "double precision",
  expected_count: "double precision",
});
const insertChecks = rowStatement(
  ["text", "text"],
  (values) => `insert into checks (check_name, slug) ${values} on conflict (check_name, slug) do nothing`,
);

/** Creates the access to the checks, their last states and their runs. */
export function createCheckTable(db: PlainDb) {
  return {
    /** Returns the numbers of these checks by checkKey, and creates missing ones. */
    addChecks: (keys: readonly CheckKey[]): Promise<ReadonlyMap<string, number>> =>
      inTransaction(db, (db) => addChecks(db, keys)),
    /** Returns all checks. */
    load: (): Promise<readonly StoredCheck[]> => readChecks(db),
    /** Stores runs, at most one of each check, and the states that they leave. */
    commit: (runs: readonly StoredRun[]): Promise<void> =>
      inTransaction(db, async (db) => {
        await saveStates(db, runs.map(stateCells));
        await addRuns(db, runs.map(runCells));
      }),
    /** Returns whether a commit of these runs was stored, although its answer was lost. */
    isStored: async ([run]: readonly StoredRun[]): Promise<boolean> => {
      if (run === undefined) return true;
      // A commit whose connection was lost may not have ended yet.
      const { rows } = await sql<Pick<CheckRow, "due_at_ms" | "report">>`
        select due_at_ms, report from checks
        where check_id = ${run.checkId} ${dialectOf(db).lock("for update")}`.execute(db);
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

/** Returns the numbers of at least these checks by checkKey, and creates missing ones, within a transaction. */
export async function addChecks(db: PlainDb, keys: readonly CheckKey[]): Promise<Map<string, number>> {
  await insertChecks(
    db,
    keys.map(({ check, slug }) => [check, slug]),
  );
  const { rows } = await sql<Pick<CheckRow, "check_id" | "check_name" | "slug">>`
    select check_id, check_name, slug from checks`.execute(db);
  return new Map(rows.map((row) => [checkKey({ check: row.check_name, slug: row.slug }), row.check_id]));
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
}

async function readChecks(db: PlainDb): Promise<StoredCheck[]> {
  const { rows } = await sql<CheckRow>`
    select check_id, check_name, slug, due_at_ms, is_asked, severity_since_ms, report, last_result
    from checks`.execute(db);
  return rows.map((row) => ({ checkId: row.check_id, check: row.check_name, slug: row.slug, state: readState(row) }));
}

function readState(row: CheckRow): CheckState | null {
  if (row.report === null) return null;
  const report = JSON.parse(row.report) as CheckReport;
  const isResult = report.kind === "result";
  const result = row.last_result === null ? null : (JSON.parse(row.last_result) as CheckReport);
  const run = { dueAtMs: row.due_at_ms, isAsked: row.is_asked !== 0 };
  return checkState(report, row.report, run, {
    severitySinceMs: row.severity_since_ms,
    resultText: isResult ? row.report : row.last_result,
    lastSuccessAtMs: (isResult ? report : result)?.finishedAtMs ?? null,
    isKept: false,
  });
}

function stateCells({ checkId, state }: StoredRun): CellValue[] {
  const { check, slug, dueAtMs, isAsked, severitySinceMs, text, resultText } = state;
  const cells = [checkId, check, slug, dueAtMs, Number(isAsked), severitySinceMs];
  return [...cells, text, resultText === text ? null : resultText];
}

function runCells({ checkId, report }: StoredRun): CellValue[] {
  const { currentCount, expectedCount } = report.kind === "result" ? report.counts : noCounts;
  return [checkId, report.finishedAtMs, severities.indexOf(report.severity), currentCount, expectedCount];
}

const noCounts = { currentCount: null, expectedCount: null };

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
