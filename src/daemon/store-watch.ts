import { FlatlineError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";

/** Whether the database that replicas share answers. A file is always there. */
export interface StoreWatch {
  start(): void;
  stop(): Promise<void>;
  /** It did not answer when it was last asked. */
  isAway(): boolean;
  /** For how long it has not answered, ms; 0 while it does. */
  awayForMs(): number;
  /** For how long it has answered again, ms; Infinity when it was never away. */
  backForMs(): number;
}

export interface StoreWatchOptions {
  readonly store: Pick<Store, "engine" | "nowMs">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told after each look. */
  readonly onLook: () => Promise<void>;
}

// A load balancer should learn of it before many requests have failed; one small query costs nothing.
const lookEveryMs = secondMs;
// A database that has more to do than it can is slow, and not away.
const answerWithinMs = 5 * secondMs;

/** Asks the database every second. */
export function createStoreWatch({ store, clock, logger, onLook }: StoreWatchOptions): StoreWatch {
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let loop: Promise<void> = Promise.resolve();
  let awaySinceMs: number | null = null;
  let backSinceMs = -Infinity;

  async function look(): Promise<void> {
    const answered = new AbortController();
    const late = noteSilence(answered.signal);
    const asked = store.nowMs().then(
      () => note(null),
      (error: unknown) => note(error),
    );
    // Whoever stops does not wait for a server that is not there.
    await Promise.race([asked, stopped.promise]);
    answered.abort();
    await late;
  }

  async function noteSilence(answered: AbortSignal): Promise<void> {
    await clock.sleep(answerWithinMs, AbortSignal.any([answered, stopping.signal]));
    if (!answered.aborted) note(new FlatlineError("store_busy", "the store does not answer in time"));
  }

  function note(error: unknown): void {
    if (stopping.signal.aborted) return;
    const nowMs = clock.monotonicMs();
    if (error !== null && awaySinceMs === null) {
      awaySinceMs = nowMs;
      logger.error({ err: error }, "store cannot be reached, trying again");
    } else if (error === null && awaySinceMs !== null) {
      logger.info({ awayMs: Math.round(nowMs - awaySinceMs) }, "store is back");
      awaySinceMs = null;
      backSinceMs = nowMs;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look();
      // What could not be read is read at the next look.
      await onLook().catch((error: unknown) => logger.debug({ err: error }, "checks of others could not be read"));
      await clock.sleep(lookEveryMs, stopping.signal);
    }
  }

  const away = (): number => (awaySinceMs === null ? 0 : clock.monotonicMs() - awaySinceMs);
  return {
    start: () => {
      if (store.engine === "postgres") loop = run();
    },
    stop: async () => {
      stopping.abort();
      stopped.resolve();
      await loop;
    },
    isAway: () => awaySinceMs !== null,
    awayForMs: away,
    backForMs: () => (awaySinceMs === null ? clock.monotonicMs() - backSinceMs : 0),
  };
}
