import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { isTimedOut, type Clock } from "../base/time.ts";
import { checkKind, type CheckTarget } from "../checks/checks.ts";
import type { CheckRun, Evaluated } from "../checks/kind.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import { checkErrorReason, type CheckReport, type ObservedCounts } from "../contract/report.ts";

export interface RunCheckDeps extends Pick<CheckRun, "firstEvents" | "events" | "evidence"> {
  readonly source: PlatformSource;
  readonly clock: Clock;
  /** The keys of the result that have the counts (CONTRACT 4, source.observedKeys). */
  readonly observedKeys: Readonly<Record<keyof ObservedCounts, string>>;
  /** The organization's address in the application, for results that are made here. */
  readonly appUrl?: (slug: string) => string | null;
}

/**
 * Runs one check of one organization and answers what it gave. Never rejects: whatever fails is an error report under a
 * reason of the closed set (CONTRACT 6). `signal` ends it early, as `timeout`, even when the source does not listen.
 */
export async function runCheck(target: CheckTarget, deps: RunCheckDeps, signal: AbortSignal): Promise<CheckReport> {
  const startedAtMs = deps.clock.nowMs();
  const kind = checkKind(target.check);
  const base = { check: target.check, slug: target.slug, startedAtMs };
  try {
    const evaluated = await orAborted(evaluate(target, deps, startedAtMs, signal), signal);
    const { severity } = evaluated.result;
    const counts = kind.countsDeaths === true ? observedCounts(evaluated.result, deps.observedKeys) : noCounts;
    return { ...base, ...evaluated, kind: "result", finishedAtMs: deps.clock.nowMs(), severity, counts };
  } catch (thrown) {
    const error = signal.aborted && !(thrown instanceof FlatlineError) ? endedEarly(signal) : asFlatlineError(thrown);
    const reason = kind.errorReasons?.[error.code] ?? checkErrorReason(error.code);
    return {
      ...base,
      kind: "error",
      finishedAtMs: deps.clock.nowMs(),
      severity: "unknown",
      error: { reason, message: error.message },
    };
  }
}

async function evaluate(
  target: CheckTarget,
  deps: RunCheckDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { slug } = target;
  const api = deps.source.forOrganization(slug);
  return checkKind(target.check).run(target, { ...deps, api, nowMs, signal, appUrl: deps.appUrl?.(slug) ?? null });
}

const noCounts: ObservedCounts = { currentCount: null, baselineCount: null, expectedCount: null, ratio: null };

/** Returns the counts of a result, where it has them under the configured names. */
export function observedCounts(result: HealthcheckResult, keys: RunCheckDeps["observedKeys"]): ObservedCounts {
  const count = (key: string): number | null => {
    // Own keys only: a configured key may be called like something that every object has.
    const value = Object.hasOwn(result.observed, key) ? result.observed[key] : null;
    return typeof value === "number" && Number.isFinite(value) ? value : null;
  };
  return {
    currentCount: count(keys.currentCount),
    baselineCount: count(keys.baselineCount),
    expectedCount: count(keys.expectedCount),
    ratio: count(keys.ratio),
  };
}

function endedEarly(signal: AbortSignal): FlatlineError {
  return new FlatlineError(
    "api_timeout",
    isTimedOut(signal) ? "the check did not end in time" : "the check was stopped",
  );
}

/** `work`, or a rejection as soon as the signal aborts: a source that hangs must not hold a place for ever. */
function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(endedEarly(signal));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
