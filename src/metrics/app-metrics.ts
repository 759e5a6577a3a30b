import { refusals } from "../contract/refusals.ts";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

import { secondMs } from "../base/time.ts";
import { familiesOf } from "../contract/incident.ts";
import { lookAnswers, opinionVerdicts as opinionVerdictNames } from "../contract/second-opinion.ts";
import { judgementVerdicts } from "../contract/judgement.ts";
import { errorReasonsOf, gateChecks } from "../checks/checks.ts";
import { checkErrorReasons, checkNames, type CheckName } from "../contract/report.ts";
import { failedVias } from "../contract/actor.ts";
import { operations } from "../contract/operations.ts";
import { countedInstruments, eventStatuses, skipReasons, type Instrument } from "./catalogue.ts";
import { createCheckSeries, type CheckSeries } from "./check-series.ts";
import { encodeParts, textPart, type ExpositionBody, type ExpositionEncoding } from "./exposition-body.ts";
import {
  formatEnd,
  type ExpositionFormat,
  formatBound,
  formatFamily,
  formatLabels,
  formatValue,
} from "./exposition.ts";
import { renderFleet } from "./fleet-series.ts";
import type { FleetGauges, Metrics } from "./metrics.ts";
import { deliveryOutcomes } from "./receiver-instruments.ts";

/** Everything that one app measures: rooms count through `Metrics`, the scheduler's state goes into `checks`. */
export interface AppMetrics extends Metrics {
  readonly checks: CheckSeries;
  /** Notification counters of these exist at 0 from here on; those of other receivers go (a reload removed them). */
  setReceivers(names: readonly string[]): void;
  /** The whole answer of `/metrics`. */
  render(format: ExpositionFormat, encoding: ExpositionEncoding, gauges: FleetGauges): Promise<ExpositionBody>;
}

export interface AppMetricsOptions {
  /** Version of flatline, without a leading v. */
  readonly version: string;
  /** Version of Node.js, without a leading v. */
  readonly nodeVersion: string;
  /** process_* and nodejs_* too [true]; they watch the process from then on. */
  readonly withProcess?: boolean;
}

// prom-client's histogram of the event loop wakes an idle process a hundred times a second, which was most of its cost, and
// its values include the pause between two looks: with one look a second, everything is late by a second. So it is off.
const neverMs = 2 ** 31 - 1;
// An upstream may answer with a new code each time: the number of values is limited here.
const maxRequestSeries = 200;
const successCode = "200";

/** Makes the instruments of one app, in a registry of its own: two apps can live in one process. */
export function createAppMetrics({ version, nodeVersion, withProcess = true }: AppMetricsOptions): AppMetrics {
  const registry = new Registry();
  const counter = (instrument: Instrument): Counter =>
    new Counter({ ...named(instrument), labelNames: [...instrument.labels], registers: [registry] });
  const gauge = (instrument: Instrument): Gauge =>
    new Gauge({ ...named(instrument), labelNames: [...instrument.labels], registers: [registry] });
  const histogram = (instrument: Instrument): Histogram =>
    new Histogram({
      ...named(instrument),
      labelNames: [...instrument.labels],
      buckets: [...(instrument.buckets ?? [])],
      registers: [registry],
    });

  gauge(countedInstruments.buildInfo).set({ version, node: nodeVersion }, 1);
  gauge(countedInstruments.standby).set(0);
  const reloadSuccessful = gauge(countedInstruments.reloadSuccessful);
  const reloadTimestamp = gauge(countedInstruments.reloadTimestamp);
  const errors = counter(countedInstruments.errors);
  const skipped = counter(countedInstruments.skipped);
  const duration = histogram(countedInstruments.duration);
  const lag = histogram(countedInstruments.lag);
  const notifications = counter(countedInstruments.notifications);
  const notificationDuration = histogram(countedInstruments.notificationDuration);
  const attemptsUnderWay = gauge(countedInstruments.attemptsUnderWay);
  const receiverTimeouts = counter(countedInstruments.receiverTimeouts);
  const countSourceRequest = requestCounter(countedInstruments.sourceRequests, registry);
  const countApiRequest = requestCounter(countedInstruments.apiRequests, registry);
  const authFailures = counter(countedInstruments.authFailures);
  const eventsIngested = counter(countedInstruments.eventsIngested);
  const eventsRefused = counter(countedInstruments.eventsRefused);
  const alertsJudged = counter(countedInstruments.alertsJudged);
  const opinionAnswers = counter(countedInstruments.opinionAnswers);
  const opinionVerdicts = counter(countedInstruments.opinionVerdicts);
  const incidentsTotal = counter(countedInstruments.incidentsTotal);
  lag.zero({});
  if (withProcess) collectProcessMetrics(registry);

  const knownChecks = new Set<CheckName>();
  setChecks(checkNames);
  for (const check of gateChecks) for (const verdict of judgementVerdicts) alertsJudged.inc({ check, verdict }, 0);
  for (const answer of lookAnswers) opinionAnswers.inc({ answer }, 0);
  for (const verdict of opinionVerdictNames) opinionVerdicts.inc({ verdict }, 0);
  for (const via of failedVias) authFailures.inc({ via }, 0);
  for (const status of eventStatuses) eventsIngested.inc({ status }, 0);
  for (const reason of refusals) eventsRefused.inc({ reason }, 0);

  const checks = createCheckSeries();
  const knownReceivers = new Set<string>();
  /** Also those of receivers that are gone: deliveries in flight end later. */
  const underWay = new Map<string, number>();

  function showCheck(check: CheckName): void {
    if (knownChecks.has(check)) return;
    knownChecks.add(check);
    for (const reason of errorReasonsOf(check)) errors.inc({ check, reason }, 0);
    for (const reason of skipReasons) skipped.inc({ check, reason }, 0);
    duration.zero({ check });
  }

  /** Series of these exist at 0 from here on; those of healthchecks that a reload removed go. */
  function setChecks(names: readonly CheckName[]): void {
    for (const check of [...knownChecks].filter((known) => !names.includes(known))) {
      knownChecks.delete(check);
      for (const reason of checkErrorReasons) errors.remove({ check, reason });
      for (const reason of skipReasons) skipped.remove({ check, reason });
      duration.remove({ check });
    }
    for (const check of names) showCheck(check);
    for (const family of familiesOf(names)) incidentsTotal.inc({ family }, 0);
  }

  function countUnderWay(receiver: string, by: number): void {
    const count = (underWay.get(receiver) ?? 0) + by;
    if (count === 0) underWay.delete(receiver);
    else underWay.set(receiver, count);
    if (knownReceivers.has(receiver)) attemptsUnderWay.set({ receiver }, count);
  }

  function showReceiver(receiver: string): void {
    if (knownReceivers.has(receiver)) return;
    knownReceivers.add(receiver);
    for (const outcome of deliveryOutcomes) notifications.inc({ receiver, outcome }, 0);
    notificationDuration.zero({ receiver });
    attemptsUnderWay.set({ receiver }, underWay.get(receiver) ?? 0);
    receiverTimeouts.inc({ receiver }, 0);
  }

  function setReceivers(names: readonly string[]): void {
    for (const receiver of [...knownReceivers].filter((known) => !names.includes(known))) {
      knownReceivers.delete(receiver);
      for (const outcome of deliveryOutcomes) notifications.remove({ receiver, outcome });
      notificationDuration.remove({ receiver });
      attemptsUnderWay.remove({ receiver });
      receiverTimeouts.remove({ receiver });
    }
    for (const receiver of names) showReceiver(receiver);
  }

  return {
    checks,
    setReceivers,
    checkRan: (report, durationSeconds) => {
      // A healthcheck may run before the first answer names it: its histogram is zeroed before it counts, not after.
      showCheck(report.check);
      checks.countRun(report.check, report.slug, report.severity === "unknown" ? "error" : report.severity);
      if (report.error !== undefined) errors.inc({ check: report.check, reason: report.error.reason });
      duration.observe({ check: report.check }, atLeastZero(durationSeconds));
    },
    runSkipped: (check, reason, count) => skipped.inc({ check, reason }, atLeastZero(count)),
    schedulerLag: (seconds) => lag.observe({}, atLeastZero(seconds)),
    attemptBegan: (receiver) => {
      countUnderWay(receiver, 1);
      return (isTimedOut) => {
        countUnderWay(receiver, -1);
        if (isTimedOut && knownReceivers.has(receiver)) receiverTimeouts.inc({ receiver });
      };
    },
    notificationAttempt: (receiver, outcome, durationSeconds) => {
      showReceiver(receiver);
      notifications.inc({ receiver, outcome });
      notificationDuration.observe({ receiver }, atLeastZero(durationSeconds));
    },
    sourceRequest: countSourceRequest,
    apiRequest: countApiRequest,
    authFailed: (via) => authFailures.inc({ via }),
    eventsIngested: (status, count) => {
      const known = eventStatuses.find((name) => name === status) ?? "other";
      eventsIngested.inc({ status: known }, atLeastZero(count));
    },
    eventsRefused: (reason, count) => eventsRefused.inc({ reason }, count),
    incidentOpened: (family) => incidentsTotal.inc({ family }),
    assetLookedAt: (answer) => opinionAnswers.inc({ answer }),
    opinionGiven: (verdict) => opinionVerdicts.inc({ verdict }),
    alertJudged: (check, verdict) => alertsJudged.inc({ check, verdict }),
    configReloaded: (ok, nowMs) => {
      reloadSuccessful.set(ok ? 1 : 0);
      if (ok) reloadTimestamp.set(nowMs / secondMs);
    },
    render: async (format, encoding, gauges) => {
      setReceivers(gauges.receivers);
      setChecks(gauges.checks);
      const counted = await renderRegistry(registry, format);
      const fleet = renderFleet(gauges, (check) => checks.countFresh(check, gauges.nowMs), format);
      const parts = [textPart(counted), ...checks.render(format, gauges.nowMs), textPart(fleet + formatEnd(format))];
      return encodeParts(parts, encoding);
    },
  };
}

function named({ name, help }: Instrument): { name: string; help: string } {
  return { name, help };
}

/** A clock that was set back must not throw in the middle of a run: counters and histograms take nothing below 0. */
function atLeastZero(value: number): number {
  return Number.isFinite(value) ? Math.max(0, value) : 0;
}

/** Requests are counted in a map, and read at each scrape: prom-client makes a text of the labels at each one. */
function requestCounter(instrument: Instrument, registry: Registry): (operation: string, code: string) => void {
  const seen = new Map<string, { readonly labels: Record<string, string>; uncounted: number }>();
  const counter = new Counter({
    ...named(instrument),
    labelNames: [...instrument.labels],
    registers: [registry],
    collect: () => {
      for (const count of seen.values()) {
        if (count.uncounted > 0) counter.inc(count.labels, count.uncounted);
        count.uncounted = 0;
      }
    },
  });
  for (const { name } of Object.values(operations)) counter.inc({ operation: name, code: successCode }, 0);
  return (operation, code) => {
    const id = `${operation} ${code}`;
    const known = seen.get(id);
    if (known !== undefined) known.uncounted++;
    else if (seen.size < maxRequestSeries) seen.set(id, { labels: { operation, code }, uncounted: 1 });
    else counter.inc({ operation, code: "other" });
  };
}

/**
 * prom-client's own, without `nodejs_active_*_total`, gauges that are called a total, which promtool reports, and without the
 * histogram of the event loop; `nodejs_eventloop_lag_seconds` is measured at each scrape.
 */
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (/^nodejs_(?:active_.*_total|eventloop_lag_\w+_seconds)$/.test(name)) registry.removeSingleMetric(name);
  }
}

interface RegistrySample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  /** Name of a series of a histogram, with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/**
 * Renders what prom-client counted, in either format, without `# EOF`. prom-client can write OpenMetrics itself, but renames the
 * counters of the registry for good when it does, so that the two formats cannot be served by turns.
 */
async function renderRegistry(registry: Registry, format: ExpositionFormat): Promise<string> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .map(({ name, help, type, values }) => {
      const samples = values.map((sample) => formatSample(sample, name, format)).join("");
      return formatFamily({ name, help, type: String(type) }, samples, format);
    })
    .join("");
}

function formatSample({ value, labels, metricName }: RegistrySample, name: string, format: ExpositionFormat): string {
  const texts: Record<string, string> = {};
  for (const [label, text] of Object.entries(labels)) {
    if (text === undefined) continue;
    texts[label] = label === "le" && typeof text === "number" ? formatBound(text, format) : String(text);
  }
  return `${metricName ?? name}${formatLabels(texts)} ${formatValue(value)}\n`;
}
