import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { isTimedOut, type Clock } from "../base/time.ts";
import { checkKind, isSpike, type CheckTarget } from "../checks/checks.ts";
import { spikeFound, type SpikeTarget } from "../checks/dead-asset-spike/dead-asset-spike.ts";
import type { CheckRun, Evaluated } from "../checks/kind.ts";
import type { FirstEvents } from "../contract/liveness-counts.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { PlatformSource } from "../contract/platform-api.ts";
import { boundReport } from "../contract/result-bounds.ts";
import { checkErrorReason, type CheckReport, type ObservedCounts } from "../contract/report.ts";

type SpikeEvaluation = NonNullable<CheckRun["evaluation"]>;

export interface RunCheckDeps extends Pick<CheckRun, "firstEvents" | "events" | "evidence"> {
  readonly source: PlatformSource;
  readonly clock: Clock;
  /** Evaluates the spikes of a round at one instant, in order; for local sources only [`source` evaluates each]. */
  readonly evaluate?: (
    targets: readonly SpikeTarget[],
    round: { readonly nowMs: number; readonly signal: AbortSignal; readonly firstEvents: FirstEvents | null },
  ) => Promise<readonly (SpikeEvaluation | FlatlineError)[]>;
  /** The keys of the result that have the counts (CONTRACT 4, source.observedKeys). */
  readonly observedKeys: Readonly<Record<keyof ObservedCounts, string>>;
  /** The organization's address in the application, for results that are made here. */
  readonly appUrl?: (slug: string) => string | null;
}

/** The rest of a run whose counts were not enough. It ends with its report, or when its signal aborts. */
export type OpenRun = (signal: AbortSignal) => Promise<CheckReport>;

/** Runs one check of one organization: a round of one. Never rejects. */
export async function runCheck(target: CheckTarget, deps: RunCheckDeps, signal: AbortSignal): Promise<CheckReport> {
  const [run] = await runRound([target], deps, signal);
  if (run === undefined) throw new FlatlineError("internal", "a round of one has no run");
  return typeof run === "function" ? run(signal) : run;
}

/**
 * Runs checks at one instant, in order. One query counts all spikes of a local source; a spike that needs no more data
 * has its report at once. Never rejects: a failure is an error report with a reason of CONTRACT 6. `signal` ends it
 * early, as `timeout`, even when the source ignores it.
 */
export async function runRound(
  targets: readonly CheckTarget[],
  deps: RunCheckDeps,
  signal: AbortSignal,
): Promise<(CheckReport | OpenRun)[]> {
  const startedAtMs = deps.clock.nowMs();
  const counted = new Map<CheckTarget, SpikeEvaluation | FlatlineError>();
  let firstEvents: FirstEvents | null = null;
  const spikes = targets.filter(isSpike);
  if (deps.evaluate !== undefined && spikes.length > 0)
    try {
      const asked = deps.firstEvents?.(spikes.map(({ slug }) => slug));
      if (asked !== undefined) firstEvents = await orAborted(asked, signal);
      const round = { nowMs: startedAtMs, signal, firstEvents };
      const evaluated = await orAborted(deps.evaluate(spikes, round), signal);
      for (const [index, target] of spikes.entries())
        counted.set(target, evaluated[index] ?? new FlatlineError("internal", "a round was evaluated in part"));
    } catch (thrown) {
      const error = errorOf(thrown, signal);
      for (const target of spikes) counted.set(target, error);
    }

  return targets.map((target): CheckReport | OpenRun => {
    const report = (found: Evaluated | FlatlineError): CheckReport => reportOf(target, { ...deps, startedAtMs }, found);
    const evaluation = counted.get(target);
    if (evaluation instanceof FlatlineError) return report(evaluation);
    const isAll = evaluation?.result.severity === "ok" && isSpike(target) && (target.maxSilenceMs ?? null) === null;
    if (isAll) return report(foundOrError(() => spikeFound(target, evaluation, { nowMs: startedAtMs, firstEvents })));
    const known = evaluation === undefined ? deps.firstEvents : async () => firstEvents;
    return async (ending) => {
      try {
        const run = checkKind(target.check).run(target, {
          ...deps,
          firstEvents: known,
          evaluation,
          nowMs: startedAtMs,
          signal: ending,
          api: () => deps.source.forOrganization(target.slug),
          appUrl: deps.appUrl?.(target.slug) ?? null,
        });
        return report(await orAborted(run, ending));
      } catch (thrown) {
        return report(errorOf(thrown, ending));
      }
    };
  });
}

/** Returns the report, of at most `maxReportBytes`. */
function reportOf(
  { check, slug }: CheckTarget,
  { clock, observedKeys, startedAtMs }: Pick<RunCheckDeps, "clock" | "observedKeys"> & { readonly startedAtMs: number },
  found: Evaluated | FlatlineError,
): CheckReport {
  const base = { check, slug, startedAtMs, finishedAtMs: clock.nowMs() };
  const { countsDeaths = false, errorReasons } = checkKind(check);
  if (found instanceof FlatlineError) {
    const { code, message, status = 0 } = found;
    const reason = errorReasons?.[code] ?? checkErrorReason(code);
    const error = { reason, message, ...(status >= 400 ? { status } : {}) };
    return boundReport({ ...base, kind: "error", severity: "unknown", error });
  }
  const counts = countsDeaths ? observedCounts(found.result, observedKeys) : noCounts;
  return boundReport({ ...base, ...found, kind: "result", severity: found.result.severity, counts });
}

function foundOrError(find: () => Evaluated): Evaluated | FlatlineError {
  try {
    return find();
  } catch (error) {
    return asFlatlineError(error);
  }
}

const noCounts: ObservedCounts = { currentCount: null, baselineCount: null, expectedCount: null, ratio: null };

/** Returns the counts of a result, where it has them under the configured names. */
function observedCounts(result: HealthcheckResult, keys: RunCheckDeps["observedKeys"]): ObservedCounts {
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

function errorOf(thrown: unknown, signal: AbortSignal): FlatlineError {
  return signal.aborted && !(thrown instanceof FlatlineError) ? endedEarly(signal) : asFlatlineError(thrown);
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
