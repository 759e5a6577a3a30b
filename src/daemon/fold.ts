import { createLoop, type Loop } from "../base/loop.ts";
import type { Logger } from "../base/logger.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";

export interface FoldOptions {
  readonly store: Pick<Store, "runs">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = minuteMs;
// Between two slices other work gets the store.
const pauseMs = 20;

/**
 * Creates the loop that folds the runs of each hour into one row per check after it. Every slice is a transaction, so that a
 * start can go on where a stop left it.
 */
export function createFold({ store, clock, logger }: FoldOptions): Loop {
  const onError = (error: unknown): void => logger.error({ err: error }, "runs not folded, trying again");
  const loop = createLoop({ clock, everyMs: lookEveryMs, firstAfterMs: lookEveryMs, runOnce: look, onError });
  let foldedHour = -1;

  async function look(): Promise<void> {
    const hour = Math.floor(clock.nowMs() / hourMs);
    if (hour === foldedHour) return;
    await foldBefore(hour * hourMs);
    if (!loop.signal.aborted) foldedHour = hour;
  }

  async function foldBefore(beforeMs: number): Promise<void> {
    let afterId: number | null = 0;
    while (afterId !== null && !loop.signal.aborted) {
      afterId = await store.runs.foldRuns(afterId, beforeMs);
      await clock.sleep(pauseMs, loop.signal);
    }
    logger.debug({ beforeMs }, "runs folded");
  }

  return loop;
}
