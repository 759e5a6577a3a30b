import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  CompiledQuery,
  SqliteDialect as KyselySqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDatabase,
  type SqliteStatement,
} from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import { connectSqlite, storeError, whenFree } from "./sqlite-file.ts";

export interface SqliteDialectOptions {
  readonly path: string;
  readonly clock: Clock;
  /** How the file is opened [connectSqlite]. */
  readonly connect?: typeof connectSqlite;
  /** Called for each statement that fails because the store cannot be used [no callback]. */
  readonly onUnusable?: (error: FlatlineError) => void;
}

// SQLite is synchronous, so a chain of awaits over it never yields to the event loop: a thousand due checks blocked it
// for seconds. After this much work in SQLite, and about as much around it, the loop gets a turn.
const sliceMs = 5;
// Each is a few kilobytes; statements with long parameter lists are rarely repeated.
const cachedStatements = 256;

/** Kysely's own dialect over node:sqlite. One connection: Kysely gives it to one query or transaction at a time. */
export class SqliteDialect extends KyselySqliteDialect {
  readonly #options: SqliteDialectOptions;
  readonly #file: SqliteFile;

  constructor(options: SqliteDialectOptions) {
    const file = new SqliteFile(options);
    super({ database: () => file.open() });
    this.#options = options;
    this.#file = file;
  }

  override createDriver(): SqliteDriver {
    return new WaitingDriver(this.#file, this.#options);
  }

  /** Later statements fail as `unavailable`; after Kysely's own `destroy` they would fail with an unknown error. */
  close(): void {
    this.#file.close();
  }
}

class WaitingDriver extends SqliteDriver {
  readonly #file: SqliteFile;
  readonly #options: SqliteDialectOptions;
  #waiting: DatabaseConnection | null = null;

  constructor(file: SqliteFile, options: SqliteDialectOptions) {
    super({ database: () => file.open() });
    this.#file = file;
    this.#options = options;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#waiting ??= this.#whenFree(await super.acquireConnection());
    return this.#waiting;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // A transaction that reads first and writes later could not be retried if another process wrote in between.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk has already ended the transaction; this statement's error must not hide that one.
    if (this.#file.isInTransaction) await super.rollbackTransaction(connection);
  }

  /** Kysely gives the connection to the next caller when this resolves. */
  override async releaseConnection(): Promise<void> {
    if (this.#file.busyMs < sliceMs) return;
    this.#file.busyMs = 0;
    await this.#options.clock.sleep(0);
  }

  #whenFree(connection: DatabaseConnection): DatabaseConnection {
    return {
      executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
        whenFree(this.#options.path, () => connection.executeQuery<Row>(query)),
      streamQuery: () => {
        throw new FlatlineError("internal", "the store does not stream: page with keys instead");
      },
    };
  }
}

/** The database as Kysely's dialect asks for it: a statement says whether it returns rows. */
class SqliteFile implements SqliteDatabase {
  /** Time in SQLite since the event loop last had a turn. */
  busyMs = 0;
  readonly #options: SqliteDialectOptions;
  readonly #statements = new Map<string, SqliteStatement>();
  #database: DatabaseSync | null = null;

  constructor(options: SqliteDialectOptions) {
    this.#options = options;
  }

  async open(): Promise<this> {
    const { path, connect = connectSqlite } = this.#options;
    this.#database = await connect(path);
    return this;
  }

  get isInTransaction(): boolean {
    return this.#database?.isOpen === true && this.#database.isTransaction;
  }

  prepare(text: string): SqliteStatement {
    const database = this.#database;
    if (database?.isOpen !== true) throw new FlatlineError("unavailable", "the store is closed");
    const known = this.#statements.get(text) ?? this.#wrap(this.#execute(() => database.prepare(text)));
    // Least recently used first.
    this.#statements.delete(text);
    this.#statements.set(text, known);
    const oldest = this.#statements.keys().next();
    if (this.#statements.size > cachedStatements && oldest.done === false) this.#statements.delete(oldest.value);
    return known;
  }

  close(): void {
    this.#statements.clear();
    if (this.#database?.isOpen === true) this.#database.close();
  }

  #wrap(statement: StatementSync): SqliteStatement {
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => this.#execute(() => statement.all(...(parameters as SQLInputValue[]))),
      run: (parameters) => this.#execute(() => statement.run(...(parameters as SQLInputValue[]))),
      iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
    };
  }

  #execute<Result>(work: () => Result): Result {
    const { path, clock, onUnusable } = this.#options;
    const startedMs = clock.monotonicMs();
    try {
      return work();
    } catch (error) {
      const known = storeError(error, path);
      if (known instanceof FlatlineError && known.code === "store_unusable") onUnusable?.(known);
      throw known;
    } finally {
      this.busyMs += clock.monotonicMs() - startedMs;
    }
  }
}
