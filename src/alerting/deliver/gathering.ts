import { eventLoopTurn, type Clock } from "../../base/time.ts";

/** The wait before a commit for what is to be in it, too. */
export interface Gathering {
  /** Resolves when nothing more is to be waited for. Many who wait at once wait for the same. */
  gather(): Promise<void>;
  /** Lets those who wait go on. */
  end(): void;
}

export interface GatheringOptions {
  readonly clock: Clock;
  /** Whether it is worth to wait. */
  readonly isMoreToCome: () => boolean;
}

// While more is to be sent, answers wait so long for others: a commit waits for the disk, and does it for all of them. A
// crash repeats what came meanwhile.
const gatherMs = 10;
// Without a reason of its own each abort would make an exception with its stack.
const ended = "nothing to wait for";

/** Gathers for at most some milliseconds. */
export function createGathering({ clock, isMoreToCome }: GatheringOptions): Gathering {
  let waiting = new AbortController();
  let gathered: Promise<void> | null = null;

  async function wait(): Promise<void> {
    // What has arrived with the first of them has not been heard yet.
    await eventLoopTurn();
    if (!isMoreToCome()) return;
    waiting = new AbortController();
    await clock.sleep(gatherMs, waiting.signal);
  }

  return {
    gather: () => {
      gathered ??= wait().finally(() => {
        gathered = null;
      });
      return gathered;
    },
    end: () => {
      if (!waiting.signal.aborted) waiting.abort(ended);
    },
  };
}
