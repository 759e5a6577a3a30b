import { setImmediate as turn, setTimeout as realDelay } from "node:timers/promises";

import { timeoutError, type Clock } from "../../src/base/time.ts";

/** A clock that stands still until the test moves it. */
export interface VirtualClock extends Clock {
  /** Moves on by `ms`, firing sleepers and timeouts in order of time, each at its own instant. */
  advance(ms: number): Promise<void>;
  /** Moves on to wall time `atMs`; never back. */
  advanceTo(atMs: number): Promise<void>;
  /** Advances timer by timer until `condition` holds; throws after `limitMs` [a day] of virtual time. */
  advanceUntil(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** The process was suspended for `ms`: nothing fires in between, then all that is due, in order, at the new time. */
  jump(ms: number): Promise<void>;
  /** Somebody set the wall clock by `ms` (negative: back): timers and monotonic time do not notice. */
  shiftWall(ms: number): void;
  /** The same clock for a process that can die: at its end its timers go, and nothing of it wakes any more. */
  lifetime(): { readonly clock: Clock; readonly end: () => void };
  /** Lets promise chains and I/O within this process go on without time passing. */
  settle(): Promise<void>;
  /** Waits in real time (at most 40 s) for what real I/O brings about, without virtual time passing. */
  settleUntil(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Sleepers that nobody has woken: they would keep a process alive. */
  pendingSleeps(): number;
  /** Timeouts that have neither fired nor been cancelled by their signal; they keep nothing alive. */
  pendingTimeouts(): number;
  /** Throws when a sleeper is left: what was stopped must have stopped waiting. */
  assertIdle(): void;
}

interface Owner {
  hasEnded: boolean;
}

interface Timer {
  /** null: nothing that can end before the clock does. */
  readonly owner: Owner | null;
  readonly kind: "sleep" | "timeout";
  readonly dueAtMs: number;
  readonly sequence: number;
  readonly fire: () => void;
}

// As the system clock does: a longer timer ends early, and its caller has to look at the time.
const longestTimerMs = 2_147_483_647;
// Turns of the event loop between two timers: a request over a local socket and back takes some six.
const socketTurns = 12;

/**
 * A clock for tests that starts at wall time `startMs` and at monotonic zero. Where no socket and no file is waited
 * for, `settleTurns` "asked" takes turns of the event loop only while somebody waits for one: promises need none.
 */
export function createVirtualClock({
  startMs,
  settleTurns = socketTurns,
  realLimitMs = 40_000,
  isHeld = () => false,
}: {
  readonly startMs: number;
  readonly settleTurns?: number | "asked";
  /** How long real I/O may take before a wait for it fails [40 s: what hangs, not what is slow]. */
  readonly realLimitMs?: number;
  /** Something waits in real time, and no virtual time passes meanwhile [never]. */
  readonly isHeld?: () => boolean;
}): VirtualClock {
  let monotonicMs = 0;
  let wallZeroMs = startMs;
  let sequence = 0;
  const timers = new Set<Timer>();

  function add(owner: Owner | null, kind: Timer["kind"], delayMs: number, fire: () => void): Timer {
    const dueAtMs = monotonicMs + Math.min(Math.max(Math.ceil(delayMs), 0), longestTimerMs);
    const timer: Timer = { owner, kind, dueAtMs, sequence: sequence++, fire };
    if (owner?.hasEnded !== true) timers.add(timer);
    return timer;
  }

  function nextTimer(untilMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of timers) {
      if (timer.dueAtMs > untilMs) continue;
      if (
        next === null ||
        timer.dueAtMs < next.dueAtMs ||
        (timer.dueAtMs === next.dueAtMs && timer.sequence < next.sequence)
      )
        next = timer;
    }
    return next;
  }

  async function settle(): Promise<void> {
    if (settleTurns !== "asked") for (let index = 0; index < settleTurns; index++) await turn();
    else {
      await promisesDone();
      for (let index = 0; index < socketTurns && isTurnAsked(); index++) await turn();
      while (isHeld()) await realDelay(1);
    }
  }

  /** Fires the earliest timer up to `untilMs`; false when there is none. */
  async function step(untilMs: number): Promise<boolean> {
    await settle();
    const timer = nextTimer(untilMs);
    if (timer === null) return false;
    monotonicMs = Math.max(monotonicMs, timer.dueAtMs);
    timers.delete(timer);
    timer.fire();
    return true;
  }

  async function advanceMonotonicTo(untilMs: number): Promise<void> {
    while (await step(untilMs));
    monotonicMs = Math.max(monotonicMs, untilMs);
    await settle();
  }

  async function settleUntil(condition: () => boolean | Promise<boolean>, limit: string): Promise<void> {
    const endsAtMs = performance.now() + realLimitMs;
    while (!(await condition())) {
      if (performance.now() > endsAtMs) throw new Error(`not so within ${limit}`);
      await turn();
    }
  }

  function count(kind: Timer["kind"]): number {
    let found = 0;
    for (const timer of timers) if (timer.kind === kind) found++;
    return found;
  }

  function timersOf(owner: Owner | null): Clock {
    return {
      nowMs: () => wallZeroMs + monotonicMs,
      monotonicMs: () => monotonicMs,
      sleep: (delayMs, signal) =>
        new Promise((wakeUp) => {
          const resolve = (): void => {
            if (owner?.hasEnded !== true) wakeUp();
          };
          if (signal?.aborted === true) return resolve();
          // Nothing to wait for: one turn of the loop, so that code outside of an advance goes on too.
          if (delayMs <= 0) return void setImmediate(resolve);
          const timer = add(owner, "sleep", delayMs, () => {
            signal?.removeEventListener("abort", wake);
            resolve();
          });
          const wake = (): void => {
            timers.delete(timer);
            resolve();
          };
          signal?.addEventListener("abort", wake, { once: true });
        }),
      timeout(delayMs, signal) {
        return this.deadline(delayMs, signal).signal;
      },
      deadline: (delayMs, signal) => {
        const controller = new AbortController();
        const stop = (): void => {
          timers.delete(timer);
          controller.abort(signal?.reason);
        };
        const timer = add(owner, "timeout", delayMs, () => {
          signal?.removeEventListener("abort", stop);
          controller.abort(timeoutError());
        });
        if (signal?.aborted === true) stop();
        else signal?.addEventListener("abort", stop, { once: true });
        return {
          signal: controller.signal,
          release: () => {
            timers.delete(timer);
            signal?.removeEventListener("abort", stop);
          },
        };
      },
    };
  }

  return {
    ...timersOf(null),
    lifetime: () => {
      const owner: Owner = { hasEnded: false };
      return {
        clock: timersOf(owner),
        end: () => {
          owner.hasEnded = true;
          for (const timer of timers) if (timer.owner === owner) timers.delete(timer);
        },
      };
    },
    advance: (ms) => advanceMonotonicTo(monotonicMs + ms),
    advanceTo: (atMs) => advanceMonotonicTo(atMs - wallZeroMs),
    advanceUntil: async (condition, limitMs = 86_400_000) => {
      const untilMs = monotonicMs + limitMs;
      await settle();
      while (!(await condition())) {
        // Without a timer before the limit, only real I/O can bring it about.
        if (!(await step(untilMs))) return settleUntil(condition, `${limitMs} ms of virtual time`);
        await settle();
      }
    },
    jump: async (ms) => {
      await settle();
      monotonicMs += ms;
      await advanceMonotonicTo(monotonicMs);
    },
    shiftWall: (ms) => {
      wallZeroMs += ms;
    },
    settle,
    settleUntil: (condition) => settleUntil(condition, `${realLimitMs} ms of real time`),
    pendingSleeps: () => count("sleep"),
    pendingTimeouts: () => count("timeout"),
    assertIdle: () => {
      const left = count("sleep");
      if (left > 0) throw new Error(`${left} sleeper(s) left on the clock`);
    },
  };
}

/** Resolves when all promise chains have gone as far as they can. */
function promisesDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function isTurnAsked(): boolean {
  return process.getActiveResourcesInfo().includes("Immediate");
}
