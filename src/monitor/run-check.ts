import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { dayMs, hourMs, type Clock } from "../base/time.ts";
import type { HealthcheckResult } from "../contract/healthcheck.ts";
import type { PlatformApi, PlatformSource, SpikeRequest } from "../contract/platform-api.ts";
import { walkReports } from "../contract/report-pages.ts";
import {
  checkErrorReason,
  assetTypeExcessOf,
  type CheckReport,
  type ObservedCounts,
  type ResultReport,
} from "../contract/report.ts";
import { evaluateReviewQueue, queuedReport, type QueuedReport } from "../checks/review-queue/evaluate.ts";
import type { LivenessChecks } from "../checks/liveness-checks.ts";
import type { CheckTarget, SpikeThresholds } from "../checks/target.ts";

/** Reads the instant of each organization's first event: null without one that is still there, absent without any ever. */
export type ReadFirstEvents = (slugs: readonly string[]) => Promise<ReadonlyMap<string, number | null>>;

export interface RunCheckDeps {
  readonly source: PlatformSource;
  readonly clock: Clock;
  /** Of this flatline, kept with each report. */
  readonly version?: string;
  /** Which of the result's free keys carry the counts (CONTRACT 4, source.observedKeys). */
  readonly observedKeys: Readonly<Record<keyof ObservedCounts, string>>;
  /** Local sources only. */
  readonly firstEvents?: ReadFirstEvents;
  /** Local events only: the checks over single events, and what the spike needs of them. */
  readonly livenessChecks?: LivenessChecks;
  /** Local events only: adds what they say to the result of a spike; never rejects but when `signal` aborts. */
  readonly evidence?: (
    result: HealthcheckResult,
    target: { readonly slug: string; readonly thresholds: SpikeThresholds },
    signal: AbortSignal,
  ) => Promise<HealthcheckResult>;
  /** The organization's address in the application, for results that are made here. */
  readonly appUrl?: (slug: string) => string | null;
}

/**
 * Runs one check of one organization and answers what it gave. Never rejects: whatever fails is an error report under a
 * reason of the closed set (CONTRACT 6). `signal` ends it early, as `timeout`, even when the source does not listen.
 */
export async function runCheck(target: CheckTarget, deps: RunCheckDeps, signal: AbortSignal): Promise<CheckReport> {
  const startedAtMs = deps.clock.nowMs();
  const version = deps.version === undefined ? {} : { version: deps.version };
  const base = { check: target.check, slug: target.slug, startedAtMs, ...version };
  try {
    const evaluated = await orAborted(evaluate(target, deps, startedAtMs, signal), signal);
    const { severity } = evaluated.result;
    const counts = observedCounts(evaluated.result, deps.observedKeys);
    return { ...base, ...evaluated, kind: "result", finishedAtMs: deps.clock.nowMs(), severity, counts };
  } catch (thrown) {
    const error = signal.aborted && !(thrown instanceof FlatlineError) ? endedEarly(signal) : asFlatlineError(thrown);
    const reason = checkErrorReason(error.code);
    return {
      ...base,
      kind: "error",
      finishedAtMs: deps.clock.nowMs(),
      severity: "unknown",
      error: { reason, message: error.message },
    };
  }
}

/** Returns why a run of an organization gives no result of which no event was ever stored. */
export function noEvents(slug: string): FlatlineError {
  const message = `no liveness event of ${JSON.stringify(slug)} was ever stored, so nothing is known of it: see whether its events arrive and name it so; for a stream that carries deaths only, set whenNoEvents: ok`;
  return new FlatlineError("no_events", message);
}

/** Share (0–1) of the baseline that lies after the first stored event (CONTRACT 7, minBaselineCoverage). */
export function coverageOfBaseline(thresholds: SpikeThresholds, nowMs: number, firstEventAtMs: number | null): number {
  if (firstEventAtMs === null) return 0;
  const baselineMs = thresholds.baselineDays * dayMs;
  const baselineEndMs = nowMs - thresholds.windowHours * hourMs;
  return Math.min(1, Math.max(0, (baselineEndMs - firstEventAtMs) / baselineMs));
}

type Evaluated = Pick<ResultReport, "result" | "baselineCoverage" | "assetTypeExcess">;

async function evaluate(
  target: CheckTarget,
  deps: RunCheckDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { slug } = target;
  const api = deps.source.forOrganization(slug);
  if (target.check === "review-queue") {
    const reports = await listQueue(api, slug, signal);
    const appUrl = deps.appUrl?.(slug) ?? null;
    const result = evaluateReviewQueue({ slug, nowMs, thresholds: target.thresholds, reports, appUrl });
    return { result, baselineCoverage: null };
  }
  if (target.check === "event-flow") {
    const result = await overLiveness(target, deps, nowMs);
    return { result, baselineCoverage: null };
  }
  const firstEvents = await deps.firstEvents?.([slug]);
  if (target.whenNoEvents === "unknown" && firstEvents?.has(slug) === false) throw noEvents(slug);
  if (target.check === "sentinel" || target.check === "regret") {
    const result = await overLiveness(target, deps, nowMs);
    return { result, baselineCoverage: null };
  }
  const { thresholds, maxSilenceMs } = target;
  if (maxSilenceMs !== undefined) await deps.livenessChecks?.refuseSilence({ slug, nowMs, maxSilenceMs });
  const request: SpikeRequest = { slug, ...thresholds };
  const plain = await api.deadAssetSpike(request, { signal });
  const baselineCoverage =
    firstEvents === undefined ? null : coverageOfBaseline(thresholds, nowMs, firstEvents.get(slug) ?? null);
  const assetTypeExcess = assetTypeExcessOf(plain);
  const result =
    plain.severity === "ok" || deps.evidence === undefined ? plain : await deps.evidence(plain, target, signal);
  return { result, baselineCoverage, ...(assetTypeExcess.length === 0 ? {} : { assetTypeExcess }) };
}

function overLiveness(
  target: Extract<CheckTarget, { check: "sentinel" | "event-flow" | "regret" }>,
  { livenessChecks, appUrl }: RunCheckDeps,
  nowMs: number,
): Promise<HealthcheckResult> {
  const { slug } = target;
  // The configuration refuses these checks where there are no events.
  if (livenessChecks === undefined)
    throw new FlatlineError("internal", `${target.check} needs stored events, and this source has none`);
  const ask = { slug, nowMs, appUrl: appUrl?.(slug) ?? null };
  switch (target.check) {
    case "sentinel":
      return livenessChecks.sentinel({ ...ask, assets: target.assets });
    case "event-flow":
      return livenessChecks.eventFlow({ ...ask, limits: target.limits });
    case "regret":
      return livenessChecks.regret({ ...ask, limits: target.limits });
    default:
      return target satisfies never;
  }
}

/** All reports that wait for the customer's review, each id once. */
async function listQueue(api: PlatformApi, slug: string, signal: AbortSignal): Promise<QueuedReport[]> {
  const reports: QueuedReport[] = [];
  const refs = new Set<string>();
  for await (const report of walkReports(api, { slug, needsCustomerReview: true }, { signal })) {
    const queued = queuedReport(report);
    if (queued.ref !== null && refs.has(queued.ref)) continue;
    if (queued.ref !== null) refs.add(queued.ref);
    reports.push(queued);
  }
  return reports;
}

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
  const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return new FlatlineError("api_timeout", isTimeout ? "the check did not end in time" : "the check was stopped");
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
