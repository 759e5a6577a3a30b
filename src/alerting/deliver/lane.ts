import type { Clock } from "../../base/time.ts";
import type { OutboxReceiver } from "./attempt.ts";
import { createRateWindow } from "./rate-limit.ts";

/**
 * The deliveries of one receiver: how many may begin, and when what still fires is due to be sent again. Nothing of it touches
 * another receiver. A pause that the receiver asks for is in the store, which then leases nothing for it.
 */
export interface Lane {
  settings: OutboxReceiver;
  /** Returns how many deliveries may begin now. */
  free(): number;
  /** Returns the wait until one more may begin, or until what fires is due again, ms; Infinity: only a delivery's end helps. */
  waitMs(): number;
  /** Returns true if firing alerts are due to be sent again and no request is in flight. */
  isResendDue(): boolean;
  begin(): void;
  end(): void;
  resent(): void;
}

// One slow request must not hold back the notifications of other alerts; many at once would be a storm.
const deliveriesAtOnce = 4;

/** Creates a lane without deliveries. */
export function createLane(clock: Pick<Clock, "monotonicMs">, settings: OutboxReceiver): Lane {
  const window = createRateWindow();
  let underWay = 0;
  let resentAtMs = clock.monotonicMs();

  function resendInMs(): number {
    const { resendIntervalMs } = lane.settings.receiver;
    return resendIntervalMs === undefined ? Infinity : Math.max(0, resentAtMs + resendIntervalMs - clock.monotonicMs());
  }

  const lane: Lane = {
    settings,
    free: () => {
      // What is sent again goes alone: it must not put back what a delivery beside it has just resolved.
      if (resendInMs() <= 0) return 0;
      return Math.min(deliveriesAtOnce - underWay, window.free(lane.settings.rateLimit, clock.monotonicMs()));
    },
    waitMs: () => {
      const { rateLimit } = lane.settings;
      const nowMs = clock.monotonicMs();
      const isLimited = rateLimit !== null && window.free(rateLimit, nowMs) === 0;
      const freeInMs = isLimited ? window.freeAtMs(rateLimit, nowMs) - nowMs : Infinity;
      const isHeld = resendInMs() <= 0 && underWay > 0;
      return isHeld ? Infinity : Math.min(freeInMs, resendInMs());
    },
    isResendDue: () => underWay === 0 && resendInMs() <= 0,
    begin: () => {
      underWay++;
      window.take(clock.monotonicMs());
    },
    end: () => {
      underWay--;
    },
    resent: () => {
      resentAtMs = clock.monotonicMs();
    },
  };
  return lane;
}
