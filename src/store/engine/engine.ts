import { PostgresAdapter, sql, type Kysely, type RawBuilder } from "kysely";
import type { StoreEngine } from "./location.ts";

/**
 * Which engine a connection or transaction talks to: for the few statements that cannot be the same on both. What differs is
 * written beside what is common, in the file of its table.
 */
export function engineOf<Schema>(db: Kysely<Schema>): StoreEngine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
}

/**
 * Whose clock says whether a lease has run out. `database`: the one that all replicas share, whatever their own say.
 * `caller`: the instant that the caller names; the only one of a file on one machine, and for tests that make time.
 */
export type LeaseClock = "database" | "caller";

// STABLE, unlike clock_timestamp(): an index can be used with it.
const databaseNowMs = sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** Now by the lease clock, epoch ms, as part of a statement. */
export function leaseNow(leaseClock: LeaseClock, callerNowMs: number): RawBuilder<number> {
  return leaseClock === "database" ? databaseNowMs : sql<number>`${callerNowMs}`;
}

/** The instant `atMs` of the caller's clock, as far from now by the lease clock as it is from the caller's now. */
export function leaseInstant(leaseClock: LeaseClock, atMs: number, callerNowMs: number): RawBuilder<number> {
  if (leaseClock === "caller") return sql<number>`${atMs}`;
  return sql<number>`${databaseNowMs} + cast(${atMs - callerNowMs} as bigint)`;
}
