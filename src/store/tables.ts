import { CamelCasePlugin, type ColumnType, type Kysely } from "kysely";
import type { CheckName } from "../contract/report.ts";

/** An integer primary key that the database numbers. */
export type RowId = ColumnType<number, number | undefined, never>;

/** The tables of runs and of the writer, as the database spells them; those of events are read in SQL only. */
export interface PlainTables {
  readonly checks: { readonly check_id: RowId; readonly check_name: CheckName; readonly slug: string };
  readonly writer: { readonly epoch: number; readonly holder: string; readonly expires_at_ms: number };
}

/** The database, or a transaction on it, for runs and events. */
export type PlainDb = Kysely<PlainTables>;

/**
 * The database, or a transaction on it, for all else. Columns have the names that the code gives them; in the database
 * and in SQL they are written with underscores. Each part of the store says what its tables are.
 */
export type Db<Tables> = Kysely<Tables>;

const spelling = new CamelCasePlugin({ maintainNestedObjectKeys: true });

/** Returns the same connection or transaction for any tables whose columns are named as in the code. */
export function namedAsInCode(db: PlainDb): <Tables>() => Db<Tables> {
  const named: unknown = db.withPlugin(spelling);
  return <Tables>() => named as Db<Tables>;
}

/** The rows that one step deletes of a table: at or before `beforeMs`, at most `maxRows` of them. */
export interface PruneLimits {
  readonly beforeMs: number;
  readonly maxRows: number;
}

/** Whether another step is needed. */
export interface Pruned {
  readonly hasMore: boolean;
}
