import { sql } from "kysely";

import { rowStatement } from "../engine/row-statement.ts";
import type { PlainDb } from "../schema.ts";
import { mergeRuns, packHour, unpackHour } from "./hour-runs.ts";
import type { HourRecord } from "./runs.ts";

const selectHours = rowStatement<{ readonly hour: number; readonly check_id: number; readonly runs: Uint8Array }>(
  ["bigint", "bigint"],
  (values) => `select hour, check_id, runs from check_hours where (hour, check_id) in (${values})`,
);
const saveHours = rowStatement(
  ["bigint", "bigint", "bytea"],
  (values) => `
    insert into check_hours (hour, check_id, runs) ${values}
    on conflict (hour, check_id) do update set runs = excluded.runs`,
);
/** Merges runs into the stored hours, within a transaction. */
export async function mergeHours(db: PlainDb, hours: readonly HourRecord[]): Promise<void> {
  const rows = hours.map(({ checkId, hour }) => [hour, checkId] as const);
  const known = new Map(
    (await selectHours(db, rows)).map((row) => [`${row.hour} ${row.check_id}`, unpackHour(row.runs)]),
  );
  await saveHours(
    db,
    hours.map(({ checkId, hour, points }) => [
      hour,
      checkId,
      packHour(mergeRuns(known.get(`${hour} ${checkId}`) ?? [], points)),
    ]),
  );
}

/**
 * Reads hour by hour: the key begins with the hour, so that a fold and a deletion touch few pages. Each end is a query of its
 * own: SQLite looks up one minimum or maximum, but reads the whole table for both (75 ms of 336,000 rows, 2026-11).
 */
export async function readHours(
  db: PlainDb,
  checkId: number,
  { from, to }: { readonly from: number; readonly to: number },
  limit = Number.MAX_SAFE_INTEGER,
) {
  return sql<{ hour: number; runs: Uint8Array }>`
    with recursive ends (first, last) as (
      select (select min(hour) from check_hours), (select max(hour) from check_hours)),
    bounds (first, last) as (
      select case when first > ${from} then first else ${from} end, case when last < ${to} then last else ${to} end
      from ends where last is not null),
    span (hour) as (
      select first from bounds where first <= last
      union all select span.hour + 1 from span, bounds where span.hour < bounds.last)
    select check_hours.hour, check_hours.runs from span
    join check_hours on check_hours.hour = span.hour and check_hours.check_id = ${checkId}
    order by check_hours.hour limit ${limit}`.execute(db);
}

/** Reads the runs of these checks in one hour. */
export async function readHour(db: PlainDb, hour: number, checkIds: ReadonlySet<number>): Promise<HourRecord[]> {
  // By the ends of a range: the numbers of a fleet lie side by side, and ten thousand parameters cost more than the rows.
  const [first, last] = endsOf(checkIds);
  const { rows } = await sql<{ check_id: number; runs: Uint8Array }>`
    select check_id, runs from check_hours where hour = ${hour} and check_id between ${first} and ${last}`.execute(db);
  return rows
    .filter((row) => checkIds.has(row.check_id))
    .map((row) => ({ checkId: row.check_id, hour, points: unpackHour(row.runs) }));
}

function endsOf(numbers: Iterable<number>): readonly [number, number] {
  let [first, last] = [Number.MAX_SAFE_INTEGER, 0];
  for (const number of numbers) [first, last] = [Math.min(first, number), Math.max(last, number)];
  return [first, last];
}
