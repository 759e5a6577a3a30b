import { secondMs, type Clock } from "./time.ts";

/** Work that is repeated until it is stopped, one turn after the other. */
export type Loop = Readonly<ReturnType<typeof createLoop>>;

export interface LoopOptions {
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "sleep">;
  /** One turn. Returns the wait until the next one, ms [everyMs]. */
  readonly runOnce: () => Promise<number | void>;
  /** Called with the error of a turn; the next turn begins after `retryAfterMs`. */
  readonly onError: (error: unknown) => void;
  readonly everyMs: number;
  /** [0] */
  readonly firstAfterMs?: number;
  /** [everyMs] */
  readonly retryAfterMs?: number;
  /** [never] */
  readonly stalledAfterMs?: number;
  /** A turn is due at an instant of the wall clock: within a minute after that clock is set, a turn begins [false]. */
  readonly followsWallClock?: boolean;
}

// Comparing the clocks is cheap; a turn reads the store.
const compareClocksMs = 60 * secondMs;
// A smaller difference is an adjustment of the clock.
const clockSetByMs = secondMs;
// An abort without a reason would create an exception with its stack.
const wokenUp = "woken up";

/** Creates a loop that has not started: the daemon's one way to repeat work. */
export function createLoop(options: LoopOptions) {
  const { clock, everyMs, firstAfterMs = 0, retryAfterMs = everyMs, stalledAfterMs = Infinity } = options;
  const longestSleepMs = options.followsWallClock === true ? compareClocksMs : Infinity;
  const stopping = new AbortController();
  let sleeping = new AbortController();
  let isAsleep = false;
  let running: Promise<void> | null = null;
  /** Monotonic clock, as the others here. */
  let nextTurnMs = Infinity;
  let lastTurnMs = clock.monotonicMs();
  /** Wall clock when the monotonic clock was zero, as of the last turn. */
  let monotonicZeroMs = clock.nowMs() - lastTurnMs;

  /** Brings the next turn forward to `delayMs` from now. */
  function wake(delayMs = 0): void {
    const atMs = clock.monotonicMs() + delayMs;
    if (atMs >= nextTurnMs) return;
    nextTurnMs = atMs;
    if (isAsleep) sleeping.abort(wokenUp);
  }

  async function untilNextTurn(): Promise<void> {
    // Timers may end early, and a wake may still leave a wait.
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
      // Set before the turn, which may wake the loop.
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
    /** True if a turn lasts `stalledAfterMs`, is overdue by as much, or if the loop was stopped. */
    isStalled: (): boolean => {
      const sinceMs = isAsleep ? nextTurnMs : lastTurnMs;
      return stopping.signal.aborted || (running !== null && clock.monotonicMs() - sinceMs > stalledAfterMs);
    },
    /** Waits for the current turn; none begins after it. */
    stop: async (): Promise<void> => {
      stopping.abort();
      sleeping.abort(wokenUp);
      await running;
    },
  };
}
