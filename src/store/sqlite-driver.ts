import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";

export interface SqliteDialectOptions {
  readonly path: string;
  readonly clock: Clock;
}

// A wait inside of SQLite blocks the event loop: it gets a blink, the rest is waited for outside.
const blockingWaitMs = 5;
const retryEveryMs = 5;
// Other writers hold the lock for at most 250 ms (CONTRACT 10); twenty of them in a row are no longer normal.
const busyAfterMs = 5_000;
const cachedStatements = 256;

/**
 * Kysely over node:sqlite. Kysely's own SQLite dialect asks better-sqlite3's `stmt.reader` whether rows come back and
 * silently answers none without it; here the statement's columns decide.
 */
export function createSqliteDialect(options: SqliteDialectOptions): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteDriver implements Driver {
  readonly #options: SqliteDialectOptions;
  #connection: SqliteConnection | null = null;
  /** The one connection belongs to one query or transaction at a time; the next waits for this. */
  #previous: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  constructor(options: SqliteDialectOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    this.#connection = new SqliteConnection(openDatabase(this.#options.path), this.#options.clock);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#previous;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#previous = promise;
    await previous;
    this.#release = resolve;
    if (this.#connection === null) throw new FlatlineError("store_unusable", "the store is closed");
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // IMMEDIATE: a transaction that reads first and writes later could not be retried when another wrote between.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#connection?.close();
    this.#connection = null;
  }
}

function openDatabase(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path);
    // Set first: the next ones may meet a writer.
    database.exec(`pragma busy_timeout = ${busyAfterMs}`);
    database.exec("pragma journal_mode = wal");
    // FULL: what a receiver was told must survive a power cut, else it is told twice.
    database.exec("pragma synchronous = full");
    database.exec("pragma foreign_keys = on");
    database.exec("pragma cache_size = -65536");
    database.exec(`pragma busy_timeout = ${blockingWaitMs}`);
    return database;
  } catch (error) {
    throw storeError(error, path);
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements = new Map<string, { statement: StatementSync; hasRows: boolean }>();

  constructor(database: DatabaseSync, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const deadlineMs = this.#clock.monotonicMs() + busyAfterMs;
    for (;;) {
      try {
        return this.#execute<Row>(query);
      } catch (error) {
        const known = storeError(error, this.#database.location() ?? "the store");
        if (!(known instanceof FlatlineError) || known.code !== "store_busy") throw known;
        if (this.#clock.monotonicMs() >= deadlineMs) throw known;
        await this.#clock.sleep(retryEveryMs);
      }
    }
  }

  // oxlint-disable-next-line require-yield -- nothing streams
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new FlatlineError("internal", "the SQLite store does not stream: page with keys instead");
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #execute<Row>(query: CompiledQuery): QueryResult<Row> {
    const { statement, hasRows } = this.#prepare(query.sql);
    const parameters = query.parameters as readonly SQLInputValue[];
    if (hasRows) return { rows: statement.all(...parameters) as Row[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #prepare(sql: string): { statement: StatementSync; hasRows: boolean } {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    const oldest = this.#statements.keys().next();
    if (this.#statements.size >= cachedStatements && oldest.done === false) this.#statements.delete(oldest.value);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

// Primary result codes, https://sqlite.org/rescode.html; the extended ones carry them in the low byte.
const busyCodes: ReadonlySet<number> = new Set([5, 6]);
const unusableCodes: Readonly<Record<number, string>> = {
  7: "memory is exhausted",
  8: "it may not be written",
  10: "the disk has an input or output error",
  11: "it is damaged; restore it from a backup",
  13: "the disk is full",
  14: "it cannot be opened; does the folder exist, and may this user write to it?",
  26: "it is not an SQLite database",
};

/** SQLite's own errors as ours; anything else as it is. */
export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return error;
  const code = error.errcode & 0xff;
  if (busyCodes.has(code)) {
    return new FlatlineError("store_busy", `the store ${path} is locked by another process`, { cause: error });
  }
  const meaning = unusableCodes[code];
  if (meaning === undefined) return error;
  return new FlatlineError("store_unusable", `the store ${path} cannot be used: ${meaning}`, { cause: error });
}
