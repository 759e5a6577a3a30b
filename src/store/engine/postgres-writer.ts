import { sql, type Kysely } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { createLoop } from "../../base/loop.ts";
import { retrying } from "../../base/retry.ts";
import { createSystemClock, secondMs } from "../../base/time.ts";
import { heldError, holderName, takeWithinMs, type TakeWriterOptions, type Writer } from "../writer.ts";
import type { PlainTables } from "../tables.ts";
import type { Fence } from "./fence.ts";
import type { PostgresLocation } from "../store.ts";
import { isBusy } from "./postgres-error.ts";
import { createPostgresPool, databaseOver } from "./postgres-pool.ts";

// A writer keeps its lease when two renewals fail.
const leaseMs = 8 * secondMs;
const renewEveryMs = 3 * secondMs;
// The writer's clock may run slower than the database's.
const graceMs = 2 * secondMs;
const lookEveryMs = secondMs / 2;
const retryAfterMs = secondMs / 2;
// A takeover waits for transactions of the writer before; it is tried again until the server has ended them.
const answerWithinMs = 4 * secondMs;

const nowMs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export interface TakeRowOptions extends TakeWriterOptions {
  readonly location: PostgresLocation;
  /** Opens for the transactions of this process. */
  readonly fence: Fence;
}

/**
 * Takes the writer's row once it has expired, and renews it by a connection of its own, so that it waits for no other
 * work. The database's clock decides, for all processes.
 * @throws store_busy with who writes when the wait is over, unavailable when the signal aborts
 */
export async function takeWriterRow({ location, fence, ...options }: TakeRowOptions): Promise<Writer> {
  const { withinMs = takeWithinMs, signal, onWait } = options;
  // The machine's clock: the lease is of real time, whatever the clock of a test says.
  const clock = createSystemClock();
  const pool = createPostgresPool({ ...location, poolSize: 1, timeoutMs: answerWithinMs });
  const db = databaseOver<PlainTables>(pool);
  let sureUntilMs = -Infinity;
  let isToldOf = false;

  /** The lease counts from before the request: with a late answer, it ends earlier here than for others. */
  async function leased(ask: () => Promise<Epochs>): Promise<number | undefined> {
    const askedAtMs = clock.monotonicMs();
    const [row] = (await ask()).rows;
    if (row !== undefined) sureUntilMs = askedAtMs + leaseMs;
    return row?.epoch;
  }

  const isGivenUp = (): boolean => signal?.aborted === true;
  async function take(): Promise<number> {
    const epoch = isGivenUp() ? undefined : await leased(() => takeExpired(db));
    if (epoch !== undefined) return epoch;
    const row = await db.selectFrom("writer").select("holder").executeTakeFirst();
    const other = row?.holder ?? "another process";
    if (!isToldOf) onWait?.(other);
    isToldOf = true;
    throw heldError(pool.place, other);
  }

  async function renew(): Promise<void> {
    if (lost.signal.aborted) throw lost.signal.reason;
    const renewed = await leased(() =>
      sql<{ epoch: number }>`
        update writer set expires_at_ms = ${nowMs} + cast(${leaseMs} as bigint) where epoch = ${epoch}
        returning epoch`.execute(db),
    );
    if (renewed === undefined) fence.close();
    if (lost.signal.aborted) throw lost.signal.reason;
  }

  const lost = new AbortController();
  // The writer before may be ending a transaction, or the server restarting.
  const wait = { clock, withinMs, firstMs: lookEveryMs, longestMs: lookEveryMs, isPassing: isBusy, signal };
  const epoch = await retrying(take, wait).catch(async (error: unknown) => {
    await pool.end();
    throw isGivenUp() ? new FlatlineError("unavailable", "stopped while another process writes") : error;
  });
  fence.open(epoch, () => {
    sureUntilMs = -Infinity;
    lost.abort(fence.lostError());
  });
  const loop = createLoop({
    clock,
    everyMs: renewEveryMs,
    retryAfterMs,
    // The interval begins after the wait for the row.
    runOnce: async () => (await renew(), renewEveryMs),
    onError: () => undefined,
  });
  loop.start();
  let released: Promise<void> | null = null;

  async function release(): Promise<void> {
    await loop.stop();
    sureUntilMs = -Infinity;
    await sql`update writer set expires_at_ms = 0 where epoch = ${epoch}`.execute(db).catch(() => undefined);
    await pool.end();
  }

  return {
    epoch,
    lost: lost.signal,
    isSure: () => clock.monotonicMs() < sureUntilMs,
    renew,
    release: () => (released ??= release()),
  };
}

interface Epochs {
  readonly rows: readonly { readonly epoch: number }[];
}

async function takeExpired(db: Kysely<PlainTables>): Promise<Epochs> {
  // This does not wait for the lock of an unexpired row.
  const expired = await sql`select 1 from writer where expires_at_ms + ${graceMs} <= ${nowMs}`.execute(db);
  if (expired.rows.length === 0) return { rows: [] };
  return sql<{ epoch: number }>`
    update writer set epoch = epoch + 1, holder = ${holderName()}, expires_at_ms = ${nowMs} + cast(${leaseMs} as bigint)
    where expires_at_ms + ${graceMs} <= ${nowMs} returning epoch`.execute(db);
}
