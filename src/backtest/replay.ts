import { transition, type ChangeEvent, type TransitionReport } from "../alerting/decide/transition.ts";
import type { AlertPolicy } from "../alerting/settings.ts";
import { isSilent } from "../checks/event-flow/event-flow.ts";
import type { Schedule } from "../checks/kind.ts";
import type { Severity } from "../contract/severity.ts";
import { spikeRuleOf } from "../spike/evaluate.ts";
import { expectation } from "../spike/expectation.ts";
import { knownDays } from "../spike/median.ts";
import type { SpikeThresholds } from "../spike/thresholds.ts";
import { spikeSeverity } from "../spike/verdict.ts";
import { spikeWindow, windowCoverage } from "../spike/window.ts";
import type { Alert } from "../store/alerts/alerts.ts";
import { countsAt, type Counting, type EventRecord } from "./event-record.ts";

export interface Watched extends Counting {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
  readonly policy: AlertPolicy;
  /** A longer time without any event gives no result; null: not watched. */
  readonly maxSilenceMs: number | null;
  readonly schedule: Schedule;
}

/** A change that receivers would have been notified of. */
export interface ReplayedNotice {
  /** The time of the run. */
  readonly atMs: number;
  readonly slug: string;
  readonly alertId: string;
  readonly kind: Alert["kind"];
  readonly event: ChangeEvent;
  readonly severity: Severity;
  readonly reason: string;
  readonly startsAtMs: number;
}

type Evaluation = ReturnType<typeof evaluate>;

/**
 * Replays the events of one organization with the daemon's own rules: the rule of spike/ and the transition of alerts.
 * Instants must ascend.
 */
export class Replay {
  readonly evaluations: Record<Severity, number> = { ok: 0, warn: 0, fail: 0, unknown: 0 };
  readonly notices: ReplayedNotice[] = [];
  /** The last instant; null: none. */
  lastAtMs: number | null = null;
  readonly #record: EventRecord;
  readonly #watched: Watched;
  /** Ways to watch with the same windows and rule share what was counted. */
  readonly #shared: string;
  #states: readonly Alert[] = [];
  #alerts = 0;
  #seen = 0;

  constructor(record: EventRecord, watched: Watched) {
    this.#record = record;
    this.#watched = watched;
    const { windowHours, baselineDays } = watched.thresholds;
    this.#shared = JSON.stringify({ windowHours, baselineDays, ...spikeRuleOf(watched) });
  }

  /** One run at `nowMs`. `known` shares evaluations between replays with the same windows and rule. */
  run(nowMs: number, known: Map<string, Evaluation> = new Map()) {
    const { seenAtMs } = this.#record;
    const { slug, thresholds, baseline, policy, maxSilenceMs } = this.#watched;
    while (this.#seen < seenAtMs.length && (seenAtMs[this.#seen] ?? 0) <= nowMs) this.#seen++;
    // The store would not have known later events.
    const firstEventAtMs = this.#seen === 0 ? null : (seenAtMs[0] ?? null);
    const lastEventAtMs = this.#seen === 0 ? null : (seenAtMs[this.#seen - 1] ?? null);
    const found = known.get(this.#shared) ?? evaluate(this.#record, nowMs, this.#watched, firstEventAtMs);
    known.set(this.#shared, found);
    const isUnknown = maxSilenceMs !== null && isSilent(lastEventAtMs, nowMs, maxSilenceMs);
    const { counts, days, expected, coverage } = found;
    const severity = isUnknown ? "unknown" : spikeSeverity(counts.currentCount, expected.exact, thresholds);
    this.evaluations[severity]++;
    this.lastAtMs = nowMs;
    const { currentCount, baselineCount } = counts;
    const { expectedCount } = expected;
    const base = { check: "dead-asset-spike", slug, startedAtMs: nowMs } as const;
    const report: TransitionReport =
      severity === "unknown"
        ? { ...base, kind: "error", severity }
        : {
            ...base,
            kind: "result",
            severity,
            counts: { currentCount, baselineCount, expectedCount, ratio: null },
            baselineCoverage: coverage,
            ...(baseline === "mean" ? {} : { baselineDaysKnown: days.filter((day) => day !== null).length }),
          };
    const newId = (): string => `${slug}-${++this.#alerts}`;
    const { alerts, forgotten, changes } = transition({ states: this.#states, report, policy, newId });
    const states = new Map([...this.#states, ...alerts].map((alert) => [alert.id, alert]));
    this.#states = [...states.values()].filter(({ id, end }) => end === null && !forgotten.includes(id));
    for (const { event, alert, reason } of changes) {
      const { id: alertId, kind, severity, startsAtMs } = alert;
      this.notices.push({ atMs: nowMs, slug, alertId, kind, event, severity, reason, startsAtMs });
    }
    return { atMs: nowMs, severity, currentCount, expectedCount };
  }
}

/** Counts and judges what was known at an instant, by one organization's settings. */
export function evaluate(record: EventRecord, nowMs: number, counting: Watched, firstEventAtMs: number | null) {
  const { thresholds, baseline } = counting;
  const counts = countsAt(record, nowMs, counting);
  const days = knownDays(counts.dayCounts, nowMs, thresholds, firstEventAtMs);
  return {
    counts,
    days,
    expected: expectation({ baseline, thresholds, ...counts, dayCounts: days }),
    coverage: windowCoverage(spikeWindow(nowMs, thresholds), firstEventAtMs),
  };
}
