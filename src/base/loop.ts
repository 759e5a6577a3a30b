import { secondMs, type Clock } from "./time.ts";

/** Work that is repeated until it is stopped, one turn after the other. */
export type Loop = Readonly<ReturnType<typeof createLoop>>;

export interface LoopOptions {
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "sleep">;
  /** One turn. Returns the wait until the next one, ms [everyMs]. */
  readonly runOnce: () => Promise<number | void>;
  /** Called with the error of a turn, also of the last one; the next turn begins after `retryAfterMs`. */
  readonly onError: (error: unknown) => void;
  readonly everyMs: number;
  /** [0] */
  readonly firstAfterMs?: number;
  /** [everyMs] */
  readonly retryAfterMs?: number;
  /** [never] */
  readonly stalledAfterMs?: number;
  /** It waits for an instant of the wall clock: when that is set, the next turn begins within a minute [false]. */
  readonly followsWallClock?: boolean;
}

// The two clocks are compared this often, which costs nothing: whether a turn is due is looked up in the store.
const compareClocksMs = 60 * secondMs;
// A smaller difference is a clock that is adjusted, not one that was set.
const clockSetByMs = secondMs;
// An abort without a reason creates an exception with its stack.
const wokenUp = "woken up";

/** Creates a loop that has not started: the one way in which the daemon repeats work. */
export function createLoop(options: LoopOptions) {
  const { clock, everyMs, firstAfterMs = 0, retryAfterMs = everyMs, stalledAfterMs = Infinity } = options;
  const longestSleepMs = options.followsWallClock === true ? compareClocksMs : Infinity;
  const stopping = new AbortController();
  let sleeping = new AbortController();
  let isAsleep = false;
  let running: Promise<void> | null = null;
  /** Instant of the monotonic clock, as the others here. */
  let nextTurnMs = Infinity;
  let lastTurnMs = clock.monotonicMs();
  /** Instant of the wall clock at which the monotonic clock was zero, as of the last turn. */
  let monotonicZeroMs = clock.nowMs() - lastTurnMs;

  /** Brings the next turn forward to `delayMs` from now. */
  function wake(delayMs = 0): void {
    const atMs = clock.monotonicMs() + delayMs;
    if (atMs >= nextTurnMs) return;
    nextTurnMs = atMs;
    if (isAsleep) sleeping.abort(wokenUp);
  }

  async function untilNextTurn(): Promise<void> {
    // Long timers end early, and a wake may bring the turn forward only in part.
    while (!stopping.signal.aborted && clock.monotonicMs() < nextTurnMs) {
      if (sleeping.signal.aborted) sleeping = new AbortController();
      isAsleep = true;
      await clock.sleep(Math.min(nextTurnMs - clock.monotonicMs(), longestSleepMs), sleeping.signal);
      isAsleep = false;
      if (options.followsWallClock === true && wasWallClockSet()) wake();
    }
  }

  function wasWallClockSet(): boolean {
    return Math.abs(clock.nowMs() - clock.monotonicMs() - monotonicZeroMs) >= clockSetByMs;
  }

  async function turn(): Promise<number> {
    try {
      return (await options.runOnce()) ?? everyMs;
    } catch (error) {
      options.onError(error);
      return retryAfterMs;
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await untilNextTurn();
      if (stopping.signal.aborted) return;
      lastTurnMs = clock.monotonicMs();
      monotonicZeroMs = clock.nowMs() - lastTurnMs;
      // It is set before the turn, because something during the turn may ask for another one.
      nextTurnMs = Infinity;
      wake(await turn());
    }
  }

  return {
    /** Begins with the first turn, after `firstAfterMs`. */
    start: (): void => {
      if (running !== null) return;
      nextTurnMs = clock.monotonicMs() + firstAfterMs;
      lastTurnMs = clock.monotonicMs();
      running = run();
    },
    signal: stopping.signal,
    wake,
    /** Returns true if a turn lasts for `stalledAfterMs`, or is overdue by as much, or if the loop was stopped. */
    isStalled: (): boolean => {
      const sinceMs = isAsleep ? nextTurnMs : lastTurnMs;
      return stopping.signal.aborted || (running !== null && clock.monotonicMs() - sinceMs > stalledAfterMs);
    },
    /** Begins no further turn and waits for the current one. */
    stop: async (): Promise<void> => {
      stopping.abort();
      sleeping.abort(wokenUp);
      await running;
    },
  };
}
