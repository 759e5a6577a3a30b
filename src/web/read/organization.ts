import { holdingFailures } from "../../alerting/decide/gate.ts";
import { matches } from "../../alerting/decide/matching.ts";
import { ruleOf, rulesAt, windowAt } from "../../alerting/decide/silences.ts";
import { slugsOf } from "../../alerting/incident-summary.ts";
import type { RoutedReceiver } from "../../alerting/settings.ts";
import { breakAddresses, ownOrigins } from "../../base/broken-address.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import { brokenResult, type HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckErrorReason, CheckName, ObservedCounts } from "../../contract/report.ts";
import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { AlertJudgement, KeptAlert } from "../../store/alerts/alerts.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import { viewResult } from "../api/check-view.ts";
import type { PageOrganization, PageReading } from "./page.ts";
import { isThinPast } from "./chart.ts";
import { isLate } from "./frame.ts";
import { withoutReceiverNames, type IncidentReading, type ReadIncident } from "./incidents.ts";
import { isStale, type CheckState, type Running } from "./running.ts";
import type { Unfinished } from "./fleet.ts";

/** A healthcheck of an organization. Times are epoch ms. */
export interface OrganizationCheck {
  readonly check: CheckName;
  /** null before its first run; unknown also when its last result is too old. */
  readonly severity: Severity | null;
  readonly isStale: boolean;
  readonly sinceMs: number | null;
  readonly lastRunMs: number | null;
  /** null: it has not run. */
  readonly tookMs: number | null;
  readonly nextRunMs: number;
  readonly isRunning: boolean;
  readonly isLate: boolean;
  /** As the reader may see it, addresses broken; null: the last run gave none, or it is too old. */
  readonly result: HealthcheckResult | null;
  readonly counts: ObservedCounts | null;
  readonly error: { readonly reason: CheckErrorReason; readonly message: string } | null;
  /** The last run that gave a result; null: none did. */
  readonly lastGood: { readonly severity: Severity; readonly atMs: number } | null;
}

/** An open incident in which something of the organization fires. */
export interface OpenPart {
  /** As if it were of this organization alone. */
  readonly own: ReadIncident;
  /** Organizations of it that the reader may see. */
  readonly organizations: number;
}

/** Why its gate is shut. */
export interface ShutGate {
  readonly sinceMs: number;
  /** The incident of the first alert that holds it; null: it has none. */
  readonly incident: number | null;
  /** null: nobody has judged that alert. */
  readonly judgement: AlertJudgement | null;
}

/** Everything that is known of one organization now, as one reader may see it. */
export interface OrganizationFacts {
  readonly nowMs: number;
  readonly slug: string;
  readonly source: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The discovery source that lists it; null: the file does. */
  readonly discoveredBy: string | null;
  /** Those that hold, in the configuration's order. */
  readonly settings: PageOrganization["settings"];
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
  /** Deaths of the last hour; null: single events are not known. */
  readonly lastHour: number | null;
  readonly open: OpenPart | null;
  /** When what is pending fires if it goes on, null where that is not known; absent: nothing is pending. */
  readonly pending: { readonly firesAtMs: number | null } | null;
  readonly silencedUntilMs: number | null;
  readonly gate: ShutGate | null;
  /** The incidents that it is or was part of, newest first, with all members that the reader may see. */
  readonly incidents: readonly ReadIncident[];
  readonly unfinished: Unfinished;
  /** Its latest spike, live or ended; null: none is kept. */
  readonly latestSpike: KeptAlert | null;
  /** Those before and after it in the configuration. */
  readonly neighbours: { readonly previous: string | null; readonly next: string | null };
}

export interface OrganizationSources {
  readonly running: Running;
  readonly incidents: Pick<IncidentReading, "ofNumbers" | "partOf">;
  readonly page: Pick<PageReading, "organizations">;
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
  const { running, page } = sources;
  const { store, clock, settings, checks, source, holdsEvents } = running;
  const states = checks.all().filter((state) => state.slug === slug);
  if (states.length === 0) return null;
  const nowMs = clock.nowMs();
  const rules = settings();
  const { target, ...organization } = configured(sources, slug, states);
  const { live: allLive, failures, unfinished } = await running.fleet();
  const live = allLive.filter((alert) => alert.slug === slug && states.some(({ check }) => check === alert.check));
  const kept: KeptAlert[] = live.map((alert) => ({ alert, end: null }));
  for (const { check } of states)
    kept.push(...(await store.alerts.ended({ check, slug, fromMs: nowMs - pastMs, limit: mostEnded })));
  const { open, incidents } = await readIncidents(sources, kept, slug);
  const hour = [{ slug, intervals: [{ afterMs: nowMs - hourMs, untilMs: nowMs }] }];
  const [lately = []] = holdsEvents() ? await store.events.deaths(hour) : [];
  const firstEventMs = holdsEvents() ? ((await store.events.firstEvents([slug])).get(slug) ?? null) : null;
  const windowHours = running.thresholdsOf(slug)?.windowHours ?? 24;
  const pending = live.find(({ state, kind }) => state === "pending" && kind === "verdict");
  const forMs = target?.policy.forMs ?? 0;
  const spikes = kept.filter(({ alert }) => alert.check === spike && alert.kind === "verdict");
  return {
    nowMs,
    slug,
    source: source(),
    ...organization,
    ...(withDetails
      ? {}
      : { receivers: null, settings: organization.settings.filter(({ name }) => name !== "receivers") }),
    checks: states.map((state) => viewState(state, withDetails, nowMs)).toSorted(byWeight),
    windowHours,
    firstEventMs,
    isThin: holdsEvents() && isThinPast(firstEventMs, windowHours, nowMs),
    expecting: expectingOf(running, slug, spikes),
    lastHour: holdsEvents() ? lately.reduce((sum, { deaths }) => sum + (deaths[0] ?? 0), 0) : null,
    open: open === null || withDetails ? open : { ...open, own: withoutReceiverNames(open.own) },
    pending: pending === undefined ? null : { firesAtMs: forMs > 0 ? pending.startsAtMs + forMs : null },
    silencedUntilMs: await silencedUntil(running, slug, nowMs),
    gate: shutGate(
      holdingFailures(
        failures.filter(({ alert }) => alert.slug === slug),
        rules.gateOf(slug),
      ),
    ),
    incidents,
    unfinished,
    latestSpike: spikes.toSorted((left, right) => right.alert.startsAtMs - left.alert.startsAtMs)[0] ?? null,
    neighbours: neighboursOf(page.organizations(), slug),
  };
}

/** Its deaths leave the window with the end of the alert, and the baseline so many days later. */
function expectingOf(
  { config, clock }: Running,
  slug: string,
  spikes: readonly KeptAlert[],
): OrganizationFacts["expecting"] {
  const organization = config().organizations.find((one) => one.slug === slug);
  if (organization === undefined || organization.baseline !== "mean" || !config().source.isLocal) return null;
  const { baselineDays } = organization.thresholds;
  const ends = spikes.flatMap(({ alert: { judgement, incident }, end }) =>
    judgement === undefined || end === null
      ? []
      : [{ incident: incident?.number ?? 0, untilMs: end.atMs + baselineDays * dayMs }],
  );
  const [last] = ends.toSorted((left, right) => right.untilMs - left.untilMs);
  return last === undefined || last.untilMs <= clock.nowMs() ? null : last;
}

function configured({ page, running }: OrganizationSources, slug: string, states: readonly CheckState[]) {
  const found = page.organizations().find((one) => one.slug === slug);
  const check = states.find((state) => state.check === spike)?.check ?? states[0]?.check ?? spike;
  const target = running.settings().targetOf(check, slug);
  return {
    target,
    labels: found?.labels ?? {},
    receivers: target?.receivers ?? [],
    discoveredBy: found?.discoveredBy ?? null,
    settings: found?.settings ?? [],
  };
}

async function readIncidents(
  { incidents }: OrganizationSources,
  kept: readonly KeptAlert[],
  slug: string,
): Promise<Pick<OrganizationFacts, "open" | "incidents">> {
  const all = await incidents.ofNumbers(new Set(kept.flatMap(({ alert }) => alert.incident?.number ?? [])));
  const firing = new Set(kept.flatMap(({ alert, end }) => (end === null ? (alert.incident?.number ?? []) : [])));
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
  if (left.check === spike || right.check === spike) return left.check === spike ? -1 : 1;
  return (
    compareSeverity(right.severity ?? "unknown", left.severity ?? "unknown") || (left.check < right.check ? -1 : 1)
  );
}

function viewState(state: CheckState, withDetails: boolean, nowMs: number): OrganizationCheck {
  const { check, lastReport, lastRunAtMs, lastResultReport } = state;
  const isTooOld = isStale(state, nowMs);
  const current = lastReport?.kind === "result" && !isTooOld ? lastReport : null;
  const shown = current === null ? null : viewResult(check, current.result, withDetails);
  return {
    check,
    severity: isTooOld ? "unknown" : state.severity,
    isStale: isTooOld,
    sinceMs: isTooOld ? lastRunAtMs : state.severitySinceMs,
    lastRunMs: lastRunAtMs,
    tookMs: lastReport === null ? null : lastReport.finishedAtMs - lastReport.startedAtMs,
    nextRunMs: state.nextDueAtMs,
    isRunning: state.isRunning,
    isLate: isLate(state, nowMs),
    result: shown === null ? null : brokenResult(shown, ownOrigins(shown.appUrl)),
    counts: current?.counts ?? null,
    error:
      lastReport?.kind === "error"
        ? { reason: lastReport.error.reason, message: breakAddresses(lastReport.error.message) }
        : null,
    lastGood:
      lastResultReport === null ? null : { severity: lastResultReport.severity, atMs: lastResultReport.finishedAtMs },
  };
}

async function silencedUntil({ store, settings }: Running, slug: string, nowMs: number): Promise<number | null> {
  const rules = rulesAt([...settings().silences, ...(await store.silences.endingAfter(nowMs)).map(ruleOf)], nowMs);
  const subject = { slug, check: spike, labels: settings().targetOf(spike, slug)?.labels ?? {} };
  const ends = rules.filter((rule) => matches(rule, subject)).map((rule) => windowAt(rule, nowMs)?.endsAtMs ?? 0);
  return ends.length === 0 ? null : Math.max(...ends);
}

function shutGate(holding: readonly GateFailure[]): ShutGate | null {
  const [first] = holding.toSorted((left, right) => left.failedAtMs - right.failedAtMs);
  if (first === undefined) return null;
  const { alert, failedAtMs } = first;
  return { sinceMs: failedAtMs, incident: alert.incident?.number ?? null, judgement: alert.judgement ?? null };
}

function neighboursOf(organizations: readonly PageOrganization[], slug: string): OrganizationFacts["neighbours"] {
  const slugs = organizations.map((one) => one.slug);
  const at = slugs.indexOf(slug);
  return { previous: slugs[at - 1] ?? null, next: at === -1 ? null : (slugs[at + 1] ?? null) };
}
