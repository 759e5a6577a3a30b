import type { PostgresPool, PostgresPoolClient } from "kysely";
import { Pool, types, type PoolClient, type PoolConfig, type QueryResult } from "pg";

import { FlatlineError } from "../../base/errors.ts";
import { driverUrl, postgresPlace } from "../../base/postgres-url.ts";
import { retrying } from "../../base/retry.ts";
import { redact } from "../../base/secret.ts";
import { createSystemClock, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import { isChange, type Fence } from "./fence.ts";
import type { PostgresLocation } from "./location.ts";
import { connectionError, isBusy, isLost, statementError } from "./postgres-error.ts";

export interface PostgresPoolOptions extends PostgresLocation {
  /** How long a statement may take [30 s]: those of the store take milliseconds. */
  readonly timeoutMs?: number;
  /** Decides what may be written [all]. */
  readonly fence?: Fence;
  /** Retries the first connection for this long [1 s]: a database may start at the same time as flatline. */
  readonly firstConnectionWithinMs?: number;
  /** Paces retries [the machine's: a database takes real time, whatever the clock of a test says]. */
  readonly retryClock?: Clock;
  /** Creates the driver's pool [over sockets, by pg]. */
  readonly createPool?: (config: PoolConfig) => Pool;
}

/** A pool for Kysely whose errors are FlatlineErrors without secrets. */
export interface StorePool extends PostgresPool {
  /** The server's name in messages: host, port and database. */
  readonly place: string;
}

const defaultPoolSize = 10;
// Includes the wait for a pool slot.
const connectTimeoutMs = 10 * secondMs;
// Statements of the store take milliseconds; a longer one means a server that hangs, or a bad plan.
const defaultTimeoutMs = 30 * secondMs;
/** For migrations and imports, whose statements may take minutes. */
export const patientTimeoutMs = 10 * minuteMs;
// The server's own limit fires first; this one is for a server that does not answer.
const answerMarginMs = 5 * secondMs;
// The transaction of a suspended process holds the writer's row no longer than the row is its own.
const idleTransactionMs = 8 * secondMs;
const lockTimeoutMs = 5 * secondMs;
const idleMs = minuteMs;
const firstRetryMs = 50;
// Doubling without a limit would give up halfway.
const longestRetryMs = secondMs;
const retryWithinMs = secondMs;
// A transaction takes milliseconds; the process has more to do before it ends.
const endWithinMs = 5 * secondMs;

/**
 * Creates a pool; connects on first use. Parameters of the URL (sslmode, options, application_name …) override the values
 * set here.
 */
export function createPostgresPool(options: PostgresPoolOptions): StorePool {
  const { url, poolSize = defaultPoolSize, timeoutMs = defaultTimeoutMs, fence = null } = options;
  const { retryClock = createSystemClock(), createPool = (config) => new Pool(config) } = options;
  const place = postgresPlace(url.reveal());
  const pool = createPool({
    connectionString: driverUrl(url.reveal()),
    max: poolSize,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, timeoutMs),
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    application_name: "flatline",
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + Math.min(answerMarginMs, timeoutMs),
    lock_timeout: Math.min(lockTimeoutMs, timeoutMs),
    idle_in_transaction_session_timeout: idleTransactionMs,
    types: { getTypeParser },
  });
  // An idle connection was lost: the pool drops it and opens a new one.
  pool.on("error", ignore);
  pool.on("connect", (client) => {
    // A connection in use was lost: its statement rejects.
    client.on("error", ignore);
    // It comes before the first statement; when it fails, so does that.
    if (fence !== null) client.query("set default_transaction_read_only = on").catch(ignore);
  });
  const names = createStatementNames();
  const clients = new WeakMap<PoolClient, StoreClient>();
  let connectWithinMs = options.firstConnectionWithinMs ?? retryWithinMs;

  // Connections in use, and callers that wait for one.
  let users = 0;
  let isEnding = false;
  let whenUnused: () => void = ignore;

  function leave(): void {
    users--;
    if (users === 0) whenUnused();
  }

  async function connect(): Promise<StoreClient> {
    const client = await pool.connect();
    const known = clients.get(client) ?? new StoreClient(client, { place, names, fence, leave });
    clients.set(client, known);
    connectWithinMs = retryWithinMs;
    return known;
  }

  async function lend(): Promise<StoreClient> {
    if (isEnding) throw new FlatlineError("unavailable", "the store is closed");
    users++;
    try {
      return await connectPatiently();
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Waits for connections in use, then closes those that hang. */
  async function end(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    if (users > 0) {
      const stopWaiting = new AbortController();
      const unused = new Promise<void>((resolve) => (whenUnused = resolve));
      await Promise.race([unused, retryClock.sleep(endWithinMs, stopWaiting.signal)]);
      stopWaiting.abort();
    }
    await pool.end();
  }

  /** Retries the connection: nothing was sent yet, so it is safe, and a restarting server is back soon. */
  function connectPatiently(): Promise<StoreClient> {
    const wait = { withinMs: connectWithinMs, firstMs: firstRetryMs, longestMs: longestRetryMs };
    return retrying(
      () =>
        connect().catch((error: unknown) => {
          throw withoutSecret(connectionError(error, place), options);
        }),
      { ...wait, clock: retryClock, isPassing: isBusy },
    );
  }

  return {
    place,
    options: {},
    // Kysely's type also allows cursors, which it does not use without a cursor in the dialect's options.
    connect: async () => (await lend()) as unknown as PostgresPoolClient,
    end,
  };
}

/** The pool, as seen by its connections. */
interface LendingPool {
  readonly place: string;
  readonly names: StatementNames;
  readonly fence: Fence | null;
  /** Called when the connection is released. */
  readonly leave: () => void;
}

const beginning = /^(?:begin|start transaction)\b/;
const ending = /^(?:commit|rollback)$/;

/** A connection while it is in use. */
class StoreClient {
  readonly #client: PoolClient;
  readonly #pool: LendingPool;
  #isInTransaction = false;
  #isLost = false;

  constructor(client: PoolClient, pool: LendingPool) {
    this.#client = client;
    this.#pool = pool;
  }

  async query(text: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    const { fence } = this.#pool;
    if (fence === null) return this.#send(text, parameters);
    if (beginning.test(text)) return this.#begin(fence, text);
    if (ending.test(text)) this.#isInTransaction = false;
    else if (!this.#isInTransaction && isChange(text)) return this.#sendFenced(fence, text, parameters);
    return this.#send(text, parameters);
  }

  /** Begins a transaction, and holds the writer's row in the same exchange with the server. */
  async #begin(fence: Fence, text: string): Promise<QueryResult> {
    const result = await this.#send(fence.begin(text), []);
    const [begun, held] = result as unknown as readonly QueryResult[];
    if (held?.rows.length === 1 && begun !== undefined) {
      this.#isInTransaction = true;
      return begun;
    }
    await this.#send("rollback", []);
    fence.close();
    throw fence.lostError();
  }

  /** A statement that changes something is a transaction of its own. */
  async #sendFenced(fence: Fence, text: string, parameters: readonly unknown[]): Promise<QueryResult> {
    await this.#begin(fence, "begin");
    try {
      const result = await this.#send(text, parameters);
      await this.#send("commit", []);
      return result;
    } catch (error) {
      await this.#send("rollback", []).catch(() => (this.#isLost = true));
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  async #send(text: string, parameters: readonly unknown[]): Promise<QueryResult> {
    try {
      // The previous statement may still be running: nothing is queued behind it.
      if (this.#isLost) throw new FlatlineError("store_busy", `the connection to ${this.#pool.place} was lost`);
      const name = this.#pool.names.nameOf(text);
      const values = parameters.map(storable);
      return await this.#client.query({ text, values, ...(name === null ? {} : { name }) });
    } catch (error) {
      if (isLost(error)) this.#isLost = true;
      throw statementError(error, this.#pool.place);
    }
  }

  release(isDiscarded = false): void {
    this.#isInTransaction = false;
    this.#client.release(isDiscarded || this.#isLost);
    this.#pool.leave();
  }
}

/** Replaces NUL, the only character that PostgreSQL's text cannot store and SQLite's can. */
function storable(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\u{FFFD}") : value;
}

// From pg_type: bigint, and the type of sums and quotients of it.
const int8 = 20;
const numeric = 1_700;

/** Parses counts, ids and instants as JavaScript numbers; they are whole and exact. */
function getTypeParser(oid: number, format?: "text" | "binary"): (text: string) => unknown {
  if (oid === int8) return safeInteger;
  if (oid === numeric) return Number;
  return format === undefined ? types.getTypeParser(oid) : types.getTypeParser(oid, format);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new FlatlineError("internal", `${text} is too large for a number`);
  return value;
}

function withoutSecret(error: FlatlineError, { url }: PostgresLocation): FlatlineError {
  const message = redact(error.message, [url]);
  return message === error.message ? error : new FlatlineError(error.code, message);
}

function ignore(): void {
  // The error is handled where the statement was sent.
}

/** Names of prepared statements. */
interface StatementNames {
  /** Returns the statement's name; null if it is not worth preparing. */
  nameOf(text: string): string | null;
}

// Every connection of the server holds all of them.
const keptNames = 256;
// Statements with long parameter lists are rarely repeated.
const longestText = 2_000;
// A newer flatline beside this one may add a column: a prepared plan for `*` would then fail.
const allColumns = /(?:select|returning|\.)\s*\*/i;
// Each length of such a list is a text of its own: a few statements would take every name, and the others would go without.
const listOfAnyLength = /\bin \(\$\d+, |\), \(/i;
// Transaction control has no plan.
const worthwhile = /^\s*(?:select|insert|update|delete|with)\b/i;

/** Creates the names for all connections of a pool: a text has the same name on each. */
export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  return {
    nameOf: (text) => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= keptNames || text.length > longestText) return null;
      if (allColumns.test(text) || listOfAnyLength.test(text) || !worthwhile.test(text)) return null;
      const name = `flatline_${names.size}`;
      names.set(text, name);
      return name;
    },
  };
}
