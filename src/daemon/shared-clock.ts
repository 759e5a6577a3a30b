import { createLoop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { minuteMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";

/** The machine's clock, set by that of the database that replicas share: due times, alerts and history are by one clock. */
export interface SharedClock {
  readonly clock: Clock;
  /** Ends the comparing. */
  stop(): Promise<void>;
}

const compareEveryMs = minuteMs;
// The best of three looks counts: one may wait for a connection, or for the machine.
const looks = 3;
// Machines with NTP differ by less, and correcting a clock all the time is worse than leaving it off by this.
const tolerableMs = 250;

/**
 * Compares the clocks, and once a minute again; with a store in a file there is nothing to compare with.
 * @throws FlatlineError store_busy, store_unusable
 */
export async function startSharedClock({
  store,
  clock,
  logger,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<SharedClock> {
  if (!store.isShared) return { clock, stop: async () => undefined };
  let offsetMs = 0;

  async function compare(): Promise<void> {
    const readings = [];
    for (let look = 0; look < looks; look++) readings.push(await readOffset(store, clock));
    const best = readings.toSorted((left, right) => left.tookMs - right.tookMs)[0];
    // A difference within the time that asking took may be no difference.
    if (best === undefined || Math.abs(best.offsetMs - offsetMs) < tolerableMs + best.tookMs) return;
    offsetMs = Math.abs(best.offsetMs) < tolerableMs + best.tookMs ? 0 : best.offsetMs;
    logger.warn({ offsetMs }, "clock differs from the database's, which decides");
  }

  await compare();
  // Faults of the store are reported by the code that needs it.
  const onError = (error: unknown): void => logger.debug({ err: error }, "clocks could not be compared");
  const loop = createLoop({ clock, everyMs: compareEveryMs, firstAfterMs: compareEveryMs, runOnce: compare, onError });
  loop.start();
  return { clock: { ...clock, nowMs: () => clock.nowMs() + offsetMs }, stop: loop.stop };
}

async function readOffset(store: Store, clock: Clock): Promise<{ offsetMs: number; tookMs: number }> {
  const [beganAtMs, beganMs] = [clock.nowMs(), clock.monotonicMs()];
  const storeNowMs = await store.nowMs();
  const tookMs = clock.monotonicMs() - beganMs;
  return { offsetMs: Math.round(storeNowMs - (beganAtMs + tookMs / 2)), tookMs };
}
