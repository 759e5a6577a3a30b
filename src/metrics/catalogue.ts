import { gateChecks } from "../checks/checks.ts";
import { failedVias } from "../contract/actor.ts";
import { incidentFamilies } from "../contract/incident.ts";
import { judgementVerdicts } from "../contract/judgement.ts";
import { refusals } from "../contract/refusals.ts";
import { checkErrorReasons } from "../contract/report.ts";
import { lookAnswers, opinionVerdicts } from "../contract/second-opinion.ts";
import { severities } from "../contract/severity.ts";

/** A metric by its name. docs/metrics.md comes from these tables, and all series of ours are in them. */
export interface Instrument<Type = "gauge" | "counter" | "histogram"> {
  readonly type: Type;
  /** By name, with the values of closed sets; null: open. */
  readonly labels: Readonly<Record<string, readonly string[] | null>>;
  /** The HELP line, and what docs/metrics.md says. */
  readonly help: string;
  readonly buckets?: readonly number[];
}

type Labels = Instrument["labels"];

function gauge(labels: Labels, help: string): Instrument<"gauge"> {
  return { type: "gauge", labels, help };
}

function counter(labels: Labels, help: string): Instrument<"counter"> {
  return { type: "counter", labels, help };
}

function histogram(labels: Labels, buckets: readonly number[], help: string): Instrument<"histogram"> {
  return { type: "histogram", labels, help, buckets };
}

export const resultSeverities = ["ok", "warn", "fail"] as const;
export const runOutcomes = ["ok", "warn", "fail", "error"] as const;
export type RunOutcome = (typeof runOutcomes)[number];
export const skipReasons = ["overlap", "late", "import"] as const;
export type SkipReason = (typeof skipReasons)[number];
export const deliveryOutcomes = ["delivered", "retried", "dead_lettered"] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];
/** The state of an open incident. */
export const incidentStates = ["active", "acknowledged", "silenced"] as const;
export const alertLabelStates = ["pending", "firing", "silenced"] as const;
export const alertSeverities = ["warn", "fail", "unknown"] as const;
export const eventStatuses = ["DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "other"] as const;

// A local evaluation takes milliseconds, a remote one up to 30 s, three times with retries and pauses.
const runBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
// At most a second late under load; minutes mean a suspended or starved process.
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300];
// Receivers answer within their timeout, 10 s by default.
const deliveryBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A label with names of the configuration, or of others. */
const any = null;
const ofCheck = { check: any, slug: any };

/** The series of each (check, slug), in the order of exposition. */
export const checkInstruments = {
  flatline_check_severity: gauge(
    { ...ofCheck, severity: severities },
    "1 for the severity that holds since the last run, 0 for the others. Absent until the first run. " +
      "`unknown` after a failed run, " +
      "and when the last verdict is older than three intervals of its schedule (at least 2 min).",
  ),
  flatline_check_up: gauge(
    ofCheck,
    "Whether the last run gave a result. Absent until the first run; 0 too when the last verdict is stale.",
  ),
  flatline_check_observed: gauge(
    { ...ofCheck, key: any },
    "What the last result observed, by its own key. " +
      "Finite numbers, and booleans as 0 or 1: the first 32 keys by name. Absent while there is no fresh result.",
  ),
  flatline_check_threshold: gauge(
    { ...ofCheck, key: any },
    "The thresholds that the last result was measured by, by their own key. As `flatline_check_observed`.",
  ),
  flatline_check_findings: gauge(
    { ...ofCheck, severity: resultSeverities },
    "Findings of the last result, by severity; at most 100 are kept. " +
      "All three severities while there is a fresh result.",
  ),
  flatline_check_deaths: gauge(
    ofCheck,
    "Deaths in the window of the last result. " +
      "Where the result has it under the name of `source.observedKeys.currentCount`. " +
      "With `count: assets` the assets that died, each once.",
  ),
  flatline_check_expected_deaths: gauge(
    ofCheck,
    "Deaths that the baseline of the last result leads to expect in the window. " +
      "Where the result has it under the name of `source.observedKeys.expectedCount`. " +
      "With `count: assets` assets, too.",
  ),
  flatline_check_asset_type_excess: gauge(
    { ...ofCheck, asset_type: any },
    "Deaths above the expected ones, of the asset types that the findings name. At most 5 types; local sources only.",
  ),
  flatline_check_last_run_timestamp_seconds: gauge(ofCheck, "When the last run ended."),
  flatline_check_last_success_timestamp_seconds: gauge(ofCheck, "When the last run that gave a result ended."),
  flatline_check_next_run_timestamp_seconds: gauge(ofCheck, "When the next run is due."),
  flatline_check_runs_total: counter(
    { ...ofCheck, outcome: runOutcomes },
    "Runs that ended, by the severity of their result, or error. Probes are not counted.",
  ),
};

/** Counted by prom-client as things happen. */
export const countedInstruments = {
  flatline_build_info: gauge({ version: any, node: any }, "1, with the versions of flatline and of Node.js."),
  flatline_standby: gauge({}, "1 while another process writes to the store, and this one waits to take over; else 0."),
  flatline_config_last_reload_successful: gauge({}, "Whether the last load of the configuration succeeded."),
  flatline_config_last_reload_success_timestamp_seconds: gauge(
    {},
    "When a configuration was last loaded successfully.",
  ),
  flatline_check_errors_total: counter(
    { check: any, reason: checkErrorReasons },
    "Runs that gave no result, by reason. `not_found` is of healthchecks of the platform only (`healthchecks`).",
  ),
  flatline_check_skipped_total: counter(
    { check: any, reason: skipReasons },
    "Ticks without a run: the last one was still running (overlap), the process could not run (late), " +
      "or events of the organization were being imported (import).",
  ),
  flatline_check_duration_seconds: histogram({ check: any }, runBuckets, "How long runs took, retries included."),
  flatline_scheduler_lag_seconds: histogram({}, lagBuckets, "Start of a run minus the time at which it was due."),
  flatline_notifications_total: counter(
    { receiver: any, outcome: deliveryOutcomes },
    "Attempts to deliver a notification, by outcome.",
  ),
  flatline_notification_duration_seconds: histogram(
    { receiver: any },
    deliveryBuckets,
    "How long attempts to deliver a notification took.",
  ),
  flatline_receiver_timeouts_total: counter(
    { receiver: any },
    "Requests that the receiver did not answer within its timeout. " +
      "A receiver that hangs; one that refuses, or cannot be reached, answers in time.",
  ),
  flatline_source_requests_total: counter(
    { operation: any, code: any },
    "Requests to the remote service, by operation and HTTP status or error; queries of a table, by ok or error.",
  ),
  flatline_api_requests_total: counter(
    { operation: any, code: any },
    "Requests to the embedded service, by operation and HTTP status.",
  ),
  flatline_auth_failures_total: counter(
    { via: failedVias },
    "Requests with wrong credentials, by how they were given. A request without credentials is not counted. " +
      "The log has a line per kind and minute (`wrong credentials`).",
  ),
  flatline_events_ingested_total: counter(
    { status: eventStatuses },
    "Liveness events that were stored, by status. Grows with the embedded source only.",
  ),
  flatline_events_refused_total: counter(
    { reason: refusals },
    "Rows of posted events that were refused, by reason: times that cannot be right, by what they seem to be. " +
      "One such row refuses its whole post, and such a post is not read to its end. The log has a line a minute.",
  ),
  flatline_incidents_total: counter(
    { family: incidentFamilies },
    "Incidents that this process opened. Each configured healthcheck of the platform is a family, too.",
  ),
  flatline_second_opinion_answers_total: counter(
    { answer: lookAnswers },
    "Assets that this process asked the verifier about, controls too, by what it said.",
  ),
  flatline_second_opinion_verdicts_total: counter(
    { verdict: opinionVerdicts },
    "Second opinions of this process on incidents.",
  ),
  flatline_alerts_judged_total: counter(
    { check: gateChecks, verdict: judgementVerdicts },
    "Judgements of alerts by this process, by what was said.",
  ),
};

/** Read from the store at each scrape. */
export const fleetInstruments = {
  flatline_alerts: gauge(
    { check: any, state: alertLabelStates, severity: alertSeverities },
    "Live alerts; one that fires under a silence counts as silenced only.",
  ),
  flatline_alert_firing: gauge(
    { ...ofCheck, severity: alertSeverities },
    "1 while an alert fires, silenced or not. Absent while it does not fire.",
  ),
  flatline_incidents_open: gauge(
    { family: any, severity: alertSeverities, state: incidentStates },
    "Open incidents, by their worst alert; silenced when all of it is, acknowledged when all else is. " +
      "Families: deaths, unreachable, no-events, and each other check by its name.",
  ),
  flatline_fleet_verdict: gauge({}, "1 while a fleet verdict holds: many organizations began together."),
  flatline_fleet_spiking_organizations: gauge({ check: any }, "Organizations whose verdict alert fires."),
  flatline_fleet_organizations: gauge({ check: any }, "Organizations with a fresh result."),
  flatline_outbox_pending: gauge({ receiver: any }, "Notifications that the receiver has not accepted yet."),
  flatline_outbox_dead_letters: gauge(
    { receiver: any },
    "Notifications that will not be tried again until they are retried or discarded by hand.",
  ),
  flatline_outbox_oldest_age_seconds: gauge(
    { receiver: any },
    "Age of the oldest notification that the receiver has not accepted yet; 0 without one.",
  ),
  flatline_receiver_paused_until_timestamp_seconds: gauge(
    { receiver: any },
    "Until when the receiver asked to be left alone (Retry-After); 0 while it is not paused. " +
      "At most an hour ahead. `outbox retry` and `notify test` end it.",
  ),
  flatline_gate_held: gauge(
    { slug: any },
    "Whether a failure holds the gate: deaths of the organization are not to be acted on. " +
      "An organization that has left the configuration is there while its gate is held. " +
      "A gate that is shut because nothing is known (`gate.whenUnknown: hold`) is 0: see `flatline_check_up`.",
  ),
  flatline_gate_held_since_timestamp_seconds: gauge(
    { slug: any },
    "When the oldest failure that holds the gate was recorded. Absent while no failure holds it.",
  ),
  flatline_store_bytes: gauge({}, "Size of the database with its write-ahead log."),
  flatline_unwatched_slugs: gauge(
    {},
    "Organizations that send liveness events and are not configured: nothing checks them. " +
      "0 with another source than the embedded one.",
  ),
  flatline_marker_timestamp_seconds: gauge(
    { slug: any, marker: any },
    "When people marked a rollout or deployment, for annotations; " +
      "slug is empty where it is about all organizations. The latest 50 of the last 30 days.",
  ),
  flatline_discovery_up: gauge(
    { source: any },
    "Whether the last refresh of the discovery source gave a list. " +
      "0 after an error, a timeout or a bad list; the last good list holds then.",
  ),
  flatline_discovery_held: gauge(
    { source: any },
    "1 while a list of the discovery source is held back, because it would remove too many organizations.",
  ),
  flatline_discovered_organizations: gauge(
    { source: any },
    "Organizations that are checked because the discovery source lists them. " +
      "Without those that the configuration or a source before it has.",
  ),
};
