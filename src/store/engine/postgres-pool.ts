import { Pool, types, type PoolClient, type QueryResult } from "pg";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { driverUrl, postgresPlace } from "../../base/postgres-url.ts";
import { redact } from "../../base/secret.ts";
import { createSystemClock, minuteMs, secondMs } from "../../base/time.ts";
import type { PostgresLocation } from "./location.ts";
import { connectionError, isBusy, isLost, statementError } from "./postgres-error.ts";
import { createStatementNames, type StatementNames } from "./postgres-statements.ts";

export interface PostgresPoolOptions extends PostgresLocation {
  /** For migrations: a statement may take minutes. */
  readonly isPatient?: boolean;
  /** How long to try to get the first connection [1 s]: a database may be started together with flatline. */
  readonly firstConnectionWithinMs?: number;
}

/** A pool for Kysely whose errors are FlatlineErrors and show no secret. */
export interface StorePool extends PostgresPool {
  /** The server as messages may name it: host, port and database. */
  readonly place: string;
}

const defaultPoolSize = 10;
// Waiting for a place in the pool is part of it; the lease of a check is as long.
const connectTimeoutMs = 10 * secondMs;
// What the store asks takes milliseconds; this is a server that hangs, or a plan that went wrong.
const statementTimeoutMs = 30 * secondMs;
const patientTimeoutMs = 10 * minuteMs;
// The server's own limit comes first; this one is for a server that is not there any more.
const answerMarginMs = 5 * secondMs;
// A replica that is suspended amid a transaction holds its locks no longer than its leases.
const idleTransactionMs = 10 * secondMs;
const lockTimeoutMs = 5 * secondMs;
const idleMs = minuteMs;
const firstRetryMs = 50;
// Doubling for ever would give up half way.
const longestRetryMs = secondMs;
const retryWithinMs = secondMs;
// A transaction takes milliseconds; the process has more to do before it ends.
const endWithinMs = 5 * secondMs;

/** Opens no connection yet. The URL's own parameters (sslmode, options, application_name …) go before what is set here. */
export function createPostgresPool(options: PostgresPoolOptions): StorePool {
  const { url, poolSize = defaultPoolSize, isPatient = false } = options;
  const place = postgresPlace(url.reveal());
  const timeoutMs = isPatient ? patientTimeoutMs : statementTimeoutMs;
  const pool = new Pool({
    connectionString: driverUrl(url.reveal()),
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
    application_name: "flatline",
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + answerMarginMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionMs,
    types: { getTypeParser },
  });
  // A connection that is lost while nobody uses it: the pool has dropped it, and the next one is a new one.
  pool.on("error", ignore);
  // The same while somebody does: the statement that waits for it rejects.
  pool.on("connect", (client) => client.on("error", ignore));
  const names = createStatementNames();
  const clients = new WeakMap<PoolClient, StoreClient>();
  let connectWithinMs = options.firstConnectionWithinMs ?? retryWithinMs;

  // Lent connections, and those who wait for one.
  let users = 0;
  let isEnding = false;
  let whenUnused: () => void = ignore;

  function leave(): void {
    users--;
    if (users === 0) whenUnused();
  }

  async function connect(): Promise<StoreClient> {
    const client = await pool.connect();
    const known = clients.get(client) ?? new StoreClient(client, { place, names, leave });
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

  /** What has begun ends; what hangs is cut off. */
  async function end(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    if (users > 0) {
      const stopWaiting = new AbortController();
      const unused = new Promise<void>((resolve) => (whenUnused = resolve));
      await Promise.race([unused, createSystemClock().sleep(endWithinMs, stopWaiting.signal)]);
      stopWaiting.abort();
    }
    await pool.end();
  }

  /** Nothing was asked yet, so that trying again is safe: a server that restarts is back in a moment. */
  async function connectPatiently(): Promise<StoreClient> {
    const clock = createSystemClock();
    const deadlineMs = clock.monotonicMs() + connectWithinMs;
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        return await connect();
      } catch (error) {
        const known = withoutSecret(connectionError(error, place), options);
        if (!isBusy(known) || clock.monotonicMs() + waitMs > deadlineMs) throw known;
      }
      await clock.sleep(waitMs);
    }
  }

  return {
    place,
    options: {},
    // Kysely's type has a second way to ask, with a cursor; without one in the dialect's options it never takes it.
    connect: async () => (await lend()) as unknown as PostgresPoolClient,
    end,
  };
}

/** What a connection knows of its pool. */
interface LendingPool {
  readonly place: string;
  readonly names: StatementNames;
  /** Called when the connection is given back. */
  readonly leave: () => void;
}

/** One connection while it is lent. */
class StoreClient {
  readonly #client: PoolClient;
  readonly #pool: LendingPool;
  #isLost = false;

  constructor(client: PoolClient, pool: LendingPool) {
    this.#client = client;
    this.#pool = pool;
  }

  async query(text: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    try {
      // What was asked before may still be under way: nothing is queued behind it.
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
    this.#client.release(isDiscarded || this.#isLost);
    this.#pool.leave();
  }
}

/** PostgreSQL's text holds every character but NUL, which SQLite's does. */
function storable(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\u{FFFD}") : value;
}

// From pg_type: bigint, and what sums and quotients of it are.
const int8 = 20;
const numeric = 1_700;

/** Counts, ids and instants are whole numbers that JavaScript holds exactly. */
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
  // See where it is given.
}
