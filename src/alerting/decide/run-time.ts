/** When a run was due, when it began, and when the next one is due; epoch ms. */
export interface RunTimes {
  readonly dueAtMs: number;
  readonly startedAtMs: number;
  readonly nextDueAtMs: number;
}

// Runs begin some ms to seconds after they are due, each time others; what is later than that has waited for something.
const onTimeShare = 0.25;

/**
 * Returns the time at which a run counts for the waits of alerts: when it was due, if it began within a quarter of its interval
 * after that; else when it began. Measured between starts, `for: 10m` would end with the third or the fourth of runs that
 * come every 5 minutes, as a few milliseconds have it.
 */
export function runTimeMs({ dueAtMs, startedAtMs, nextDueAtMs }: RunTimes): number {
  const lagMs = startedAtMs - dueAtMs;
  return lagMs >= 0 && lagMs <= (nextDueAtMs - dueAtMs) * onTimeShare ? dueAtMs : startedAtMs;
}
