import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";

/** The parts that a daemon has to end, in this order. Each group ends as one: nothing in it needs the rest of it. */
export interface StopSequence {
  /** Loops and their running work. All of them are stopped at once. */
  readonly work: ReleaseGroup;
  /** The ways in, which answer while the work ends, and what notes what the work did. */
  readonly doors: ReleaseGroup;
  /** The store and the connections. */
  readonly store: ReleaseGroup;
}

/** Creates a sequence without parts. */
export function createStopSequence(): StopSequence {
  return { work: new ReleaseGroup(), doors: new ReleaseGroup(), store: new ReleaseGroup() };
}

// The time from the end of the drain: the contract's 2 s less the time that the process itself needs to end. Each group
// may use what the groups before it have left; a group that hangs leaves the next one its part.
const workEndsMs = 600;
const doorsEndMs = 900;
const storeEndsMs = 1_200;

/** Returns what there is of the time that work gets for ending by itself, ms; the rest is for giving up, and for what is under way to be queued again. */
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
  const failures = [];
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
