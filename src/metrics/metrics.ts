import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

import { secondMs } from "../base/time.ts";
import { errorReasonsOf } from "../checks/checks.ts";
import type { FailedVia } from "../contract/actor.ts";
import { familiesOf } from "../contract/incident.ts";
import type { JudgementVerdict } from "../contract/judgement.ts";
import { operations } from "../contract/operations.ts";
import type { Refusal } from "../contract/refusals.ts";
import {
  checkErrorReasons,
  checkNames,
  type CheckErrorReason,
  type CheckName,
  type CheckReport,
} from "../contract/report.ts";
import type { LookAnswer, OpinionVerdict } from "../contract/second-opinion.ts";
import {
  countedInstruments,
  deliveryOutcomes,
  eventStatuses,
  fleetInstruments,
  skipReasons,
  type DeliveryOutcome,
  type SkipReason,
} from "./catalogue.ts";
import { createCheckSeries } from "./check-series.ts";
import { formatFamily, type Sample } from "./exposition.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly nodeVersion: string;
  /** Also process_* and nodejs_*, which watch the process from then on [true]. */
  readonly withProcess?: boolean;
}

type FleetFamily = keyof typeof fleetInstruments;
type Counted = keyof typeof countedInstruments;

/** The samples that a scrape reads from the store. */
export type FleetSamples = Readonly<Record<Exclude<FleetFamily, "flatline_fleet_organizations">, readonly Sample[]>>;

// prom-client's histogram of the event loop is off: it wakes an idle process a hundred times a second, and its values
// include the pause between two looks.
const neverMs = 2 ** 31 - 1;
// An upstream may answer with new codes without end.
const mostRequestSeries = 200;

/** The metrics of one app: rooms count, the scheduler sets the state in `checks` (CONTRACT 6). */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of one app in its own registry: a process can have two apps. */
export function createMetrics({ version, nodeVersion, withProcess = true }: MetricsOptions) {
  const registry = new Registry();
  const optionsOf = (name: Counted) => ({
    name,
    help: countedInstruments[name].help,
    labelNames: Object.keys(countedInstruments[name].labels),
    registers: [registry],
  });
  const gauge = (name: Counted): Gauge => new Gauge(optionsOf(name));
  const counter = (name: Counted): Counter => {
    const made = new Counter(optionsOf(name));
    for (const labels of seriesOf(name)) made.inc(labels, 0);
    return made;
  };
  const histogram = (name: Counted): Histogram => {
    const made = new Histogram({ ...optionsOf(name), buckets: [...(countedInstruments[name].buckets ?? [])] });
    for (const labels of seriesOf(name)) made.zero(labels);
    return made;
  };
  const requestCounter = (name: Counted): ((operation: string, code: string) => void) => {
    const made = counter(name);
    const seen = new Set<string>();
    for (const operation of Object.values(operations)) made.inc({ operation: operation.name, code: "200" }, 0);
    return (operation, code) => {
      const series = `${operation} ${code}`;
      if (seen.size < mostRequestSeries) seen.add(series);
      made.inc({ operation, code: seen.has(series) ? code : "other" });
    };
  };

  gauge("flatline_build_info").set({ version, node: nodeVersion }, 1);
  gauge("flatline_standby").set(0);
  const reloadSuccessful = gauge("flatline_config_last_reload_successful");
  const reloadTimestamp = gauge("flatline_config_last_reload_success_timestamp_seconds");
  const errors = counter("flatline_check_errors_total");
  const skipped = counter("flatline_check_skipped_total");
  const duration = histogram("flatline_check_duration_seconds");
  const lag = histogram("flatline_scheduler_lag_seconds");
  const notifications = counter("flatline_notifications_total");
  const notificationDuration = histogram("flatline_notification_duration_seconds");
  const receiverTimeouts = counter("flatline_receiver_timeouts_total");
  const authFailures = counter("flatline_auth_failures_total");
  const eventsIngested = counter("flatline_events_ingested_total");
  const eventsRefused = counter("flatline_events_refused_total");
  const alertsJudged = counter("flatline_alerts_judged_total");
  const opinionAnswers = counter("flatline_second_opinion_answers_total");
  const opinionVerdicts = counter("flatline_second_opinion_verdicts_total");
  const incidentsTotal = counter("flatline_incidents_total");
  if (withProcess) collectProcessMetrics(registry);

  const checks = createCheckSeries();
  const shownChecks = shownNames<CheckName>(
    (check) => {
      for (const reason of errorReasonsOf(check)) errors.inc({ check, reason }, 0);
      for (const reason of skipReasons) skipped.inc({ check, reason }, 0);
      for (const family of familiesOf([check])) incidentsTotal.inc({ family }, 0);
      duration.zero({ check });
    },
    (check) => {
      for (const reason of checkErrorReasons) errors.remove({ check, reason });
      for (const reason of skipReasons) skipped.remove({ check, reason });
      duration.remove({ check });
    },
  );
  const receivers = shownNames<string>(
    (receiver) => {
      for (const outcome of deliveryOutcomes) notifications.inc({ receiver, outcome }, 0);
      notificationDuration.zero({ receiver });
      receiverTimeouts.inc({ receiver }, 0);
    },
    (receiver) => {
      for (const outcome of deliveryOutcomes) notifications.remove({ receiver, outcome });
      notificationDuration.remove({ receiver });
      receiverTimeouts.remove({ receiver });
    },
  );
  shownChecks.keep(checkNames);

  return {
    checks,
    /** Series of these checks and receivers exist from here on, at 0; those of removed ones go. */
    show: (names: { readonly checks: readonly CheckName[]; readonly receivers: readonly string[] }): void => {
      shownChecks.keep(names.checks);
      receivers.keep(names.receivers);
    },
    /** Call when a scheduled run ended, not for a probe. */
    checkRan: (report: RanCheck, durationSeconds: number): void => {
      const { check, severity, error } = report;
      checks.countRun(report, severity === "unknown" ? "error" : severity);
      if (error !== undefined) errors.inc({ check, reason: error.reason });
      duration.observe({ check }, atLeastZero(durationSeconds));
    },
    runSkipped: (check: CheckName, reason: SkipReason, count: number): void =>
      skipped.inc({ check, reason }, atLeastZero(count)),
    schedulerLag: (seconds: number): void => lag.observe({}, atLeastZero(seconds)),
    /** Also for a removed receiver, because its deliveries may end later. */
    receiverTimedOut: (receiver: string): void => {
      if (receivers.names().has(receiver)) receiverTimeouts.inc({ receiver });
    },
    notificationAttempt: (receiver: string, outcome: DeliveryOutcome, durationSeconds: number): void => {
      receivers.add(receiver);
      notifications.inc({ receiver, outcome });
      notificationDuration.observe({ receiver }, atLeastZero(durationSeconds));
    },
    sourceRequest: requestCounter("flatline_source_requests_total"),
    apiRequest: requestCounter("flatline_api_requests_total"),
    authFailed: (via: FailedVia): void => authFailures.inc({ via }),
    eventsIngested: (status: string, count: number): void =>
      eventsIngested.inc({ status: eventStatuses.find((name) => name === status) ?? "other" }, atLeastZero(count)),
    eventsRefused: (reason: Refusal, count: number): void => eventsRefused.inc({ reason }, count),
    incidentOpened: (family: string): void => incidentsTotal.inc({ family }),
    assetLookedAt: (answer: LookAnswer): void => opinionAnswers.inc({ answer }),
    opinionGiven: (verdict: OpinionVerdict): void => opinionVerdicts.inc({ verdict }),
    alertJudged: (check: CheckName, verdict: JudgementVerdict): void => alertsJudged.inc({ check, verdict }),
    configReloaded: (ok: boolean, nowMs: number): void => {
      reloadSuccessful.set(ok ? 1 : 0);
      if (ok) reloadTimestamp.set(nowMs / secondMs);
    },
    /** Returns the answer of `/metrics`, in pieces. */
    render: async (fleet: FleetSamples, nowMs: number): Promise<Buffer[]> => {
      const organizations = [...shownChecks.names()].map((check): Sample => [
        { check },
        checks.countFresh(check, nowMs),
      ]);
      const samples: Readonly<Record<FleetFamily, readonly Sample[]>> = {
        ...fleet,
        flatline_fleet_organizations: organizations,
      };
      const families = Object.keys(fleetInstruments) as FleetFamily[];
      return [
        Buffer.from(await registry.metrics()),
        ...checks.render(nowMs),
        ...families.map((family) => Buffer.from(formatFamily(family, fleetInstruments[family], samples[family]))),
      ];
    },
  };
}

type RanCheck = Pick<CheckReport, "check" | "slug" | "severity"> & {
  readonly error?: { readonly reason: CheckErrorReason };
};

/** Returns the label sets of a metric with closed labels; empty: a label is open. */
function seriesOf(name: Counted): Record<string, string>[] {
  return Object.entries(countedInstruments[name].labels).reduce<Record<string, string>[]>(
    (series, [label, closed]) => series.flatMap((one) => (closed ?? []).map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}

/** Keeps names of the configuration; calls `show` and `hide` as they come and go. */
function shownNames<Name extends string>(show: (name: Name) => void, hide: (name: Name) => void) {
  const shown = new Set<Name>();
  function add(name: Name): void {
    if (!shown.has(name)) show(name);
    shown.add(name);
  }
  return {
    names: (): ReadonlySet<Name> => shown,
    add,
    keep: (names: readonly Name[]): void => {
      for (const name of [...shown].filter((one) => !names.includes(one))) {
        shown.delete(name);
        hide(name);
      }
      for (const name of names) add(name);
    },
  };
}

/** Counters and histograms refuse negative values, and a clock that was set back must not stop a run. */
function atLeastZero(value: number): number {
  return Number.isFinite(value) ? Math.max(0, value) : 0;
}

/**
 * prom-client's metrics without the `nodejs_active_*_total` gauges, which promtool reports, and without the histogram
 * of the event loop: `nodejs_eventloop_lag_seconds` is measured at each scrape.
 */
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (/^nodejs_(?:active_.*_total|eventloop_lag_\w+_seconds)$/.test(name)) registry.removeSingleMetric(name);
  }
}
