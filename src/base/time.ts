import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";

/** The only access to time. Tests pass a virtual clock (test/support/virtual-clock.ts). */
export interface Clock {
  /** Wall clock, epoch ms, integer. */
  nowMs(): number;
  /** Milliseconds from an arbitrary zero, for durations. */
  monotonicMs(): number;
  /** Resolves after `delayMs`, or at once when `signal` aborts; never rejects. Callers check the signal. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Aborts after `delayMs` with a TimeoutError, or with `signal`. Keeps no process alive. */
  timeout(delayMs: number, signal?: AbortSignal): AbortSignal;
  /** Like `timeout`, for frequent operations that usually end early: `release` it afterwards. */
  deadline(delayMs: number, signal?: AbortSignal): Deadline;
}

export interface Deadline {
  /** Aborts with a TimeoutError, or with the reason of the parent signal; never after `release`. */
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Resolves after the pending events of sockets and files, without a delay. */
export function eventLoopTurn(): Promise<void> {
  return turn();
}

export function timeoutError(): DOMException {
  return new DOMException("The operation was aborted due to timeout", "TimeoutError");
}

/** Returns whether a signal aborted because of a timeout. */
export function isTimedOut({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

export function createSystemClock(): Clock {
  // A third of the cost of AbortSignal.timeout and AbortSignal.any, which only garbage collection releases.
  function deadline(delayMs: number, signal?: AbortSignal): Deadline {
    const controller = new AbortController();
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    const end = (reason: unknown): void => {
      release();
      controller.abort(reason);
    };
    const stop = (): void => end(signal?.reason);
    const timer = setTimeout(() => end(timeoutError()), timerMs(Math.ceil(delayMs))).unref();
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    return { signal: controller.signal, release };
  }
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: async (delayMs, signal) => {
      try {
        await delay(timerMs(delayMs), undefined, signal === undefined ? {} : { signal });
      } catch (error) {
        if (signal === undefined || !signal.aborted) throw error;
      }
    },
    timeout: (delayMs, signal) => deadline(delayMs, signal).signal,
    deadline,
  };
}

// setTimeout has a signed 32-bit delay: longer ones fire at once.
function timerMs(delayMs: number): number {
  return Math.min(Math.max(delayMs, 0), 2_147_483_647);
}

export const secondMs = 1_000;
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

// After a block of this length comes an equal rest (CONTRACT 10: at most 10 ms).
const blockMs = 5;
const longestRestMs = 100;

/** Creates a rest to await between pieces of work: as long as the work took, at most `longestRestMs`. */
export function createRest(clock: Clock): (signal?: AbortSignal) => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async (signal) => {
    const workedMs = clock.monotonicMs() - sinceMs;
    // The limit is for a caller that comes long after its last work: it has rested already.
    if (workedMs >= blockMs) await clock.sleep(Math.min(workedMs, longestRestMs), signal);
    else await eventLoopTurn();
    sinceMs = clock.monotonicMs();
  };
}
