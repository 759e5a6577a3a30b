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
  eventStatuses,
  fleetInstruments,
  type DeliveryOutcome,
  type Instrument,
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
  const instruments = createInstruments(registry);
  const checks = createCheckSeries();
  const shownChecks = shownNames<CheckName>(instruments, "check");
  const receivers = shownNames<string>(instruments, "receiver");

  function requestCounter(counter: Counter): (operation: string, code: string) => void {
    const seen = new Set<string>();
    for (const operation of Object.values(operations)) counter.inc({ operation: operation.name, code: "200" }, 0);
    return (operation, code) => {
      const series = `${operation} ${code}`;
      if (seen.size < mostRequestSeries) seen.add(series);
      counter.inc({ operation, code: seen.has(series) ? code : "other" });
    };
  }
  function showChecks(names: readonly CheckName[]): void {
    shownChecks.keep(names);
    for (const family of familiesOf(names)) instruments.flatline_incidents_total.inc({ family }, 0);
    for (const check of names) {
      const never = checkErrorReasons.filter((reason) => !errorReasonsOf(check).includes(reason));
      for (const reason of never) instruments.flatline_check_errors_total.remove({ check, reason });
    }
  }

  instruments.flatline_build_info.set({ version, node: nodeVersion }, 1);
  instruments.flatline_standby.set(0);
  showChecks(checkNames);
  if (withProcess) collectProcessMetrics(registry);

  return {
    checks,
    /** Series of these checks and receivers exist from here on, at 0; those of removed ones go. */
    show: (names: { readonly checks: readonly CheckName[]; readonly receivers: readonly string[] }): void => {
      showChecks(names.checks);
      receivers.keep(names.receivers);
    },
    /** Call when a scheduled run ended, not for a probe. */
    checkRan: (report: RanCheck, durationSeconds: number): void => {
      const { check, severity, error } = report;
      checks.countRun(report, severity === "unknown" ? "error" : severity);
      if (error !== undefined) instruments.flatline_check_errors_total.inc({ check, reason: error.reason });
      instruments.flatline_check_duration_seconds.observe({ check }, atLeastZero(durationSeconds));
    },
    runSkipped: (check: CheckName, reason: SkipReason, count: number): void =>
      instruments.flatline_check_skipped_total.inc({ check, reason }, atLeastZero(count)),
    schedulerLag: (seconds: number): void =>
      instruments.flatline_scheduler_lag_seconds.observe({}, atLeastZero(seconds)),
    /** Also for a removed receiver, because its deliveries may end later. */
    receiverTimedOut: (receiver: string): void => {
      if (receivers.shown.has(receiver)) instruments.flatline_receiver_timeouts_total.inc({ receiver });
    },
    notificationAttempt: (receiver: string, outcome: DeliveryOutcome, durationSeconds: number): void => {
      receivers.add(receiver);
      instruments.flatline_notifications_total.inc({ receiver, outcome });
      instruments.flatline_notification_duration_seconds.observe({ receiver }, atLeastZero(durationSeconds));
    },
    sourceRequest: requestCounter(instruments.flatline_source_requests_total),
    apiRequest: requestCounter(instruments.flatline_api_requests_total),
    authFailed: (via: FailedVia): void => instruments.flatline_auth_failures_total.inc({ via }),
    eventsIngested: (status: string, count: number): void =>
      instruments.flatline_events_ingested_total.inc(
        { status: eventStatuses.find((name) => name === status) ?? "other" },
        atLeastZero(count),
      ),
    eventsRefused: (reason: Refusal, count: number): void =>
      instruments.flatline_events_refused_total.inc({ reason }, count),
    incidentOpened: (family: string): void => instruments.flatline_incidents_total.inc({ family }),
    assetLookedAt: (answer: LookAnswer): void => instruments.flatline_second_opinion_answers_total.inc({ answer }),
    opinionGiven: (verdict: OpinionVerdict): void =>
      instruments.flatline_second_opinion_verdicts_total.inc({ verdict }),
    alertJudged: (check: CheckName, verdict: JudgementVerdict): void =>
      instruments.flatline_alerts_judged_total.inc({ check, verdict }),
    configReloaded: (ok: boolean, nowMs: number): void => {
      instruments.flatline_config_last_reload_successful.set(ok ? 1 : 0);
      if (ok) instruments.flatline_config_last_reload_success_timestamp_seconds.set(nowMs / secondMs);
    },
    /** Returns the answer of `/metrics`, in pieces. */
    render: async (fleet: FleetSamples, nowMs: number): Promise<Buffer[]> => {
      const organizations = [...shownChecks.shown].map((check): Sample => [{ check }, checks.countFresh(check, nowMs)]);
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

type Made<Type> = Type extends "gauge" ? Gauge : Type extends "counter" ? Counter : Histogram;
type Instruments = { readonly [Name in Counted]: Made<(typeof countedInstruments)[Name]["type"]> };

const countedNames = Object.keys(countedInstruments) as Counted[];

/** Counters and histograms with closed labels exist at 0 from the start. */
function createInstruments(registry: Registry): Instruments {
  const made = countedNames.map((name) => {
    const { type, help, labels, buckets = [] }: Instrument = countedInstruments[name];
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    if (type === "gauge") return [name, new Gauge(options)];
    return [name, type === "counter" ? new Counter(options) : new Histogram({ ...options, buckets: [...buckets] })];
  });
  const instruments = Object.fromEntries(made) as Instruments;
  for (const name of countedNames) begin(instruments, name, {});
  return instruments;
}

/** Lets series begin at 0. */
function begin(instruments: Instruments, name: Counted, open: Series): void {
  const instrument = instruments[name];
  for (const labels of seriesOf(name, open)) {
    if (instrument instanceof Counter) instrument.inc(labels, 0);
    if (instrument instanceof Histogram) instrument.zero(labels);
  }
}

type Series = Readonly<Record<string, string>>;

/** Returns the label sets of a metric whose open labels have the values of `open`; empty: another label is open. */
function seriesOf(name: Counted, open: Series): Series[] {
  return Object.entries<readonly string[] | null>(countedInstruments[name].labels).reduce<Series[]>(
    (series, [label, closed]) => {
      const values = closed ?? (open[label] === undefined ? [] : [open[label]]);
      return series.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
    },
    [{}],
  );
}

/** Keeps names of the configuration, the values of an open label: their series come and go with them. */
function shownNames<Name extends string>(instruments: Instruments, label: string) {
  const labelled = countedNames.filter((name) => countedInstruments[name].labels[label] === null);
  const shown = new Set<Name>();
  function add(name: Name): void {
    if (shown.has(name)) return;
    shown.add(name);
    for (const one of labelled) begin(instruments, one, { [label]: name });
  }
  return {
    shown: shown as ReadonlySet<Name>,
    add,
    keep: (names: readonly Name[]): void => {
      for (const name of [...shown].filter((one) => !names.includes(one))) {
        shown.delete(name);
        for (const one of labelled)
          for (const labels of seriesOf(one, { [label]: name })) instruments[one].remove(labels);
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
