import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
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
import { FlatlineError } from "../../base/errors.ts";
import type { RetryOptions } from "../../base/retry.ts";
import type { Clock } from "../../base/time.ts";
import { connectSqlite, whenFree } from "./sqlite-file.ts";

export interface SqliteDialectOptions {
  readonly path: string;
  readonly clock: Clock;
  /** How the file is opened [connectSqlite]. */
  readonly connect?: typeof connectSqlite;
  /** How long a statement waits for another connection's lock [5 s]. */
  readonly untilFree?: RetryOptions;
  /** Called for each statement that fails because the store cannot be used [no callback]. */
  readonly onUnusable?: (error: FlatlineError) => void;
  /** Called when something is committed again after statements that failed for that reason [no callback]. */
  readonly onUsable?: () => void;
}

export interface SqliteDialect extends Dialect {
  /**
   * Closes the file. Later statements fail as `unavailable`; after Kysely's own `destroy` they would fail with an unknown
   * error.
   */
  close(): Promise<void>;
  /**
   * Returns a number that changes when another connection has committed, or when it is not known whether this one has. Takes no
   * turn among the statements.
   */
  dataVersion(): number;
}

// The store is synchronous, so a chain of awaits over it never yields to the event loop: a thousand checks that were due
// together blocked it for seconds. After this much work in SQLite, and about as much around it, the loop gets a turn.
const sliceMs = 5;
// Each is a few kilobytes; statements with long parameter lists are rarely repeated.
const cachedStatements = 256;

/**
 * Creates a Kysely dialect over node:sqlite. Kysely's own SQLite dialect asks better-sqlite3's `stmt.reader` whether a
 * statement returns rows, and silently returns none without it; here the statement's columns decide. One connection: Kysely
 * gives it to one query or transaction at a time.
 */
export function createSqliteDialect(options: SqliteDialectOptions): SqliteDialect {
  const driver = new SqliteDriver(options);
  return {
    close: () => driver.destroy(),
    dataVersion: () => driver.dataVersion(),
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteDriver implements Driver {
  readonly #options: SqliteDialectOptions;
  #connection: SqliteConnection | null = null;

  constructor(options: SqliteDialectOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const { path, connect = connectSqlite } = this.#options;
    this.#connection = new SqliteConnection(await connect(path), this.#options);
  }

  async acquireConnection(): Promise<SqliteConnection> {
    // A rejection here would keep Kysely's lock forever: a closed connection fails each query instead.
    if (this.#connection === null) throw new FlatlineError("internal", "the store was used before it was opened");
    return this.#connection;
  }

  /** Kysely gives the connection to the next caller when this resolves. */
  async releaseConnection(): Promise<void> {
    if (this.#connection === null || this.#connection.busyMs < sliceMs) return;
    this.#connection.busyMs = 0;
    await this.#options.clock.sleep(0);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // IMMEDIATE: a transaction that reads first and writes later could not be retried if another one wrote in between.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk has already ended the transaction; this statement's error must not hide that one.
    if (this.#connection?.isInTransaction === true) await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#connection?.close();
  }

  dataVersion(): number {
    return this.#connection?.dataVersion() ?? 0;
  }
}

function closed(): FlatlineError {
  return new FlatlineError("unavailable", "the store is closed");
}

interface Prepared {
  readonly statement: StatementSync;
  readonly hasRows: boolean;
}

class SqliteConnection implements DatabaseConnection {
  /** Time in SQLite since the event loop last had a turn. */
  busyMs = 0;
  readonly #database: DatabaseSync;
  readonly #options: SqliteDialectOptions;
  readonly #statements = new Map<string, Prepared>();
  readonly #dataVersion: StatementSync;
  readonly #totalChanges: StatementSync;
  /** Statements that have failed, and may have been done all the same. */
  #uncertain = 0;
  /** Rows that were written, or were to be, up to the last failure; null while none fails. */
  #changesAtFailure: number | null = null;

  constructor(database: DatabaseSync, options: SqliteDialectOptions) {
    this.#database = database;
    this.#options = options;
    this.#dataVersion = database.prepare("pragma data_version");
    this.#totalChanges = database.prepare("select total_changes() as changes");
  }

  get isInTransaction(): boolean {
    return this.#database.isOpen && this.#database.isTransaction;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { path, clock, onUnusable, untilFree } = this.#options;
    const execute = (): QueryResult<Row> => {
      const startedAtMs = clock.monotonicMs();
      try {
        return this.#execute<Row>(query);
      } finally {
        this.busyMs += clock.monotonicMs() - startedAtMs;
      }
    };
    try {
      const result = await whenFree(path, execute, untilFree);
      if (this.#changesAtFailure !== null) this.#noteUsable(query, this.#changesAtFailure);
      return result;
    } catch (error) {
      if (error instanceof FlatlineError && error.code === "store_unusable") {
        this.#uncertain++;
        this.#changesAtFailure = this.#changes();
        onUnusable?.(error);
      }
      throw error;
    }
  }

  // oxlint-disable-next-line require-yield -- nothing streams
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new FlatlineError("internal", "the SQLite store does not stream: page with keys instead");
  }

  dataVersion(): number {
    if (!this.#database.isOpen) throw closed();
    return Number(this.#dataVersion.get()?.["data_version"] ?? 0) + this.#uncertain;
  }

  /** A commit that wrote nothing, as one on a full disk may be, says nothing. */
  #noteUsable({ sql }: CompiledQuery, changesAtFailure: number): void {
    if (this.#database.isTransaction) return;
    const changes = this.#changes();
    if (sql === "rollback") this.#changesAtFailure = changes;
    else if (changes > changesAtFailure) {
      this.#changesAtFailure = null;
      this.#options.onUsable?.();
    }
  }

  #changes(): number {
    return Number(this.#totalChanges.get()?.["changes"] ?? 0);
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #execute<Row>(query: CompiledQuery): QueryResult<Row> {
    if (!this.#database.isOpen) throw closed();
    const { statement, hasRows } = this.#prepare(query.sql);
    const parameters = query.parameters as readonly SQLInputValue[];
    if (hasRows) return { rows: statement.all(...parameters) as Row[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) {
      // Least recently used first.
      this.#statements.delete(sql);
      this.#statements.set(sql, known);
      return known;
    }
    const statement = this.#database.prepare(sql);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    const oldest = this.#statements.keys().next();
    if (this.#statements.size >= cachedStatements && oldest.done === false) this.#statements.delete(oldest.value);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
