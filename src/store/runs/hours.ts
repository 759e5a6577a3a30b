import { sql } from "kysely";
import { hourMs } from "../../base/time.ts";
import { checkKey } from "../../contract/check-key.ts";
import { severities } from "../../contract/severity.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Pruned } from "../prune-limits.ts";
import type { PlainDb } from "../schema.ts";
import type { CheckKey } from "./check-state.ts";
import { findChecks } from "./check-numbers.ts";
import { packHour, unpackHour } from "./packed-hour.ts";
import { mergeRuns, type RunPoint } from "./run-point.ts";

/** Runs of one check that ended in the same hour. */
export interface HourRecord {
  readonly checkId: number;
  /** Hours since the epoch. */
  readonly hour: number;
  readonly points: readonly RunPoint[];
}

/** Creates the access to the history of runs: an hour of a check is one row, the runs since then are a row each. */
export function createHourTable(db: PlainDb) {
  return {
    /** Returns the runs of a check that ended in (fromMs, toMs], oldest first. */
    runsOf: async ({ fromMs, toMs, ...key }: CheckKey & { readonly fromMs: number; readonly toMs: number }) => {
      const checkId = (await findChecks(db, [key])).get(checkKey(key));
      if (checkId === undefined) return [];
      // The runs in no hour are read first: those that are folded meanwhile are then in both, not in neither.
      const { rows } = await sql<RunRow>`select ${runColumns} from runs
        where check_id = ${checkId} and at_ms > ${fromMs} and at_ms <= ${toMs}`.execute(db);
      const hours = { from: Math.floor(fromMs / hourMs), to: Math.floor(toMs / hourMs) };
      const folded = (await readHours(db, checkId, hours)).flatMap(({ runs }) => unpackHour(runs));
      return mergeRuns(folded, rows.map(readRun)).filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
    },
    /** Returns when the first run of a check ended; null without one. */
    firstRunAtMs: async (key: CheckKey): Promise<number | null> => {
      const checkId = (await findChecks(db, [key])).get(checkKey(key));
      if (checkId === undefined) return null;
      const { rows } = await sql<{ at_ms: number | null }>`
        select min(at_ms) as at_ms from runs where check_id = ${checkId}`.execute(db);
      const [first] = await readHours(db, checkId, { from: 0, to: Number.MAX_SAFE_INTEGER }, 1);
      const ends = [rows[0]?.at_ms ?? null, first === undefined ? null : unpackHour(first.runs)[0]?.atMs];
      const known = ends.filter((atMs) => typeof atMs === "number");
      return known.length === 0 ? null : Math.min(...known);
    },
    /** Returns the runs of these checks, at most some hundred, that ended in [fromMs, toMs) and are in no hour yet, by hour. */
    openHours: async (
      checkIds: readonly number[],
      { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    ) => {
      const ids = new Set(checkIds);
      const [first, last] = endsOf(ids);
      const { rows } = await sql<RunRow>`select ${runColumns} from runs
        where check_id between ${first} and ${last} and at_ms >= ${fromMs} and at_ms < ${toMs}
        order by check_id, at_ms`.execute(db);
      return byHour(rows.filter((row) => ids.has(row.check_id)));
    },
    /** Returns the runs of these checks in one folded hour. */
    foldedHour: async (hour: number, checkIds: ReadonlySet<number>): Promise<HourRecord[]> => {
      const rows = await readHour(db, hour, checkIds, sql<{ runs: Uint8Array }>`runs`);
      return rows.map((row) => ({ checkId: row.check_id, hour, points: unpackHour(row.runs) }));
    },
    /** Merges runs into hours. */
    mergeHours: (hours: readonly HourRecord[]): Promise<void> => inTransaction(db, (db) => mergeHours(db, hours)),
    /**
     * Moves the runs that ended before the instant into hours, of some checks after the number `afterId`: about 10 ms of the
     * store's lock. Returns the number up to which it came; null: there is nothing more to move.
     */
    foldRuns: (afterId: number, beforeMs: number): Promise<number | null> =>
      inTransaction(db, async (db) => {
        const { rows: next } = await sql<{ check_id: number }>`
          select check_id from runs where check_id > ${afterId} and at_ms < ${beforeMs}
          order by check_id limit 1`.execute(db);
        const firstId = next[0]?.check_id;
        if (firstId === undefined) return null;
        const lastId = firstId + foldedChecks - 1;
        const where = sql`check_id >= ${firstId} and check_id <= ${lastId} and at_ms < ${beforeMs}`;
        const { rows } = await sql<RunRow>`
          select ${runColumns} from runs where ${where} order by check_id, at_ms`.execute(db);
        await mergeHours(db, byHour(rows));
        await sql`delete from runs where ${where}`.execute(db);
        return lastId;
      }),
    /** Deletes hours that ended before the instant, as whole rows. */
    pruneHours: async ({
      beforeMs,
      maxRows,
    }: {
      readonly beforeMs: number;
      readonly maxRows: number;
    }): Promise<Pruned> => {
      const { numAffectedRows } = await sql`
        delete from hours where (hour, check_id) in (
          select hour, check_id from hours where hour < ${Math.floor(beforeMs / hourMs)}
          order by hour, check_id limit ${maxRows})`.execute(db);
      return { hasMore: Number(numAffectedRows ?? 0n) >= maxRows };
    },
  };
}

const foldedChecks = 100;

interface RunRow {
  readonly check_id: number;
  readonly at_ms: number;
  readonly evaluated_at_ms: number;
  readonly severity: number;
  readonly current_count: number | null;
  readonly baseline_count: number | null;
  readonly expected_count: number | null;
  readonly window_hours: number | null;
  readonly baseline_days: number | null;
}

const runColumns = sql.raw(
  "check_id, at_ms, evaluated_at_ms, severity, current_count, baseline_count, expected_count, window_hours, baseline_days",
);

function readRun(row: RunRow): RunPoint {
  const { window_hours: windowHours, baseline_days: baselineDays } = row;
  return {
    atMs: row.at_ms,
    evaluatedAtMs: row.evaluated_at_ms,
    severity: severities[row.severity] ?? "unknown",
    currentCount: row.current_count,
    baselineCount: row.baseline_count,
    expectedCount: row.expected_count,
    rule: windowHours === null || baselineDays === null ? null : { windowHours, baselineDays },
  };
}

function byHour(rows: readonly RunRow[]): HourRecord[] {
  const groups = Map.groupBy(rows, (row) => `${row.check_id} ${Math.floor(row.at_ms / hourMs)}`);
  return [...groups.values()].map((own) => {
    const { check_id: checkId = 0, at_ms = 0 } = own[0] ?? {};
    return { checkId, hour: Math.floor(at_ms / hourMs), points: own.map(readRun) };
  });
}

const selectHours = rowStatement<{ readonly hour: number; readonly check_id: number; readonly runs: Uint8Array }>(
  ["bigint", "bigint"],
  (values) => `select hour, check_id, runs from hours where (hour, check_id) in (${values})`,
);
const saveHours = rowStatement(
  ["bigint", "bigint", "bigint", "bigint", "double precision", "bytea"],
  (values) => `
    insert into hours (hour, check_id, last_at_ms, last_severity, last_count, runs) ${values}
    on conflict (hour, check_id) do update set last_at_ms = excluded.last_at_ms, last_severity = excluded.last_severity,
      last_count = excluded.last_count, runs = excluded.runs`,
);

async function mergeHours(db: PlainDb, hours: readonly HourRecord[]): Promise<void> {
  const rows = hours.map(({ checkId, hour }) => [hour, checkId] as const);
  const known = new Map(
    (await selectHours(db, rows)).map((row) => [`${row.hour} ${row.check_id}`, unpackHour(row.runs)]),
  );
  const cells = hours.flatMap(({ checkId, hour, points }) => {
    const runs = mergeRuns(known.get(`${hour} ${checkId}`) ?? [], points);
    const last = runs.at(-1);
    if (last === undefined) return [];
    return [[hour, checkId, last.atMs, severities.indexOf(last.severity), last.currentCount, packHour(runs)]];
  });
  await saveHours(db, cells);
}

/**
 * Reads hour by hour: the key begins with the hour, so that a fold and a deletion touch few pages. Each end is a query of its
 * own: SQLite looks up one minimum or maximum, but reads the whole table for both (75 ms of 336,000 rows, 2026-11).
 */
async function readHours(
  db: PlainDb,
  checkId: number,
  { from, to }: { readonly from: number; readonly to: number },
  limit = Number.MAX_SAFE_INTEGER,
) {
  const { rows } = await sql<{ readonly hour: number; readonly runs: Uint8Array }>`
    with recursive ends (first, last) as (
      select (select min(hour) from hours), (select max(hour) from hours)),
    bounds (first, last) as (
      select case when first > ${from} then first else ${from} end, case when last < ${to} then last else ${to} end
      from ends where last is not null),
    span (hour) as (
      select first from bounds where first <= last
      union all select span.hour + 1 from span, bounds where span.hour < bounds.last)
    select hours.hour, hours.runs from span
    join hours on hours.hour = span.hour and hours.check_id = ${checkId}
    order by hours.hour limit ${limit}`.execute(db);
  return rows;
}

/** Reads columns of these checks in one hour. */
async function readHour<Columns>(
  db: PlainDb,
  hour: number,
  checkIds: ReadonlySet<number>,
  columns: ReturnType<typeof sql<Columns>>,
) {
  // The range of the numbers is a condition too: those of a fleet lie side by side, and ten thousand parameters cost more
  // than the rows.
  const [first, last] = endsOf(checkIds);
  const { rows } = await sql<Columns & { readonly check_id: number }>`
    select check_id, ${columns} from hours where hour = ${hour} and check_id between ${first} and ${last}`.execute(db);
  return rows.filter((row) => checkIds.has(row.check_id));
}

function endsOf(numbers: Iterable<number>): readonly [number, number] {
  let [first, last] = [Number.MAX_SAFE_INTEGER, 0];
  for (const number of numbers) [first, last] = [Math.min(first, number), Math.max(last, number)];
  return [first, last];
}
