import { holdingFailures } from "../../alerting/decide/gate.ts";
import { matches } from "../../alerting/decide/matching.ts";
import { rulesAt, windowAt } from "../../alerting/decide/silences.ts";
import { slugsOf } from "../../alerting/incident-summary.ts";
import { silenceRules } from "../../alerting/view.ts";
import { ownOrigins } from "../../base/broken-address.ts";
import { dayMs } from "../../base/time.ts";
import type { OrganizationConfig } from "../../config/config.ts";
import { shownLabels } from "../../config/render.ts";
import { brokenResult } from "../../contract/healthcheck.ts";
import { compareSeverity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { viewResult } from "../api/check-routes.ts";
import type { WebParts } from "../parts.ts";
import { isThinPast } from "./chart.ts";
import { forReader, type IncidentReading } from "./incidents.ts";
import { isLate, isStale, type CheckState, type Running } from "./running.ts";

/** A healthcheck of an organization: its state and its last result. */
export type OrganizationCheck = ReturnType<typeof viewState>;

/** The facts of one organization, for one reader. */
export type OrganizationFacts = NonNullable<Awaited<ReturnType<typeof readOrganization>>>;

const spike = "dead-asset-spike" as const;
const pastMs = 90 * dayMs;
// Further ended alerts are in the list of incidents.
const mostEnded = 10;

/** Reads an organization; null: it is not configured. `withDetails`: the reader has the right `read`. */
export async function readOrganization({ running, incidents: reading }: WebParts, slug: string, withDetails: boolean) {
  const { store, clock, settings, checks, config, holdsEvents } = running;
  const states = running.checkNames().flatMap((check) => checks.of(check, slug) ?? []);
  const organization = config().organizations.find((one) => one.slug === slug);
  if (states.length === 0 || organization === undefined) return null;
  const nowMs = clock.nowMs();
  const rules = settings();
  const target = rules.targetOf(states.find(({ check }) => check === spike)?.check ?? states[0]?.check ?? spike, slug);
  const { alerts, failures, unfinished } = await running.fleet();
  const live = alerts.filter((alert) => alert.slug === slug && states.some(({ check }) => check === alert.check));
  const kept: Alert[] = [...live];
  for (const { check } of states)
    kept.push(...(await store.alerts.ended({ check, slug, fromMs: nowMs - pastMs, limit: mostEnded })));
  const { open, incidents } = await readIncidents(reading, kept, slug);
  const firstEventMs = holdsEvents() ? ((await store.events.firstEvents([slug])).get(slug) ?? null) : null;
  const windowHours = running.thresholdsOf(slug)?.windowHours ?? 24;
  const spikes = kept.filter((alert) => alert.check === spike && alert.kind === "verdict");
  const own = failures.filter((alert) => alert.slug === slug);
  return {
    nowMs,
    slug,
    labels: shownLabels(organization),
    /** The discovery source; null: the configuration file. */
    discoveredBy: organization.discoveredBy,
    /** null: the reader may not see receivers. */
    receivers: withDetails ? (target?.receivers ?? []) : null,
    /** The spike check first, then the worst. */
    checks: states.map((state) => viewState(state, withDetails, nowMs)).toSorted(byWeight),
    windowHours,
    /** null: no events are stored, or older ones were deleted. */
    firstEventMs,
    /** Nothing is usual yet (CONTRACT 2). */
    isThin: holdsEvents() && isThinPast(firstEventMs, windowHours, nowMs),
    /** The judged, ended incident that stays longest in a mean baseline, and until when; null: none. */
    expecting: expectingOf(organization, config().source.isLocal, spikes, nowMs),
    open: open && { ...open, own: forReader(open.own, withDetails) },
    isPending: live.some(({ state, kind }) => state === "pending" && kind === "verdict"),
    silencedUntilMs: await silencedUntil(running, slug, nowMs),
    /** The failures that hold its takedowns, the oldest first. */
    holding: holdingFailures(own, rules.gateOf(slug)),
    /** Newest first, with all members. */
    incidents: incidents.map((one) => forReader(one, withDetails)),
    unfinished,
    /** The latest one, live or ended; null: none. */
    latestSpike: spikes.toSorted((left, right) => right.startsAtMs - left.startsAtMs)[0] ?? null,
  };
}

/** An incident's deaths leave the window when the alert ends, and the baseline `baselineDays` later. */
function expectingOf(
  { baseline, thresholds }: OrganizationConfig,
  isLocal: boolean,
  spikes: readonly Alert[],
  nowMs: number,
) {
  if (baseline !== "mean" || !isLocal) return null;
  const ends = spikes.flatMap(({ judgement, incident, end }) =>
    judgement === undefined || end === null
      ? []
      : [{ incident: incident?.number ?? 0, untilMs: end.atMs + thresholds.baselineDays * dayMs }],
  );
  const [last] = ends.toSorted((left, right) => right.untilMs - left.untilMs);
  return last === undefined || last.untilMs <= nowMs ? null : last;
}

async function readIncidents(incidents: IncidentReading, kept: readonly Alert[], slug: string) {
  const all = await incidents.ofNumbers(new Set(kept.flatMap((alert) => alert.incident?.number ?? [])));
  const firing = new Set(kept.flatMap((alert) => (alert.end === null ? (alert.incident?.number ?? []) : [])));
  const fires = all.filter(({ incident }) => firing.has(incident.number));
  // Incidents of deaths come first, then an unreachable platform, then other checks.
  const ofFamily = (family: string) => fires.find(({ incident }) => incident.family === family);
  const first = ofFamily("deaths") ?? ofFamily("unreachable") ?? fires[0];
  const own = first === undefined ? null : await incidents.partOf(first.incident, slug);
  const open = own === null || first === undefined ? null : { own, organizations: slugsOf(first.members).size };
  return { open, incidents: all };
}

function byWeight(left: OrganizationCheck, right: OrganizationCheck): number {
  const names = [left.state.check, right.state.check];
  if (names.includes(spike)) return left.state.check === spike ? -1 : 1;
  return (
    compareSeverity(right.severity ?? "unknown", left.severity ?? "unknown") ||
    (left.state.check < right.state.check ? -1 : 1)
  );
}

function viewState(state: CheckState, withDetails: boolean, nowMs: number) {
  const isTooOld = isStale(state, nowMs);
  const { lastReport = null, severity = null, lastRunAtMs = null, severitySinceMs = null } = state.last ?? {};
  const current = lastReport?.kind === "result" && !isTooOld ? lastReport : null;
  const shown = current === null ? null : viewResult(state.check, current.result, withDetails);
  return {
    state,
    severity: isTooOld ? "unknown" : severity,
    sinceMs: isTooOld ? lastRunAtMs : severitySinceMs,
    isStale: isTooOld,
    isLate: isLate(state, nowMs),
    result: shown === null ? null : brokenResult(shown, ownOrigins(shown.appUrl)),
    counts: current?.counts ?? null,
  };
}

async function silencedUntil({ store, settings }: Running, slug: string, nowMs: number): Promise<number | null> {
  const rules = rulesAt(await silenceRules(store, settings(), nowMs), nowMs);
  const subject = { slug, check: spike, labels: settings().targetOf(spike, slug)?.labels ?? {} };
  const ends = rules.filter((rule) => matches(rule, subject)).map((rule) => windowAt(rule, nowMs)?.endsAtMs ?? 0);
  return ends.length === 0 ? null : Math.max(...ends);
}
