/** At most `count` starts in any `perMs`. */
export interface RateLimit {
  readonly count: number;
  readonly perMs: number;
}

/** Which starts a rate limit allows; monotonic milliseconds. */
export interface RateWindow {
  /** How many may start now; Infinity without a limit. */
  free(limit: RateLimit | null, nowMs: number): number;
  /** The instant at which the next one may start, if none may now. */
  freeAtMs(limit: RateLimit, nowMs: number): number;
  take(nowMs: number): void;
}

/** Creates a sliding window over the starts of one receiver's deliveries: exact, where a bucket lets a burst through at its edge. */
export function createRateWindow(): RateWindow {
  let starts: number[] = [];

  function within({ perMs }: RateLimit, nowMs: number): readonly number[] {
    starts = starts.filter((atMs) => atMs > nowMs - perMs);
    return starts;
  }

  return {
    free: (limit, nowMs) => {
      if (limit === null) {
        starts = [];
        return Infinity;
      }
      return Math.max(0, Math.floor(limit.count) - within(limit, nowMs).length);
    },
    freeAtMs: (limit, nowMs) => {
      const recent = within(limit, nowMs);
      const oldest = recent[recent.length - Math.floor(limit.count)];
      return oldest === undefined ? nowMs : oldest + limit.perMs;
    },
    take: (nowMs) => {
      starts.push(nowMs);
    },
  };
}
