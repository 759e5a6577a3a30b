import { transition, type ChangeEvent, type TransitionReport } from "../alerting/decide/transition.ts";
import type { AlertPolicy } from "../alerting/settings.ts";
import { isSilent } from "../checks/event-flow/evaluate.ts";
import type { Severity } from "../contract/severity.ts";
import { expectation, type Expectation } from "../spike/expectation.ts";
import type { CountKind } from "../spike/findings.ts";
import { knownDays, type BaselineKind, type DayCounts } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeSeverity } from "../spike/verdict.ts";
import { spikeWindow, windowCoverage } from "../spike/window.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { EventRecord } from "./event-record.ts";
import { SlidingCounts, type SlidingCount } from "./sliding-counts.ts";

/** One way to watch an organization. */
export interface ReplayCandidate {
  readonly thresholds: SpikeThresholds;
  readonly baseline: BaselineKind;
  /** What is counted [deaths]. */
  readonly count?: CountKind;
  readonly policy: AlertPolicy;
  /** The longest time without an event of any status for which there is a result; null: not watched. */
  readonly maxSilenceMs: number | null;
}

/** One evaluation, as the daemon would have made it at that time. */
export interface ReplayedVerdict {
  readonly atMs: number;
  readonly severity: Severity;
  readonly currentCount: number;
  readonly expectedCount: number;
}

/** A change of which receivers would have been notified. */
export interface ReplayedNotice {
  /** Time of the run that caused it. */
  readonly atMs: number;
  readonly alertId: string;
  readonly kind: AlertState["kind"];
  readonly event: ChangeEvent;
  readonly severity: Severity;
  readonly reason: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number | null;
}

/** What came of one candidate. */
export interface ReplayOutcome {
  readonly evaluations: Readonly<Record<Severity, number>>;
  readonly notices: readonly ReplayedNotice[];
  /** The last instant; null without one. */
  readonly lastAtMs: number | null;
}

interface Watch {
  readonly candidate: ReplayCandidate;
  readonly group: Group;
  readonly evaluations: Record<Severity, number>;
  readonly notices: ReplayedNotice[];
  states: readonly AlertState[];
  alerts: number;
}

/** Candidates that look at the same windows share their counts. */
interface Group {
  readonly candidate: ReplayCandidate;
  readonly counts: SlidingCounts;
  count: SlidingCount;
  /** The days of a median: those of `count` that were known then. */
  days: DayCounts;
  expected: Expectation;
  coverage: number;
}

/**
 * Lives through the events of one organization again, for any number of candidates at once: the counts of the record, then the
 * rule of spike/ and the alerts' own transition, as a run of the daemon does it. Instants must ascend.
 */
export class Replay {
  readonly #record: EventRecord;
  readonly #groups: readonly Group[];
  readonly #watches: readonly Watch[];
  readonly #onVerdict: ((candidate: number, verdict: ReplayedVerdict) => void) | null;
  #seen = 0;
  #lastAtMs: number | null = null;

  constructor(
    record: EventRecord,
    candidates: readonly ReplayCandidate[],
    onVerdict: ((candidate: number, verdict: ReplayedVerdict) => void) | null = null,
  ) {
    this.#record = record;
    this.#onVerdict = onVerdict;
    const groups = new Map<string, Group>();
    this.#watches = candidates.map((candidate) => {
      const { windowHours, baselineDays } = candidate.thresholds;
      const key = `${windowHours} ${baselineDays} ${candidate.baseline} ${candidate.count ?? "deaths"}`;
      const group = groups.get(key) ?? createGroup(record, candidate);
      groups.set(key, group);
      const evaluations = { ok: 0, warn: 0, fail: 0, unknown: 0 };
      return { candidate, group, evaluations, notices: [], states: [], alerts: 0 };
    });
    this.#groups = [...groups.values()];
  }

  /** One run at `nowMs`. */
  run(nowMs: number): void {
    const { seenAtMs } = this.#record;
    while (this.#seen < seenAtMs.length && (seenAtMs[this.#seen] ?? 0) <= nowMs) this.#seen++;
    // The counts are those of the store at that time: later events are unknown.
    const firstEventAtMs = this.#seen === 0 ? null : (seenAtMs[0] ?? null);
    const lastEventAtMs = this.#seen === 0 ? null : (seenAtMs[this.#seen - 1] ?? null);
    for (const group of this.#groups) count(group, nowMs, firstEventAtMs);
    for (const [index, watch] of this.#watches.entries()) {
      const { maxSilenceMs } = watch.candidate;
      const isUnknown = maxSilenceMs !== null && isSilent(lastEventAtMs, nowMs, maxSilenceMs);
      const { count, expected } = watch.group;
      const severity = isUnknown
        ? "unknown"
        : spikeSeverity(count.currentCount, expected.exact, watch.candidate.thresholds);
      watch.evaluations[severity]++;
      decide(watch, this.#record.slug, nowMs, severity);
      const { currentCount } = count;
      this.#onVerdict?.(index, { atMs: nowMs, severity, currentCount, expectedCount: expected.expectedCount });
    }
    this.#lastAtMs = nowMs;
  }

  /** What came of each candidate so far, in their order. */
  outcomes(): ReplayOutcome[] {
    return this.#watches.map(({ evaluations, notices }) => ({
      evaluations: { ...evaluations },
      notices: [...notices],
      lastAtMs: this.#lastAtMs,
    }));
  }
}

function createGroup(record: EventRecord, candidate: ReplayCandidate): Group {
  const { thresholds, baseline, count: counted } = candidate;
  const counts = new SlidingCounts(record, thresholds, baseline, counted);
  const count = { currentCount: 0, baselineCount: 0, dayCounts: [] };
  return {
    candidate,
    counts,
    count,
    days: [],
    expected: { exact: { numerator: 0n, denominator: 1n }, expectedCount: 0 },
    coverage: 0,
  };
}

function count(group: Group, nowMs: number, firstEventAtMs: number | null): void {
  const { thresholds, baseline } = group.candidate;
  group.count = group.counts.at(nowMs);
  group.days = knownDays(group.count.dayCounts, nowMs, thresholds, firstEventAtMs);
  group.expected = expectation({ baseline, thresholds, ...group.count, dayCounts: group.days });
  group.coverage = windowCoverage(spikeWindow(nowMs, thresholds), firstEventAtMs);
}

function decide(watch: Watch, slug: string, nowMs: number, severity: Severity): void {
  const { currentCount, baselineCount } = watch.group.count;
  const { expectedCount } = watch.group.expected;
  const base = { check: "dead-asset-spike", slug, startedAtMs: nowMs } as const;
  const report: TransitionReport =
    severity === "unknown"
      ? { ...base, kind: "error", severity }
      : {
          ...base,
          kind: "result",
          severity,
          counts: { currentCount, baselineCount, expectedCount, ratio: null },
          baselineCoverage: watch.group.coverage,
          ...(watch.candidate.baseline === "mean"
            ? {}
            : { baselineDaysKnown: watch.group.days.filter((day) => day !== null).length }),
        };
  const newId = (): string => `${slug}-${++watch.alerts}`;
  const step = transition({ states: watch.states, report, policy: watch.candidate.policy, newId });
  watch.states = step.live.length === 0 && step.gone.length === 0 ? watch.states : statesAfter(watch.states, step);
  for (const { event, alert, endsAtMs, reason } of step.changes) {
    const { id: alertId, kind, severity, startsAtMs } = alert;
    watch.notices.push({ atMs: nowMs, alertId, kind, event, severity, reason, startsAtMs, endsAtMs });
  }
}

/** Returns the states in the store after a step: changed ones saved, ended ones removed. */
function statesAfter(
  before: readonly AlertState[],
  { live, gone }: { readonly live: readonly AlertState[]; readonly gone: readonly AlertState[] },
): readonly AlertState[] {
  const states = new Map(before.map((state) => [state.id, state]));
  for (const { id } of gone) states.delete(id);
  for (const state of live) states.set(state.id, state);
  return [...states.values()];
}
