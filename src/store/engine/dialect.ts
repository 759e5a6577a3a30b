import { PostgresAdapter, sql, type Kysely, type RawBuilder } from "kysely";
import { createSystemClock, type Clock } from "../../base/time.ts";

/** Column types that both databases know. */
export type ValueType = "bigint" | "text" | "double precision" | "bytea";

/** A cell of a row. */
export type CellValue = string | number | Uint8Array | null;

// Lists have a few lengths only, so that their statements stay prepared.
const sqliteLengths = [256, 64, 16, 4, 1] as const;
const postgresRows = 4_096;

/** Where the two databases differ in SQL. A statement that differs asks for the difference, never for the database. */
export interface StoreDialect {
  readonly engine: "sqlite" | "postgres";
  /**
   * Several transactions write at once, so one that relies on rows must lock them. SQLite has one write transaction at a time,
   * which all others wait for, and no locks of rows.
   */
  readonly hasConcurrentWriters: boolean;
  /**
   * How many versions ahead of the program the schema may be: replicas of two versions run side by side during an upgrade. A
   * file has one flatline, which is upgraded as a whole.
   */
  readonly versionsAhead: number;
  /** Returns the lock of a select's rows as text; nothing where no other transaction writes. */
  readonly lock: (text: string) => RawBuilder<unknown>;
  /** Returns a table with the one column `value`, from one parameter: the statement's text is the same for any number of texts. */
  readonly texts: (values: readonly string[]) => RawBuilder<unknown>;
  /** Returns how many of so many rows one statement takes. */
  readonly rowsAtOnce: (rows: number) => number;
  /** Returns a query of so many rows, with a column for each type. */
  readonly rowsText: (types: readonly ValueType[], rows: number) => string;
  /** Returns the parameters of {@link rowsText}. */
  readonly rowsParameters: (types: readonly ValueType[], rows: readonly (readonly CellValue[])[]) => unknown[];
  /** Whether counts come from running sums in memory, which follow a journal of changes (store/events/sums). */
  readonly hasSums: boolean;
  /** Returns what ends the DDL of a temporary table whose rows last so long; on SQLite they last until they are deleted. */
  readonly temporaryEnd: (life: "transaction" | "connection") => string;
  /** Moves the log of a large transaction into the database, so that the next commit of another process does not. */
  readonly shortenLog: <Schema>(db: Kysely<Schema>) => Promise<void>;
  /** Returns a condition: that the value before it is one of a query's. */
  readonly isOneOf: (query: RawBuilder<unknown>) => RawBuilder<boolean>;
  /** Translates DDL from SQLite's dialect, in which migrations are written. */
  readonly ddl: (statement: string) => string;
}

/** Both dialects, by their engine. */
export const dialects = {
  sqlite: {
    engine: "sqlite",
    hasConcurrentWriters: false,
    versionsAhead: 0,
    lock: () => sql.raw(""),
    texts: (values) => sql`json_each(${JSON.stringify(values)})`,
    rowsAtOnce: (rows) => sqliteLengths.find((length) => length <= rows) ?? 1,
    rowsText: (types, rows) => {
      const row = `(${types.map(() => "?").join(", ")})`;
      return `values ${Array.from({ length: rows }, () => row).join(", ")}`;
    },
    rowsParameters: (_, rows) => rows.flat(),
    hasSums: true,
    temporaryEnd: () => "",
    shortenLog: async (db) => {
      await sql`pragma busy_timeout = 1000`.execute(db);
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    },
    isOneOf: (query) => sql<boolean>`in (${query})`,
    ddl: (statement) => statement,
  },
  postgres: {
    engine: "postgres",
    hasConcurrentWriters: true,
    versionsAhead: 1,
    lock: (text) => sql.raw(text),
    texts: (values) => sql`(select unnest(${values}::text[]) as value)`,
    // One parameter for each column takes a third of one for each cell, and gives one text for any number of rows.
    rowsAtOnce: (rows) => Math.min(rows, postgresRows),
    rowsText: (types) => `select ${types.map((type, column) => `unnest($${column + 1}::${type}[])`).join(", ")}`,
    rowsParameters: (types, rows) =>
      types.map((type, column) => {
        const cells = rows.map((row) => row[column] ?? null);
        // pg would convert each number separately.
        return type === "bigint" ? `{${cells.map((cell) => cell ?? "null").join(",")}}` : cells;
      }),
    hasSums: false,
    temporaryEnd: (life) => ` ON COMMIT ${life === "transaction" ? "DELETE" : "PRESERVE"} ROWS`,
    shortenLog: () => Promise.resolve(),
    // The index is searched for each of them: as a join, all rows might be read.
    isOneOf: (query) => sql<boolean>`= any(array(${query}))`,
    // Every integer becomes a BIGINT, so that a parameter next to it does too; text is ordered by bytes, as in SQLite; generated
    // keys become identities; descending indexes are dropped, because PostgreSQL reads an index backwards.
    ddl: (statement) =>
      statement
        .replaceAll(/\bINTEGER PRIMARY KEY(?: AUTOINCREMENT)?/g, "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
        .replaceAll(/\bINTEGER\b/g, "BIGINT")
        .replaceAll(/\bREAL\b/g, "DOUBLE PRECISION")
        .replaceAll(/\bBLOB\b/g, "BYTEA")
        .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
        .replaceAll(/ DESC\b/g, "")
        .replaceAll(/\s*\bWITHOUT ROWID\b/g, ""),
  },
} as const satisfies Record<string, StoreDialect>;

/** Returns the dialect of a connection or transaction. */
export function dialectOf<Schema>(db: Kysely<Schema>): StoreDialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? dialects.postgres : dialects.sqlite;
}

/** The adapter of a PostgreSQL whose work is paced by the clock of its process. */
export class ClockedPostgresAdapter extends PostgresAdapter {
  readonly clock: Clock;

  constructor(clock: Clock) {
    super();
    this.clock = clock;
  }
}

/** Returns the clock by which work on a connection or transaction is tried again. */
export function clockOf<Schema>(db: Kysely<Schema>): Clock {
  const { adapter } = db.getExecutor();
  return adapter instanceof ClockedPostgresAdapter ? adapter.clock : createSystemClock();
}

/**
 * The clock that decides about leases. `database`: the server's clock, which all replicas share. `caller`: the instant that
 * the caller passes, for a file on one machine and for tests with a virtual clock.
 */
export type LeaseClock = "database" | "caller";

// STABLE, unlike clock_timestamp(): an index can be used.
const databaseNowMs = sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** Returns the current time of the lease clock, epoch ms, as an SQL expression. */
export function leaseNow(leaseClock: LeaseClock, callerNowMs: number): RawBuilder<number> {
  return leaseClock === "database" ? databaseNowMs : sql<number>`${callerNowMs}`;
}

/** Converts the instant `atMs` of the caller's clock to the lease clock. */
export function leaseInstant(leaseClock: LeaseClock, atMs: number, callerNowMs: number): RawBuilder<number> {
  if (leaseClock === "caller") return sql<number>`${atMs}`;
  return sql<number>`${databaseNowMs} + cast(${atMs - callerNowMs} as bigint)`;
}
