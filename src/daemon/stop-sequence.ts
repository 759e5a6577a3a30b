import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";

/** The parts that a daemon has to end, in this order of groups. The parts of a group end at once. */
export interface StopSequence {
  /** Loops and their running work. */
  readonly work: ReleaseGroup;
  /** Web server and event ingest, which answer while the work ends, and the last check of the store's file. */
  readonly doors: ReleaseGroup;
  readonly store: ReleaseGroup;
}

export function createStopSequence(): StopSequence {
  return { work: new ReleaseGroup(), doors: new ReleaseGroup(), store: new ReleaseGroup() };
}

// From the end of the drain: 2 s (CONTRACT), less the time in which the process itself ends. Each group also has what
// earlier groups left; one that hangs does not take the time of the next.
const workEndsMs = 600;
const doorsEndMs = 900;
const storeEndsMs = 1_200;

/** Returns the part of a limit in which work may end by itself, ms; in the rest it is aborted and queued again. */
export function drainOf(limitMs: number): number {
  return Math.max(0, limitMs - workEndsMs);
}

export interface Stopped {
  /** False when something that was to be stored was not. */
  readonly isStored: boolean;
}

/** Ends everything within `drainMs` and 1.2 s, whatever fails or hangs; never rejects. */
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
