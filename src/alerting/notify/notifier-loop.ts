import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { Notifier } from "./notifier.ts";

// The wall clock may be set, and a silence may be made by another process: nothing waits longer than this to be seen.
const longestWaitMs = 10_000;
// A fleet verdict begins with what fires, before any group is due; of a burst one look a second is enough for that.
const soonestLookMs = 1_000;
// After a store that would not answer.
const failureWaitMs = 1_000;
// A look takes milliseconds; six missed ones are no coincidence.
const stalledAfterMs = 60_000;

/** Looks at the alerts whenever there may be something to tell. */
export interface NotifierLoop {
  start(): void;
  /** Ends after the look that is under way. @throws what made that look fail */
  stop(): Promise<void>;
  /** Alerts have changed: looks within a second, at once for a drill. */
  changed(isUrgent: boolean): void;
  /** Settings, silences or acknowledgements have changed: looks at once. */
  wake(): void;
  /** True when it has not looked for so long that it must hang, or has stopped. */
  isStalled(): boolean;
}

export interface NotifierLoopOptions {
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly groupWaitMs: () => number;
}

/** A loop over the notifier; it begins with a look, so that what a crash left behind is told. */
export function createNotifierLoop({ notifier, clock, logger, groupWaitMs }: NotifierLoopOptions): NotifierLoop {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let lastLookMs = clock.monotonicMs();
  // Monotonic; brought forward while the loop sleeps or looks.
  let nextLookMs = 0;
  let sleeping = new AbortController();
  /** What made a look fail while it stops. */
  let failure: unknown = null;

  function lookAt(atMs: number): void {
    if (atMs >= nextLookMs) return;
    nextLookMs = atMs;
    sleeping.abort();
  }

  async function look(): Promise<number> {
    try {
      const { nextAtMs } = await notifier.runOnce();
      return nextAtMs === null ? longestWaitMs : Math.min(Math.max(nextAtMs - clock.nowMs(), 0), longestWaitMs);
    } catch (error) {
      if (stopping.signal.aborted) failure = error;
      else logger.error({ err: error }, "alerts could not be looked at");
      return failureWaitMs;
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      lastLookMs = clock.monotonicMs();
      nextLookMs = Infinity;
      const waitMs = await look();
      nextLookMs = Math.min(nextLookMs, clock.monotonicMs() + waitMs);
      while (!stopping.signal.aborted && clock.monotonicMs() < nextLookMs) {
        sleeping = new AbortController();
        await clock.sleep(nextLookMs - clock.monotonicMs(), AbortSignal.any([stopping.signal, sleeping.signal]));
      }
    }
  }

  return {
    start: () => {
      running ??= loop();
    },
    stop: async () => {
      stopping.abort();
      await running;
      if (failure !== null) throw failure;
    },
    changed: (isUrgent) => lookAt(clock.monotonicMs() + (isUrgent ? 0 : Math.min(soonestLookMs, groupWaitMs()))),
    wake: () => lookAt(clock.monotonicMs()),
    isStalled: () => stopping.signal.aborted || (running !== null && clock.monotonicMs() - lastLookMs > stalledAfterMs),
  };
}
