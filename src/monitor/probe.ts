import { secondMs, type Clock } from "../base/time.ts";
import type { CheckReport } from "../contract/report.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckTarget } from "../checks/checks.ts";

// CONTRACT 6: two Prometheus servers that scrape the same target cause one run.
const freshMs = 5 * secondMs;

interface SharedRun {
  readonly target: CheckTarget;
  readonly report: Promise<CheckReport>;
  readonly stop: AbortController;
  waiting: number;
  finishedAtMs: number | null;
}

export type Prober = ReturnType<typeof createProber>;

/**
 * Creates the prober of `/probe` (CONTRACT 6): its runs are not counted, not stored, and change no alert. `run` may
 * reject once its signal has aborted. Concurrent probes of one (check, slug) share one run, and its result for 5 s.
 */
export function createProber(options: {
  readonly clock: Clock;
  readonly run: (target: CheckTarget, signal: AbortSignal) => Promise<CheckReport>;
}) {
  const { clock } = options;
  const runs = new Map<string, SharedRun>();

  function forgetOld(): void {
    for (const [key, { stop, finishedAtMs }] of runs)
      if (stop.signal.aborted || (finishedAtMs !== null && clock.monotonicMs() - finishedAtMs > freshMs))
        runs.delete(key);
  }

  function startRun(target: CheckTarget): SharedRun {
    const stop = new AbortController();
    const report = options.run(target, stop.signal);
    const shared: SharedRun = { target, report, stop, waiting: 0, finishedAtMs: null };
    report.then(
      () => (shared.finishedAtMs = clock.monotonicMs()),
      () => stop.abort(),
    );
    return shared;
  }

  return {
    /** Runs the check now; returns an error report with reason `timeout` when it does not end within `timeoutMs`. */
    probe: async (target: CheckTarget, timeoutMs: number): Promise<CheckReport> => {
      forgetOld();
      const key = checkKey(target);
      const known = runs.get(key);
      // Another target object: the configuration was read again.
      const shared = known?.target === target ? known : startRun(target);
      runs.set(key, shared);

      const startedAtMs = clock.nowMs();
      const stopWaiting = new AbortController();
      shared.waiting++;
      try {
        const late = clock.sleep(timeoutMs, stopWaiting.signal).then(() => null);
        return (await Promise.race([shared.report, late])) ?? timedOut(target, startedAtMs, clock.nowMs());
      } finally {
        stopWaiting.abort();
        shared.waiting--;
        // No caller waits any more: nobody needs the result.
        if (shared.waiting === 0 && shared.finishedAtMs === null) shared.stop.abort();
      }
    },
  };
}

function timedOut(target: CheckTarget, startedAtMs: number, finishedAtMs: number): CheckReport {
  const message = "the check did not end within the scrape's timeout";
  const { check, slug } = target;
  return {
    kind: "error",
    check,
    slug,
    startedAtMs,
    finishedAtMs,
    severity: "unknown",
    error: { reason: "timeout", message },
  };
}
