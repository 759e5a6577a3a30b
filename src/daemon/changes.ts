import { secondMs, type Clock } from "../base/time.ts";

/** Which version of what pages show holds now; whoever has this version has to read nothing again. */
export interface Changes {
  /** Somebody has acted: it is seen at once. */
  acted(): void;
  /** Something that people act on has changed by itself. */
  changed(): void;
  /** Runs were recorded. */
  ran(): void;
  version(): string;
}

// Many alerts change together.
const changesEveryMs = secondMs;
// Runs of a large fleet end all the time.
const rowsEveryMs = 10 * secondMs;

/** Nothing has changed yet. */
export function createChanges(clock: Pick<Clock, "monotonicMs">): Changes {
  const changes = counter(clock, changesEveryMs);
  const rows = counter(clock, rowsEveryMs);
  return {
    acted: () => changes.next(),
    changed: () => changes.note(),
    ran: () => rows.note(),
    version: () => `${changes.count()}.${rows.count()}`,
  };
}

/** Counts what is noted, all of it within `everyMs` as one. */
function counter({ monotonicMs }: Pick<Clock, "monotonicMs">, everyMs: number) {
  let [count, isNoted, countedMs] = [0, false, -Infinity];
  const next = (): void => {
    [count, isNoted, countedMs] = [count + 1, false, monotonicMs()];
  };
  return {
    next,
    note: () => {
      isNoted = true;
    },
    count: () => {
      if (isNoted && monotonicMs() - countedMs >= everyMs) next();
      return count;
    },
  };
}
