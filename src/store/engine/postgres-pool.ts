import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import { Pool, types, type PoolClient, type QueryResult } from "pg";
import { FlatlineError } from "../../base/errors.ts";
import { driverUrl, postgresPlace } from "../../base/postgres-url.ts";
import { retrying } from "../../base/retry.ts";
import { redact } from "../../base/secret.ts";
import { createSystemClock, minuteMs, secondMs } from "../../base/time.ts";
import { TurnsPostgresAdapter } from "./dialect.ts";
import { isChange, type Fence } from "./fence.ts";
import type { PostgresLocation } from "../store.ts";
import { connectionError, isBusy, isLost, statementError } from "./postgres-error.ts";

export interface PostgresPoolOptions extends PostgresLocation {
  /** Limit of a statement [30 s]: the store's take milliseconds, so a longer one means a server that hangs. */
  readonly timeoutMs?: number;
  /** Decides what may be written [all]. */
  readonly fence?: Fence;
  /** Retries the first connection for this long [1 s]: a database may start at the same time as flatline. */
  readonly firstConnectionWithinMs?: number;
}

/** A pool for Kysely whose errors are FlatlineErrors without secrets. */
export type StorePool = ReturnType<typeof createPostgresPool>;

const defaultPoolSize = 10;
// Includes the wait for a pool slot.
const connectTimeoutMs = 10 * secondMs;
const defaultTimeoutMs = 30 * secondMs;
/** For migrations, whose statements may take minutes. */
export const patientTimeoutMs = 10 * minuteMs;
// The server's own limit fires first; this one is for a server that does not answer.
const answerMarginMs = 5 * secondMs;
// The transaction of a suspended process holds the writer's row no longer than its lease.
const idleTransactionMs = 8 * secondMs;
const lockTimeoutMs = 5 * secondMs;
const retryWithinMs = secondMs;

// From pg_type: bigint, and the type of its sums and quotients. Counts, ids and instants are whole, exact as numbers.
const numeric = new Set([20, 1_700]);

/** Creates a database over a pool. */
export function databaseOver<Schema>(pool: StorePool): Kysely<Schema> {
  class TurnsPostgresDialect extends PostgresDialect {
    override createAdapter(): TurnsPostgresAdapter {
      return new TurnsPostgresAdapter();
    }
  }
  return new Kysely<Schema>({ dialect: new TurnsPostgresDialect({ pool }) });
}

/**
 * Creates a pool; connects on first use. Parameters of the URL (sslmode, options, application_name …) override the
 * values set here.
 */
export function createPostgresPool(options: PostgresPoolOptions) {
  const { url, poolSize = defaultPoolSize, timeoutMs = defaultTimeoutMs, fence = null } = options;
  const place = postgresPlace(url.reveal());
  // The machine's clock: a database takes real time, whatever the clock of a test says.
  const clock = createSystemClock();
  const pool = new Pool({
    connectionString: driverUrl(url.reveal()),
    max: poolSize,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, timeoutMs),
    idleTimeoutMillis: minuteMs,
    keepAlive: true,
    application_name: "flatline",
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + Math.min(answerMarginMs, timeoutMs),
    lock_timeout: Math.min(lockTimeoutMs, timeoutMs),
    idle_in_transaction_session_timeout: idleTransactionMs,
    types: { getTypeParser: (oid, format) => (numeric.has(oid) ? Number : types.getTypeParser(oid, format)) },
  });
  // An idle connection was lost: the pool drops it and opens a new one.
  pool.on("error", ignore);
  pool.on("connect", (client) => {
    // A connection in use was lost: its statement rejects.
    client.on("error", ignore);
    // This runs before the first statement, which fails if this fails.
    if (fence !== null) client.query("set default_transaction_read_only = on").catch(ignore);
  });
  const clients = new WeakMap<PoolClient, StoreClient>();
  let connectWithinMs = options.firstConnectionWithinMs ?? retryWithinMs;

  async function connect(): Promise<PostgresPoolClient> {
    if (pool.ending) throw new FlatlineError("unavailable", "the store is closed");
    try {
      const client = await pool.connect();
      const known = clients.get(client) ?? new StoreClient(client, place, fence);
      clients.set(client, known);
      connectWithinMs = retryWithinMs;
      // Kysely's type also allows cursors, which it does not use without a cursor in the dialect's options.
      return known as unknown as PostgresPoolClient;
    } catch (error) {
      const { code, message } = connectionError(error, place);
      throw new FlatlineError(code, redact(message, [url]));
    }
  }

  return {
    /** The server's name in messages: host, port and database. */
    place,
    options: {},
    /** Retries the connection: nothing was sent yet, so it is safe, and a restarting server is back soon. */
    connect: (): Promise<PostgresPoolClient> =>
      retrying(connect, { clock, withinMs: connectWithinMs, firstMs: 50, longestMs: secondMs, isPassing: isBusy }),
    /** Waits for the connections that are in use. */
    end: async (): Promise<void> => {
      if (!pool.ending) await pool.end();
    },
  };
}

const beginning = /^(?:begin|start transaction)\b/;
const ending = /^(?:commit|rollback)$/;

/** A connection while it is in use. */
class StoreClient {
  readonly #client: PoolClient;
  readonly #place: string;
  readonly #fence: Fence | null;
  #isInTransaction = false;
  #isLost = false;

  constructor(client: PoolClient, place: string, fence: Fence | null) {
    this.#client = client;
    this.#place = place;
    this.#fence = fence;
  }

  async query(text: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#fence === null) return this.#send(text, parameters);
    if (beginning.test(text)) return this.#begin(this.#fence, text);
    if (ending.test(text)) this.#isInTransaction = false;
    else if (!this.#isInTransaction && isChange(text)) return this.#sendFenced(this.#fence, text, parameters);
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
      if (this.#isLost) throw new FlatlineError("store_busy", `the connection to ${this.#place} was lost`);
      return await this.#client.query(text, parameters.map(storable));
    } catch (error) {
      if (isLost(error)) this.#isLost = true;
      throw statementError(error, this.#place);
    }
  }

  release(isDiscarded = false): void {
    this.#isInTransaction = false;
    this.#client.release(isDiscarded || this.#isLost);
  }
}

/** Replaces NUL, the only character that PostgreSQL's text cannot store and SQLite's can. */
function storable(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\u{FFFD}") : value;
}

function ignore(): void {
  // The error is handled where the statement was sent.
}
