import { sql, type Kysely } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { createLoop } from "../../base/loop.ts";
import { createSystemClock, secondMs } from "../../base/time.ts";
import { heldError, holderName, takeWithinMs, type TakeWriterOptions, type Writer } from "../writer.ts";
import type { Fence } from "./fence.ts";
import type { PostgresLocation } from "./location.ts";
import { createPostgresPool, databaseOver } from "./postgres-pool.ts";

interface WriterTables {
  readonly writer: { readonly epoch: number; readonly holder: string; readonly expires_at_ms: number };
}

// A writer that renews, and loses nothing by two renewals that fail.
const leaseMs = 8 * secondMs;
const renewEveryMs = 3 * secondMs;
// Its own clock may run slower than the database's.
const graceMs = 2 * secondMs;
const lookEveryMs = secondMs / 2;
const retryAfterMs = secondMs / 2;
// The row waits for transactions of the writer before, which the server ends after as long.
const answerWithinMs = 4 * secondMs;

const nowMs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export interface TakeRowOptions extends TakeWriterOptions {
  readonly location: PostgresLocation;
  /** Opens for the transactions of this process. */
  readonly fence: Fence;
}

/**
 * Takes the writer's row once it has expired, and renews it by a connection of its own, so that it waits for no other work. The
 * database's clock decides, for all processes.
 * @throws store_busy with who writes when the wait is over, unavailable when the signal aborts
 */
export async function takeWriterRow({ location, fence, ...options }: TakeRowOptions): Promise<Writer> {
  const { withinMs = takeWithinMs, signal, onWait } = options;
  // The machine's: the row is of the real world, whatever the clock of a test says.
  const clock = createSystemClock();
  const pool = createPostgresPool({ ...location, poolSize: 1, timeoutMs: answerWithinMs });
  const db = databaseOver<WriterTables>(pool);
  const holder = holderName();
  const deadlineMs = clock.monotonicMs() + withinMs;
  let sureUntilMs = -Infinity;

  /** Counted from before it is asked for: when the answer is late, so is the end for everybody else. */
  async function leased<Row>(ask: () => Promise<readonly Row[]>): Promise<Row | undefined> {
    const askedAtMs = clock.monotonicMs();
    const [row] = await ask();
    if (row !== undefined) sureUntilMs = askedAtMs + leaseMs;
    return row;
  }

  async function take(): Promise<number> {
    let isToldOf = false;
    let problem: unknown = null;
    for (;;) {
      try {
        const taken = await leased(() => takeExpired(db, holder));
        if (taken !== undefined) return taken.epoch;
        problem = null;
      } catch (error) {
        // A transaction of the writer before is about to end, or the server restarts.
        if (!(error instanceof FlatlineError && error.code === "store_busy")) throw error;
        problem = error;
      }
      const other = problem === null ? await holderOf(db).catch(() => "another process") : "another process";
      if (!isToldOf && problem === null) onWait?.(other);
      isToldOf ||= problem === null;
      if (clock.monotonicMs() >= deadlineMs) throw problem ?? heldError(pool.place, other);
      await clock.sleep(lookEveryMs, signal);
      if (signal?.aborted === true) throw new FlatlineError("unavailable", "stopped while another process writes");
    }
  }

  async function renew(): Promise<void> {
    if (lost.signal.aborted) throw lost.signal.reason;
    const renewed = await leased(async () => {
      const { rows } = await sql<{ epoch: number }>`
        update writer set expires_at_ms = ${nowMs} + cast(${leaseMs} as bigint) where epoch = ${epoch} returning epoch`.execute(
        db,
      );
      return rows;
    });
    if (renewed === undefined) fence.close();
    if (lost.signal.aborted) throw lost.signal.reason;
  }

  const lost = new AbortController();
  let epoch: number;
  try {
    epoch = await take();
  } catch (error) {
    await pool.end();
    throw error;
  }
  fence.open(epoch, () => {
    sureUntilMs = -Infinity;
    lost.abort(fence.lostError());
  });
  const loop = createLoop({
    clock,
    everyMs: renewEveryMs,
    retryAfterMs,
    // The wait for the row counts.
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

async function takeExpired(db: Kysely<WriterTables>, holder: string): Promise<readonly { readonly epoch: number }[]> {
  // An unexpired row is not waited for.
  const { rows: expired } = await sql`
    select 1 from writer where expires_at_ms + ${graceMs} <= ${nowMs}`.execute(db);
  if (expired.length === 0) return [];
  const { rows } = await sql<{ epoch: number }>`
    update writer set epoch = epoch + 1, holder = ${holder}, expires_at_ms = ${nowMs} + cast(${leaseMs} as bigint)
    where expires_at_ms + ${graceMs} <= ${nowMs} returning epoch`.execute(db);
  return rows;
}

async function holderOf(db: Kysely<WriterTables>): Promise<string> {
  const row = await db.selectFrom("writer").select("holder").executeTakeFirst();
  return row?.holder ?? "another process";
}
