import { createLoop, type Loop } from "../../base/loop.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { AlertingSettings } from "../settings.ts";
import type { Notifier } from "./notifier.ts";

// What is due, and what changes that, is known.
const longestWaitMs = 15 * 60_000;
// A fleet verdict begins with what fires, before any group is due; of a burst one look a second is enough for that.
const soonestLookMs = 1_000;
// The pause after the store did not answer.
const failureWaitMs = 1_000;
// A look takes milliseconds; six missed ones are no coincidence.
const stalledAfterMs = 60_000;

/** Looks at the alerts when there may be something to notify; its first look finds what a crash left behind. */
export interface NotifierLoop extends Loop {
  /** Ends after the current look. @throws the error of that look */
  readonly stop: () => Promise<void>;
  /** Alerts have changed, or of how many organizations the state is known: looks within a second. */
  changed(): void;
}

export interface NotifierLoopOptions {
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: () => Pick<AlertingSettings, "groupWaitMs">;
}

/** Creates the loop over the notifier. */
export function createNotifierLoop(options: NotifierLoopOptions): NotifierLoop {
  const { notifier, clock, logger, settings } = options;
  let failure: unknown = null;
  const loop = createLoop({
    clock,
    everyMs: longestWaitMs,
    retryAfterMs: failureWaitMs,
    stalledAfterMs,
    followsWallClock: true,
    runOnce: async () => {
      const { nextAtMs } = await notifier.runOnce();
      return nextAtMs === null ? longestWaitMs : Math.min(Math.max(nextAtMs - clock.nowMs(), 0), longestWaitMs);
    },
    onError: (error) => {
      if (loop.signal.aborted) failure = error;
      else logger.error({ err: error }, "alerts could not be looked at");
    },
  });
  return {
    ...loop,
    changed: () => loop.wake(Math.min(soonestLookMs, settings().groupWaitMs)),
    stop: async () => {
      await loop.stop();
      if (failure !== null) throw failure;
    },
  };
}
