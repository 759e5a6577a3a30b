import type { ColumnType, Kysely } from "kysely";
import type { CheckName } from "../contract/report.ts";

/** An integer primary key that the database numbers. */
type RowId = ColumnType<number, number | undefined, never>;

/** The tables of runs, as the database spells them; those of the events are read in SQL only (store/events/). */
export interface PlainTables {
  readonly checks: { readonly check_id: RowId; readonly check_name: CheckName; readonly slug: string };
  readonly writer: { readonly epoch: number; readonly holder: string; readonly expires_at_ms: number };
}

/** The database, or a transaction on it, for runs and events; all else has `Db` (tables.ts). */
export type PlainDb = Kysely<PlainTables>;
