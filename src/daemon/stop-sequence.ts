import { ReleaseGroup, type ReleaseFailure } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";

/** What a daemon has to end, in the order in which it ends it. Each group ends as one: nothing in it needs the rest of it. */
export interface StopSequence {
  /** Loops and their running work. All of them are stopped at once. */
  readonly work: ReleaseGroup;
  /** The ways in, which answer while the work ends, and what notes what the work did. */
  readonly doors: ReleaseGroup;
  /** The store and the connections. */
  readonly store: ReleaseGroup;
}

/** Nothing to end yet. */
export function createStopSequence(): StopSequence {
  return { work: new ReleaseGroup(), doors: new ReleaseGroup(), store: new ReleaseGroup() };
}

// From the end of the drain; the contract's 2 s less what the process itself needs to end. Each group may use what those
// before it have left, and what hangs in one leaves the next its part.
const workEndsMs = 600;
const doorsEndMs = 900;
const storeEndsMs = 1_200;

/** Returns what there is of the time that work gets for ending by itself, ms; the rest is for giving up and for leases to go back. */
export function drainOf(limitMs: number): number {
  return Math.max(0, limitMs - workEndsMs);
}

/** How a stop went. */
export interface Stopped {
  /** False when something that was to be stored was not. */
  readonly isStored: boolean;
}

/** Ends everything within `drainMs` + 1.2 s, whatever fails or hangs. Never rejects. */
export async function stopAll(
  sequence: StopSequence,
  { clock, logger, drainMs }: { readonly clock: Clock; readonly logger: Logger; readonly drainMs: number },
): Promise<Stopped> {
  const drainedMs = clock.monotonicMs() + drainMs;
  const failures: ReleaseFailure[] = [];
  for (const [group, endsMs] of [
    [sequence.work, workEndsMs],
    [sequence.doors, doorsEndMs],
    [sequence.store, storeEndsMs],
  ] as const)
    failures.push(...(await group.releaseAll(clock, drainedMs + endsMs - clock.monotonicMs())));
  for (const { name, error, stores } of failures) {
    if (stores) logger.error({ err: error, part: name }, "part could not store what it holds");
    else logger.warn({ err: error, part: name }, "part did not end as it should");
  }
  return { isStored: !failures.some(({ stores }) => stores) };
}
