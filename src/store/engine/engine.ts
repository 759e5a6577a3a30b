import { PostgresAdapter, sql, type Kysely, type RawBuilder } from "kysely";
import { createSystemClock, type Clock } from "../../base/time.ts";
import type { StoreEngine } from "./location.ts";

/**
 * Returns the engine of a connection or transaction, for the few statements that differ. Both variants of a statement are in
 * the file of its table.
 */
export function engineOf<Schema>(db: Kysely<Schema>): StoreEngine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
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
