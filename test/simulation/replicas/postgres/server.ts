import type { Clock } from "../../../../src/base/time.ts";
import { ModelDatabase, PostgresError, type Answer, type Change, type Transaction } from "./database.ts";
import { parseStatement } from "./parse.ts";
import type { Locker, LockMode, Slot } from "./rows.ts";
import type { Statement, Value } from "./syntax.ts";

/** What a connection sets (src/store/engine/postgres-pool.ts). */
export interface SessionSettings {
  readonly lockTimeoutMs: number;
  readonly idleTransactionMs: number;
  readonly statementTimeoutMs: number;
}

export interface ModelServerOptions {
  /** The server's own, which is never suspended. */
  readonly clock: Clock;
  /** Called with what a transaction changed, when it is durable [not called]. */
  readonly onCommit?: (changes: readonly Change[], session: Session) => void;
}

// The server's default of deadlock_timeout.
const deadlockMs = 1_000;

/** Statements about the catalogue, which nobody changes here, with their answers. */
const fixedAnswers: ReadonlyMap<string, readonly Record<string, unknown>[]> = new Map([
  [
    "select exists (select from pg_tables where tablename = 'schema_version' and schemaname = any (current_schemas(false))) as is_there",
    [{ is_there: true }],
  ],
  ["select to_jsonb(step) as step from schema_version as step", [{ step: { version: 1, name: "initial" } }]],
]);

/** One PostgreSQL: its rows, its sessions and its advisory locks, on a virtual clock. */
export class ModelServer {
  readonly database = new ModelDatabase();
  readonly options: ModelServerOptions;
  readonly #sessions = new Set<Session>();
  readonly #statements = new Map<string, Statement>();
  /** By class and name. */
  readonly #advisory = new Map<string, { readonly session: Session; isOfTransaction: boolean; times: number }>();
  #numbers = 0;
  /** How often a statement had to wait for a row. */
  waits = 0;

  constructor(options: ModelServerOptions) {
    this.options = options;
    this.database.fill(
      "shards",
      Array.from({ length: 64 }, (_, shard) => ({ shard, owner_id: null })),
    );
  }

  connect(name: string, settings: SessionSettings): Session {
    const session = new Session(this, name, settings);
    this.#sessions.add(session);
    return session;
  }

  /** Ends all sessions, as a restart does. */
  endSessions(): void {
    for (const session of this.#sessions) session.end();
  }

  nextNumber(): number {
    return ++this.#numbers;
  }

  parse(sql: string): Statement {
    const known = this.#statements.get(sql) ?? parseStatement(sql);
    this.#statements.set(sql, known);
    return known;
  }

  tryAdvisory(session: Session, key: string, isOfTransaction: boolean): boolean {
    const held = this.#advisory.get(key);
    if (held === undefined) this.#advisory.set(key, { session, isOfTransaction, times: 1 });
    else if (held.session !== session) return false;
    else if (held.isOfTransaction !== isOfTransaction)
      throw new Error("the model of PostgreSQL does not know a lock of session and transaction");
    else held.times++;
    return true;
  }

  endAdvisory(session: Session, key: string): boolean {
    const held = this.#advisory.get(key);
    if (held?.session !== session || held.isOfTransaction) return false;
    if (--held.times === 0) this.#advisory.delete(key);
    return true;
  }

  /** Ends the advisory locks of a session's transaction, or all of them. */
  endAdvisories(session: Session, which: "transaction" | "all"): void {
    for (const [key, held] of this.#advisory)
      if (held.session === session && (which === "all" || held.isOfTransaction)) this.#advisory.delete(key);
  }

  forget(session: Session): void {
    this.#sessions.delete(session);
  }
}

/** One connection to the server: one statement at a time. */
export class Session {
  readonly id: number;
  readonly name: string;
  readonly #server: ModelServer;
  readonly #settings: SessionSettings;
  #transaction: Transaction | null = null;
  /** A statement of the transaction has failed: only a rollback is taken. */
  #isFailed = false;
  #isRunning = false;
  #idleSinceMs = 0;
  #isWatched = false;
  #stopWaiting: ((error: PostgresError) => void) | null = null;
  isEnded = false;

  constructor(server: ModelServer, name: string, settings: SessionSettings) {
    this.id = server.nextNumber();
    this.name = name;
    this.#server = server;
    this.#settings = settings;
  }

  /** Whether its statement waits for a row. */
  get isWaiting(): boolean {
    return this.#stopWaiting !== null;
  }

  /** @throws PostgresError */
  async execute(sql: string, parameters: readonly unknown[] = []): Promise<Answer> {
    if (this.#isRunning) throw new Error("the model of PostgreSQL was asked two things at once by one connection");
    if (this.isEnded) throw terminated();
    this.#isRunning = true;
    try {
      return await this.#execute(sql, parameters);
    } finally {
      this.#isRunning = false;
      this.#idleSinceMs = this.#clock.monotonicMs();
      this.#watchIdle();
    }
  }

  /** A statement of it failed before it did anything. */
  fail(): void {
    if (this.#transaction !== null) this.#abort(this.#transaction);
  }

  /** The connection is gone, from whichever side: what was not committed is rolled back. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#server.forget(this);
    this.#stopWaiting?.(terminated());
    if (this.#transaction !== null) this.#rollback(this.#transaction);
    this.#server.endAdvisories(this, "all");
  }

  get #clock(): Clock {
    return this.#server.options.clock;
  }

  async #execute(sql: string, parameters: readonly unknown[]): Promise<Answer> {
    const fixed = fixedAnswers.get(sql.trim().replaceAll(/\s+/g, " "));
    if (fixed !== undefined) return { command: "SELECT", rowCount: fixed.length, rows: fixed as Answer["rows"] };
    const statement = this.#server.parse(sql);
    switch (statement.kind) {
      case "begin":
        if (this.#transaction !== null) throw new Error("the model of PostgreSQL nests no transactions");
        this.#transaction = this.#begin(statement.isolation);
        return { command: "START TRANSACTION", rowCount: null, rows: [] };
      case "commit":
      case "rollback":
        return this.#endTransaction(statement.kind);
      case "select":
      case "insert":
      case "update":
      case "delete":
        return this.#run(statement, parameters);
      default:
        return statement satisfies never;
    }
  }

  #endTransaction(kind: "commit" | "rollback"): Answer {
    const transaction = this.#transaction;
    const isCommit = kind === "commit" && !this.#isFailed;
    if (transaction !== null && isCommit) this.#commit(transaction);
    else if (transaction !== null) this.#rollback(transaction);
    return { command: isCommit ? "COMMIT" : "ROLLBACK", rowCount: null, rows: [] };
  }

  async #run(statement: Statement, parameters: readonly unknown[]): Promise<Answer> {
    if (this.#isFailed)
      throw new PostgresError(
        "25P02",
        "current transaction is aborted, commands ignored until end of transaction block",
      );
    const transaction = this.#transaction ?? this.#begin("read committed");
    const isAlone = this.#transaction === null;
    const startedMs = this.#clock.monotonicMs();
    const statementAtMs = this.#clock.nowMs();
    try {
      const answer = await this.#server.database.run(statement, {
        transaction,
        parameters,
        call: (name, given) => this.#call(name, given, statementAtMs),
        lock: (slot, mode) => this.#lock(slot, mode, transaction, startedMs + this.#settings.statementTimeoutMs),
      });
      // The connection was lost between two rows.
      if (this.isEnded) throw terminated();
      if (isAlone) this.#commit(transaction);
      return answer;
    } catch (error) {
      if (isAlone) this.#rollback(transaction);
      else this.#abort(transaction);
      throw error;
    }
  }

  #begin(isolation: Transaction["isolation"]): Transaction {
    this.#isFailed = false;
    return { id: this.#server.nextNumber(), isolation, snapshot: null, waitsFor: null, held: new Set() };
  }

  #commit(transaction: Transaction): void {
    const changes = this.#server.database.commit(transaction);
    this.#over(transaction);
    if (changes.length > 0) this.#server.options.onCommit?.(changes, this);
  }

  #rollback(transaction: Transaction): void {
    this.#server.database.rollback(transaction);
    this.#over(transaction);
  }

  /** Its locks end with the error; what is left of it takes nothing but a rollback. */
  #abort(transaction: Transaction): void {
    this.#server.database.rollback(transaction);
    this.#server.endAdvisories(this, "transaction");
    this.#isFailed = true;
  }

  #over(transaction: Transaction): void {
    if (this.#transaction === transaction) this.#transaction = null;
    this.#isFailed = false;
    this.#server.endAdvisories(this, "transaction");
  }

  #call(name: string, given: readonly Value[], statementAtMs: number): Value {
    const [first = null, second = null] = given;
    const key = `${String(first)} ${String(second)}`;
    switch (name) {
      case "statement_timestamp":
        return statementAtMs / 1_000;
      case "clock_timestamp":
        return this.#clock.nowMs() / 1_000;
      case "extract":
        return first;
      case "floor":
        // Of seconds times a thousand, which PostgreSQL calculates exactly.
        return Math.floor(Number(first) + 1e-6);
      // Two names never have the same number here.
      case "hashtext":
        return first;
      case "pg_try_advisory_xact_lock":
        return this.#server.tryAdvisory(this, key, true);
      case "pg_try_advisory_lock":
        return this.#server.tryAdvisory(this, key, false);
      case "pg_advisory_unlock":
        return this.#server.endAdvisory(this, key);
      default:
        throw new Error(`the model of PostgreSQL has no function ${name}`);
    }
  }

  async #lock(slot: Slot, mode: LockMode, transaction: Transaction, deadlineMs: number): Promise<void> {
    // Its rows were released: nothing is locked for it any more.
    if (this.isEnded) throw terminated();
    if (slot.isFree(transaction, mode)) return slot.hold(transaction, mode);
    this.#server.waits++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { locker: transaction, mode, grant: resolve };
    const over = new AbortController();
    slot.waiting.push(waiter);
    transaction.waitsFor = slot;
    this.#stopWaiting = reject;
    const wait = async (delayMs: number, act: () => void): Promise<void> => {
      await this.#clock.sleep(delayMs, over.signal);
      if (!over.signal.aborted) act();
    };
    const after = (delayMs: number, act: () => void): void => void wait(delayMs, act);
    after(deadlockMs, () => {
      if (isInCircle(transaction)) reject(new PostgresError("40P01", "deadlock detected"));
    });
    after(this.#settings.lockTimeoutMs, () =>
      reject(new PostgresError("55P03", "canceling statement due to lock timeout")),
    );
    after(deadlineMs - this.#clock.monotonicMs(), () =>
      reject(new PostgresError("57014", "canceling statement due to statement timeout")),
    );
    try {
      await promise;
    } finally {
      this.#stopWaiting = null;
      transaction.waitsFor = null;
      over.abort();
      slot.leave(waiter);
    }
  }

  /** Ends the connection when its transaction is idle for too long. */
  #watchIdle(): void {
    if (!this.#isWatched && this.#transaction !== null) void this.#endIdle();
  }

  async #endIdle(): Promise<void> {
    this.#isWatched = true;
    const untilMs = this.#idleSinceMs + this.#settings.idleTransactionMs;
    await this.#clock.sleep(untilMs - this.#clock.monotonicMs());
    this.#isWatched = false;
    if (this.isEnded || this.#transaction === null || this.#isRunning) return;
    const idleMs = this.#clock.monotonicMs() - this.#idleSinceMs;
    if (idleMs >= this.#settings.idleTransactionMs) this.end();
    else this.#watchIdle();
  }
}

/** Returns whether a locker waits for itself. */
function isInCircle(locker: Locker): boolean {
  const seen = new Set<Locker>();
  const next = [...(locker.waitsFor?.blockers(locker) ?? [])];
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    if (one === locker) return true;
    if (seen.has(one)) continue;
    seen.add(one);
    next.push(...(one.waitsFor?.blockers(one) ?? []));
  }
  return false;
}

function terminated(): PostgresError {
  return new PostgresError("57P01", "terminating connection due to administrator command");
}
