import { holdingFailures } from "../../alerting/decide/gate.ts";
import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, rulesAt, windowAt } from "../../alerting/decide/silences.ts";
import { slugsOf } from "../../alerting/incident-summary.ts";
import type { RoutedReceiver } from "../../alerting/settings.ts";
import { ownOrigins } from "../../base/broken-address.ts";
import { dayMs } from "../../base/time.ts";
import type { OrganizationConfig } from "../../config/config.ts";
import { shownLabels } from "../../config/render.ts";
import { brokenResult, type HealthcheckResult } from "../../contract/healthcheck.ts";
import type { ObservedCounts } from "../../contract/report.ts";
import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import { viewResult } from "../api/check-view.ts";
import { isThinPast } from "./chart.ts";
import { isLate } from "./frame.ts";
import { withoutReceiverNames, type IncidentReading, type ReadIncident } from "./incidents.ts";
import { isStale, type CheckState, type Running } from "./running.ts";
import type { Unfinished } from "./fleet.ts";

/** A healthcheck of an organization: its state, and what its last result says to the reader. */
export interface OrganizationCheck {
  readonly state: CheckState;
  /** null before its first run; unknown also when its last result is too old. */
  readonly severity: Severity | null;
  readonly sinceMs: number | null;
  readonly isStale: boolean;
  readonly isLate: boolean;
  /** As the reader may see it, addresses broken; null: the last run gave none, or it is too old. */
  readonly result: HealthcheckResult | null;
  readonly counts: ObservedCounts | null;
}

/** An open incident in which something of the organization fires. */
export interface OpenPart {
  /** As if it were of this organization alone. */
  readonly own: ReadIncident;
  /** Organizations of it that the reader may see. */
  readonly organizations: number;
}

/** Everything that is known of one organization now, as one reader may see it. */
export interface OrganizationFacts {
  readonly nowMs: number;
  readonly slug: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The discovery source that lists it; null: the file does. */
  readonly discoveredBy: string | null;
  /** null: the reader may not read what receivers are called. */
  readonly receivers: readonly RoutedReceiver[] | null;
  /** The spike check first, then the worst. */
  readonly checks: readonly OrganizationCheck[];
  readonly windowHours: number;
  /** The instant of its first event; null: none is stored, or nothing older is kept. */
  readonly firstEventMs: number | null;
  /** Less than a day before the window is known: nothing is usual yet (CONTRACT 2). */
  readonly isThin: boolean;
  /** The ended incident whose deaths a mean expects longest, since somebody judged it, and until when; null: none is expected now. */
  readonly expecting: { readonly incident: number; readonly untilMs: number } | null;
  readonly open: OpenPart | null;
  /** When what is pending fires if it goes on, null where that is not known; absent: nothing is pending. */
  readonly pending: { readonly firesAtMs: number | null } | null;
  readonly silencedUntilMs: number | null;
  /** The first failure that holds its takedowns; null: they are allowed. */
  readonly gate: GateFailure | null;
  /** The incidents that it is or was part of, newest first, with all members that the reader may see. */
  readonly incidents: readonly ReadIncident[];
  readonly unfinished: Unfinished;
  /** Its latest spike, live or ended; null: none is kept. */
  readonly latestSpike: Alert | null;
}

export interface OrganizationSources {
  readonly running: Running;
  readonly incidents: Pick<IncidentReading, "ofNumbers" | "partOf">;
}

const spike = "dead-asset-spike" as const;
// As the list of incidents goes back at first.
const pastMs = 90 * dayMs;
// So many ended alerts of a check are shown; more are in the list of incidents.
const mostEnded = 10;

/** Reads it; null: the organization is not configured. `withDetails`: what needs the right to read. */
export async function readOrganization(
  sources: OrganizationSources,
  slug: string,
  { withDetails }: { readonly withDetails: boolean },
): Promise<OrganizationFacts | null> {
  const { running } = sources;
  const { store, clock, settings, checks, config, holdsEvents } = running;
  const states = checks.all().filter((state) => state.slug === slug);
  const organization = config().organizations.find((one) => one.slug === slug);
  if (states.length === 0 || organization === undefined) return null;
  const nowMs = clock.nowMs();
  const rules = settings();
  const target = rules.targetOf(states.find(({ check }) => check === spike)?.check ?? states[0]?.check ?? spike, slug);
  const { live: allLive, failures, unfinished } = await running.fleet();
  const live = allLive.filter((alert) => alert.slug === slug && states.some(({ check }) => check === alert.check));
  const kept = [...live];
  for (const { check } of states)
    kept.push(...(await store.alerts.ended({ check, slug, fromMs: nowMs - pastMs, limit: mostEnded })));
  const { open, incidents } = await readIncidents(sources, kept, slug);
  const firstEventMs = holdsEvents() ? ((await store.events.firstEvents([slug])).get(slug) ?? null) : null;
  const windowHours = running.thresholdsOf(slug)?.windowHours ?? 24;
  const pending = live.find(({ state, kind }) => state === "pending" && kind === "verdict");
  const forMs = target?.policy.forMs ?? 0;
  const spikes = kept.filter((alert) => alert.check === spike && alert.kind === "verdict");
  const own = failures.filter((alert) => alert.slug === slug);
  const holding = holdingFailures(own, rules.gateOf(slug));
  return {
    nowMs,
    slug,
    labels: shownLabels(organization),
    discoveredBy: organization.discoveredBy,
    receivers: withDetails ? (target?.receivers ?? []) : null,
    checks: states.map((state) => viewState(state, withDetails, nowMs)).toSorted(byWeight),
    windowHours,
    firstEventMs,
    isThin: holdsEvents() && isThinPast(firstEventMs, windowHours, nowMs),
    expecting: expectingOf(organization, config().source.isLocal, spikes, nowMs),
    open: open === null || withDetails ? open : { ...open, own: withoutReceiverNames(open.own) },
    pending: pending === undefined ? null : { firesAtMs: forMs > 0 ? pending.startsAtMs + forMs : null },
    silencedUntilMs: await silencedUntil(running, slug, nowMs),
    gate: holding.toSorted((left, right) => left.failure.atMs - right.failure.atMs)[0] ?? null,
    incidents,
    unfinished,
    latestSpike: spikes.toSorted((left, right) => right.startsAtMs - left.startsAtMs)[0] ?? null,
  };
}

/** Its deaths leave the window with the end of the alert, and the baseline so many days later. */
function expectingOf(
  { baseline, thresholds }: OrganizationConfig,
  isLocal: boolean,
  spikes: readonly Alert[],
  nowMs: number,
): OrganizationFacts["expecting"] {
  if (baseline !== "mean" || !isLocal) return null;
  const ends = spikes.flatMap(({ judgement, incident, end }) =>
    judgement === undefined || end === null
      ? []
      : [{ incident: incident?.number ?? 0, untilMs: end.atMs + thresholds.baselineDays * dayMs }],
  );
  const [last] = ends.toSorted((left, right) => right.untilMs - left.untilMs);
  return last === undefined || last.untilMs <= nowMs ? null : last;
}

async function readIncidents(
  { incidents }: OrganizationSources,
  kept: readonly Alert[],
  slug: string,
): Promise<Pick<OrganizationFacts, "open" | "incidents">> {
  const all = await incidents.ofNumbers(new Set(kept.flatMap((alert) => alert.incident?.number ?? [])));
  const firing = new Set(kept.flatMap((alert) => (alert.end === null ? (alert.incident?.number ?? []) : [])));
  const [first] = all.filter(({ incident }) => firing.has(incident.number)).toSorted(byFamily);
  const own = first === undefined ? null : await incidents.partOf(first.incident, slug);
  const open = own === null || first === undefined ? null : { own, organizations: slugsOf(first.members).size };
  return { open, incidents: all };
}

// What questions deaths before what could not be asked, and that before other checks.
const families = ["deaths", "unreachable"];

function byFamily(left: ReadIncident, right: ReadIncident): number {
  const rank = ({ incident }: ReadIncident): number =>
    families.includes(incident.family) ? families.indexOf(incident.family) : families.length;
  return rank(left) - rank(right) || right.incident.number - left.incident.number;
}

function byWeight(left: OrganizationCheck, right: OrganizationCheck): number {
  const names = [left.state.check, right.state.check];
  if (names.includes(spike)) return left.state.check === spike ? -1 : 1;
  return (
    compareSeverity(right.severity ?? "unknown", left.severity ?? "unknown") ||
    (left.state.check < right.state.check ? -1 : 1)
  );
}

function viewState(state: CheckState, withDetails: boolean, nowMs: number): OrganizationCheck {
  const isTooOld = isStale(state, nowMs);
  const current = state.lastReport?.kind === "result" && !isTooOld ? state.lastReport : null;
  const shown = current === null ? null : viewResult(state.check, current.result, withDetails);
  return {
    state,
    severity: isTooOld ? "unknown" : state.severity,
    sinceMs: isTooOld ? state.lastRunAtMs : state.severitySinceMs,
    isStale: isTooOld,
    isLate: isLate(state, nowMs),
    result: shown === null ? null : brokenResult(shown, ownOrigins(shown.appUrl)),
    counts: current?.counts ?? null,
  };
}

async function silencedUntil({ store, settings }: Running, slug: string, nowMs: number): Promise<number | null> {
  const rules = rulesAt([...settings().silences, ...(await store.silences.endingAfter(nowMs)).map(ruleOf)], nowMs);
  const subject = { slug, check: spike, labels: settings().targetOf(spike, slug)?.labels ?? {} };
  const ends = rules.filter((rule) => matches(rule, subject)).map((rule) => windowAt(rule, nowMs)?.endsAtMs ?? 0);
  return ends.length === 0 ? null : Math.max(...ends);
}
