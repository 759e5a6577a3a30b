import { refusals } from "../contract/refusals.ts";
import { failedVias } from "../contract/actor.ts";
import { checkErrorReasons } from "../contract/report.ts";
import { lookAnswers, opinionVerdicts } from "../contract/second-opinion.ts";
import { severities } from "../contract/severity.ts";
import { countedReceiverInstruments, storedReceiverInstruments } from "./receiver-instruments.ts";
import { incidentFamilies } from "../contract/incident.ts";
import { judgementVerdicts } from "../contract/judgement.ts";
import { gateChecks } from "../checks/checks.ts";

/** Counted as people judge alerts. */
const countedJudgementInstruments = {
  incidentsTotal: {
    name: "flatline_incidents_total",
    type: "counter",
    labels: ["family"],
    help: "Incidents that this process opened.",
    values: { family: incidentFamilies },
    note: "And a family for each healthcheck of the platform that is configured.",
  },
  opinionAnswers: {
    name: "flatline_second_opinion_answers_total",
    type: "counter",
    labels: ["answer"],
    help: "Assets that this process asked the verifier about, controls too, by what it said.",
    values: { answer: lookAnswers },
  },
  opinionVerdicts: {
    name: "flatline_second_opinion_verdicts_total",
    type: "counter",
    labels: ["verdict"],
    help: "Second opinions of this process on incidents.",
    values: { verdict: opinionVerdicts },
  },
  alertsJudged: {
    name: "flatline_alerts_judged_total",
    type: "counter",
    labels: ["check", "verdict"],
    help: "Judgements of alerts by this process, by what was said.",
    values: { check: gateChecks, verdict: judgementVerdicts },
  },
} as const satisfies Record<string, Instrument>;

/** What the store says of each gate, read at each scrape. */
const storedGateInstruments = {
  gateHeld: {
    name: "flatline_gate_held",
    type: "gauge",
    labels: ["slug"],
    help: "Whether a failure holds the gate: deaths of the organization are not to be acted on.",
    note: "An organization that has left the configuration is there while its gate is held. A gate that is shut because nothing is known (`gate.whenUnknown: hold`) is 0: see `flatline_check_up`.",
  },
  gateHeldSince: {
    name: "flatline_gate_held_since_timestamp_seconds",
    type: "gauge",
    labels: ["slug"],
    help: "When the oldest failure that holds the gate was recorded.",
    note: "Absent while no failure holds it.",
  },
} as const satisfies Record<string, Instrument>;

/** Types of the text format, by the same words as in OpenMetrics. */
export type InstrumentType = "gauge" | "counter" | "histogram";

/** One metric: docs/metrics.md is made from this table, and every series of ours is in it. */
export interface Instrument {
  readonly name: string;
  readonly type: InstrumentType;
  readonly labels: readonly string[];
  /** One sentence; also the HELP line. */
  readonly help: string;
  /** The values of labels that come from closed sets. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Upper bounds, seconds. */
  readonly buckets?: readonly number[];
  /** What the docs say beyond the sentence. */
  readonly note?: string;
}

export const resultSeverities = ["ok", "warn", "fail"] as const;
export const runOutcomes = ["ok", "warn", "fail", "error"] as const;
export type RunOutcome = (typeof runOutcomes)[number];
export const skipReasons = ["overlap", "late", "import"] as const;
/** How an open incident stands, exclusive. */
export const incidentStates = ["active", "acknowledged", "silenced"] as const;
export const alertLabelStates = ["pending", "firing", "silenced"] as const;
/** Severities that an alert can have. */
export const alertSeverities = ["warn", "fail", "unknown"] as const;
export const eventStatuses = ["DETECTED_AS_DEAD", "DETECTED_AS_ALIVE", "other"] as const;

// A local evaluation takes milliseconds; a remote one up to its timeout of 30 s, three times with the retries and pauses.
const runBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
// A second late is the limit that is promised under load; minutes mean a suspended or starved process.
const lagBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300];

const check = ["check", "slug"] as const;

/** The series of each (check, slug), rendered from state, in the order in which they are exposed. */
export const checkInstruments = {
  severity: {
    name: "flatline_check_severity",
    type: "gauge",
    labels: [...check, "severity"],
    help: "1 for the severity that holds since the last run, 0 for the others.",
    values: { severity: severities },
    note: "Absent until the first run. `unknown` after a failed run, and when the last verdict is older than three intervals of its schedule (at least 2 min).",
  },
  up: {
    name: "flatline_check_up",
    type: "gauge",
    labels: check,
    help: "Whether the last run gave a result.",
    note: "Absent until the first run; 0 too when the last verdict is stale.",
  },
  observed: {
    name: "flatline_check_observed",
    type: "gauge",
    labels: [...check, "key"],
    help: "What the last result observed, by its own key.",
    note: "Finite numbers, and booleans as 0 or 1: the first 32 keys by name. Absent while there is no fresh result.",
  },
  threshold: {
    name: "flatline_check_threshold",
    type: "gauge",
    labels: [...check, "key"],
    help: "The thresholds that the last result was measured by, by their own key.",
    note: "As `flatline_check_observed`.",
  },
  findings: {
    name: "flatline_check_findings",
    type: "gauge",
    labels: [...check, "severity"],
    help: "Findings of the last result, by severity; at most 100 are kept.",
    values: { severity: resultSeverities },
    note: "All three severities while there is a fresh result.",
  },
  deaths: {
    name: "flatline_check_deaths",
    type: "gauge",
    labels: check,
    help: "Deaths in the window of the last result.",
    note: "Where the result has it under the name of `source.observedKeys.currentCount`. With `count: assets` the assets that died, each once.",
  },
  expectedDeaths: {
    name: "flatline_check_expected_deaths",
    type: "gauge",
    labels: check,
    help: "Deaths that the baseline of the last result leads to expect in the window.",
    note: "Where the result has it under the name of `source.observedKeys.expectedCount`. With `count: assets` assets, too.",
  },
  assetTypeExcess: {
    name: "flatline_check_asset_type_excess",
    type: "gauge",
    labels: [...check, "asset_type"],
    help: "Deaths above the expected ones, of the asset types that the findings name.",
    note: "At most 5 types; local sources only.",
  },
  lastRun: {
    name: "flatline_check_last_run_timestamp_seconds",
    type: "gauge",
    labels: check,
    help: "When the last run ended.",
  },
  lastSuccess: {
    name: "flatline_check_last_success_timestamp_seconds",
    type: "gauge",
    labels: check,
    help: "When the last run that gave a result ended.",
  },
  nextRun: {
    name: "flatline_check_next_run_timestamp_seconds",
    type: "gauge",
    labels: check,
    help: "When the next run is due.",
  },
  runs: {
    name: "flatline_check_runs_total",
    type: "counter",
    labels: [...check, "outcome"],
    help: "Runs that ended, by the severity of their result, or error.",
    values: { outcome: runOutcomes },
    note: "Probes are not counted.",
  },
} as const satisfies Record<string, Instrument>;

/** Counted as things happen, by prom-client. */
export const countedInstruments = {
  buildInfo: {
    name: "flatline_build_info",
    type: "gauge",
    labels: ["version", "node"],
    help: "1, with the versions of flatline and of Node.js.",
  },
  standby: {
    name: "flatline_standby",
    type: "gauge",
    labels: [],
    help: "1 while another process writes to the store, and this one waits to take over; else 0.",
  },
  reloadSuccessful: {
    name: "flatline_config_last_reload_successful",
    type: "gauge",
    labels: [],
    help: "Whether the last load of the configuration succeeded.",
  },
  reloadTimestamp: {
    name: "flatline_config_last_reload_success_timestamp_seconds",
    type: "gauge",
    labels: [],
    help: "When a configuration was last loaded successfully.",
  },
  errors: {
    name: "flatline_check_errors_total",
    type: "counter",
    labels: ["check", "reason"],
    help: "Runs that gave no result, by reason.",
    values: { reason: checkErrorReasons },
    note: "`not_found` is of healthchecks of the platform only (`healthchecks`).",
  },
  skipped: {
    name: "flatline_check_skipped_total",
    type: "counter",
    labels: ["check", "reason"],
    help: "Ticks without a run: the last one was still running (overlap), the process could not run (late), or events of the organization were being imported (import).",
    values: { reason: skipReasons },
  },
  duration: {
    name: "flatline_check_duration_seconds",
    type: "histogram",
    labels: ["check"],
    help: "How long runs took, retries included.",
    buckets: runBuckets,
  },
  lag: {
    name: "flatline_scheduler_lag_seconds",
    type: "histogram",
    labels: [],
    help: "Start of a run minus the time at which it was due.",
    buckets: lagBuckets,
  },
  ...countedReceiverInstruments,
  sourceRequests: {
    name: "flatline_source_requests_total",
    type: "counter",
    labels: ["operation", "code"],
    help: "Requests to the remote service, by operation and HTTP status or error; queries of a table, by ok or error.",
  },
  apiRequests: {
    name: "flatline_api_requests_total",
    type: "counter",
    labels: ["operation", "code"],
    help: "Requests to the embedded service, by operation and HTTP status.",
  },
  authFailures: {
    name: "flatline_auth_failures_total",
    type: "counter",
    labels: ["via"],
    help: "Requests with wrong credentials, by how they were given.",
    values: { via: failedVias },
    note: "A request without credentials is not counted. The log has a line per kind and minute (`wrong credentials`).",
  },
  eventsIngested: {
    name: "flatline_events_ingested_total",
    type: "counter",
    labels: ["status"],
    help: "Liveness events that were stored, by status.",
    values: { status: eventStatuses },
    note: "Grows with the embedded source only.",
  },
  eventsRefused: {
    name: "flatline_events_refused_total",
    type: "counter",
    labels: ["reason"],
    help: "Rows of posted events that were refused, by reason: times that cannot be right, by what they seem to be.",
    values: { reason: refusals },
    note: "One such row refuses its whole post, and such a post is not read to its end. The log has a line a minute.",
  },
  ...countedJudgementInstruments,
} as const satisfies Record<string, Instrument>;

/** Read from the store at each scrape. */
export const fleetInstruments = {
  alerts: {
    name: "flatline_alerts",
    type: "gauge",
    labels: ["check", "state", "severity"],
    help: "Live alerts; one that fires under a silence counts as silenced only.",
    values: { state: alertLabelStates, severity: alertSeverities },
  },
  alertFiring: {
    name: "flatline_alert_firing",
    type: "gauge",
    labels: [...check, "severity"],
    help: "1 while an alert fires, silenced or not.",
    values: { severity: alertSeverities },
    note: "Absent while it does not fire.",
  },
  incidentsOpen: {
    name: "flatline_incidents_open",
    type: "gauge",
    labels: ["family", "severity", "state"],
    help: "Open incidents, by their worst alert; silenced when all of it is, acknowledged when all else is.",
    values: { severity: alertSeverities, state: incidentStates },
    note: "Families: deaths, unreachable, no-events, and each other check by its name.",
  },
  verdict: {
    name: "flatline_fleet_verdict",
    type: "gauge",
    labels: [],
    help: "1 while a fleet verdict holds: many organizations began together.",
  },
  spiking: {
    name: "flatline_fleet_spiking_organizations",
    type: "gauge",
    labels: ["check"],
    help: "Organizations whose verdict alert fires.",
  },
  organizations: {
    name: "flatline_fleet_organizations",
    type: "gauge",
    labels: ["check"],
    help: "Organizations with a fresh result.",
  },
  ...storedReceiverInstruments,
  ...storedGateInstruments,
  storeBytes: {
    name: "flatline_store_bytes",
    type: "gauge",
    labels: [],
    help: "Size of the database with its write-ahead log.",
  },
  unwatchedSlugs: {
    name: "flatline_unwatched_slugs",
    type: "gauge",
    labels: [],
    help: "Organizations that send liveness events and are not configured: nothing checks them.",
    note: "0 with another source than the embedded one.",
  },
  markers: {
    name: "flatline_marker_timestamp_seconds",
    type: "gauge",
    labels: ["slug", "marker"],
    help: "When people marked a rollout or deployment, for annotations; slug is empty where it is about all organizations.",
    note: "The latest 50 of the last 30 days.",
  },
  discoveryUp: {
    name: "flatline_discovery_up",
    type: "gauge",
    labels: ["source"],
    help: "Whether the last refresh of the discovery source gave a list.",
    note: "0 after an error, a timeout or a bad list; the last good list holds then.",
  },
  discoveryHeld: {
    name: "flatline_discovery_held",
    type: "gauge",
    labels: ["source"],
    help: "1 while a list of the discovery source is held back, because it would remove too many organizations.",
  },
  discovered: {
    name: "flatline_discovered_organizations",
    type: "gauge",
    labels: ["source"],
    help: "Organizations that are checked because the discovery source lists them.",
    note: "Without those that the configuration or a source before it has.",
  },
} as const satisfies Record<string, Instrument>;
