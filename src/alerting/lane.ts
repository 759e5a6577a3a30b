import type { Clock } from "../base/time.ts";
import type { OutboxReceiver } from "./attempt.ts";
import { createRateWindow } from "./rate-limit.ts";

/** What one receiver's deliveries share: places, rate limit and pauses; none of it touches another receiver. */
export interface Lane {
  settings: OutboxReceiver;
  /** Whether every place is taken; one that becomes free wakes the outbox. */
  isFull(): boolean;
  /** How many deliveries may begin now, by places and rate. */
  places(): number;
  /** For how long rate limit and pauses let none begin, ms; 0: one may. */
  freeInMs(): number;
  isIdle(): boolean;
  begin(): void;
  end(): void;
  /** The receiver asked to be left alone for so long. */
  pause(ms: number): void;
  /** Until what fires is due to be sent again, ms; Infinity: never. */
  resendInMs(): number;
  resent(): void;
}

/** A lane with `width` deliveries at once. */
export function createLane(clock: Clock, width: number, settings: OutboxReceiver): Lane {
  const window = createRateWindow();
  let underWay = 0;
  let pausedUntilMs = 0;
  let resentAtMs = clock.monotonicMs();

  const lane: Lane = {
    settings,
    isFull: () => underWay >= width,
    places: () => Math.min(width - underWay, window.free(lane.settings.rateLimit, clock.monotonicMs())),
    freeInMs: () => {
      const nowMs = clock.monotonicMs();
      const limit = lane.settings.rateLimit;
      const rateMs = limit === null || window.free(limit, nowMs) > 0 ? nowMs : window.freeAtMs(limit, nowMs);
      return Math.max(0, pausedUntilMs - nowMs, rateMs - nowMs);
    },
    isIdle: () => underWay === 0,
    begin: () => {
      underWay++;
      window.take(clock.monotonicMs());
    },
    end: () => {
      underWay--;
    },
    pause: (ms) => {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonicMs() + ms);
    },
    resendInMs: () => {
      const intervalMs = lane.settings.receiver.resendIntervalMs;
      return intervalMs === undefined
        ? Infinity
        : Math.max(resentAtMs + intervalMs, pausedUntilMs) - clock.monotonicMs();
    },
    resent: () => {
      resentAtMs = clock.monotonicMs();
    },
  };
  return lane;
}
