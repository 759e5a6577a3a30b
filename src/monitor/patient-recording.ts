import { FlatlineError } from "../base/errors.ts";
import { secondMs, type Clock } from "../base/time.ts";

export interface PatientRecordingOptions {
  readonly clock: Clock;
  /** How long to go on trying, ms. */
  readonly withinMs: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

// A lock is free in a moment, a server that restarts in some seconds.
const firstRetryMs = 100;
const longestRetryMs = secondMs;

/**
 * Does `record` again while the store is busy or away: what a run found is not thrown away for a server that restarts. Where
 * the store took it and only its answer was lost, the next attempt finds the lease gone and writes nothing.
 * @throws what `record` threw last
 */
export async function recordPatiently<Recorded>(
  record: () => Promise<Recorded>,
  { clock, withinMs, signal }: PatientRecordingOptions,
): Promise<Recorded> {
  const deadlineMs = clock.monotonicMs() + withinMs;
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(2 * waitMs, longestRetryMs)) {
    try {
      return await record();
    } catch (error) {
      const isPassing = error instanceof FlatlineError && error.code === "store_busy";
      if (!isPassing || signal.aborted || clock.monotonicMs() + waitMs > deadlineMs) throw error;
    }
    await clock.sleep(waitMs, signal);
  }
}
