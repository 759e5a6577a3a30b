import { dayMs, hourMs, type Clock } from "../../../base/time.ts";
import type { HourSeries } from "../../../store/runs/hour-series.ts";
import { isStaleResult } from "../../api/check-view.ts";
import { reaches, reachesEverything, seesDetails, type Identity } from "../../access/identity.ts";
import { rowChecksOf } from "./checks.ts";
import type { PageOrganization, PagePort } from "../ports.ts";
import { fleetOf, type PastRuns } from "./fleet-model.ts";
import type { FleetData } from "./fleet.ts";
import type { RowSeverity } from "../parts/marks.ts";
import { lateAfterMs, type RowAlert, type RowData } from "./row.ts";
import { sparkPoints, stateLetter, type Spark } from "./spark.ts";
import type { AlertsPort } from "../../ports/alerts.ts";
import type { CheckSnapshot, ChecksPort } from "../../ports/checks.ts";
import type { GatePort } from "../../ports/gate.ts";
import type { MarkersPort } from "../../ports/markers.ts";
import type { OutboxPort } from "../../ports/operator.ts";

/** Everything that the overview shows, at one moment. */
export interface PageModel {
  readonly nowMs: number;
  readonly rows: readonly RowData[];
  readonly fleet: FleetData;
  /** What is wrong with the store; null when nothing is. */
  readonly storeProblem: string | null;
  readonly deadLetters: number;
  readonly queued: number;
  /** Alerts that fire, neither acknowledged nor silenced. */
  readonly unattended: number;
  /** Checks that run, how many of them are late, and how they are spaced. */
  readonly checks: number;
  readonly late: number;
  readonly spacing: Spacing | null;
  /** The spike check of each organization, and its other checks where it has any. */
  readonly snapshots: ReadonlyMap<string, CheckSnapshot>;
  readonly others: ReadonlyMap<string, readonly CheckSnapshot[]>;
}

export interface PageModelPorts {
  readonly clock: Clock;
  readonly checks: ChecksPort;
  readonly alerts: AlertsPort;
  readonly outbox: OutboxPort;
  readonly page: PagePort;
}

/** What the page of one organization or alert needs beside that. */
export interface DetailPorts extends PageModelPorts {
  readonly gate: Pick<GatePort, "look">;
  readonly markers: Pick<MarkersPort, "between">;
}

const sparkEveryHours = 3;
// With what else there is to do, a first visit after a start is answered within 300 ms.
const pastWithinMs = 100;
// An hour without a run takes the one before for at least this long: runs are seldom at the same minute.
const leastCarryHours = 2;

/** Reads the model again, with what `identity` may see. */
export async function readPageModel(ports: PageModelPorts, identity: Identity | null): Promise<PageModel> {
  const { checks, alerts, outbox, page, clock } = ports;
  const [everybody, allLive, receivers, untilOf] = await Promise.all([
    checks.list(),
    alerts.list(),
    outbox.receivers(),
    page.silencedUntilMs(),
  ]);
  const snapshots = everybody.filter(({ state }) => reaches(identity, state.slug));
  const live = { ...allLive, alerts: allLive.alerts.filter(({ state }) => reaches(identity, state.slug)) };
  const nowMs = clock.nowMs();
  const bySlug = new Map<string, CheckSnapshot>();
  const others = new Map<string, CheckSnapshot[]>();
  let queued = 0;
  for (const snapshot of snapshots) {
    const { state } = snapshot;
    if (state.check === "dead-asset-spike") bySlug.set(state.slug, snapshot);
    else others.set(state.slug, [...(others.get(state.slug) ?? []), snapshot]);
    const waiting = state.lastReport?.kind === "result" ? state.lastReport.result.observed["queued"] : 0;
    if (state.check === "review-queue" && typeof waiting === "number") queued += waiting;
  }
  const configured = new Map(page.organizations().map((one) => [one.slug, one]));
  const rows: RowData[] = [];
  const past: PastRuns[] = [];
  await readPast(page, clock, [...bySlug.keys()]);
  for (const [slug, snapshot] of bySlug) {
    const hours = page.hours(slug);
    if (hours !== null) past.push({ hours, carryHours: carryHours(snapshot) });
    const organization = configured.get(slug) ?? null;
    rows.push(rowOf(snapshot, others.get(slug) ?? [], organization, hours, nowMs, untilOf(slug)));
  }
  const pastShare = rows.length === 0 ? 1 : past.length / rows.length;
  return {
    nowMs,
    rows,
    fleet: await fleetOf({
      page,
      rows,
      live,
      past,
      pastShare,
      nowMs,
      snapshots: bySlug,
      withAnswers: seesDetails({ identity }),
    }),
    storeProblem: page.storeProblem(),
    deadLetters: reachesEverything(identity) ? receivers.reduce((sum, { deadLetters }) => sum + deadLetters, 0) : 0,
    queued,
    unattended: live.alerts.filter(
      ({ state, silenced }) => state.state === "firing" && state.acknowledgement === null && !silenced,
    ).length,
    checks: snapshots.length,
    late: snapshots.filter((snapshot) => isLate(snapshot, nowMs)).length,
    spacing: spacingOf(snapshots),
    snapshots: bySlug,
    others,
  };
}

/** Waits for the past of these for a moment; what is not read by then follows, through the stream. */
async function readPast(page: PagePort, clock: Clock, slugs: readonly string[]): Promise<void> {
  if (slugs.every((slug) => page.hours(slug) !== null)) return;
  const reading = page.readHours(slugs);
  // Once it is late, its failure belongs to the next look, which begins again.
  reading.catch(() => undefined);
  const waiting = new AbortController();
  try {
    await Promise.race([reading, clock.sleep(pastWithinMs, waiting.signal)]);
  } finally {
    waiting.abort();
  }
}

function rowOf(
  snapshot: CheckSnapshot,
  others: readonly CheckSnapshot[],
  organization: PageOrganization | null,
  hours: HourSeries | null,
  nowMs: number,
  silencedUntilMs: number | null,
): RowData {
  const { state } = snapshot;
  const isStale = isStaleResult(snapshot, nowMs);
  const severity = isStale ? "unknown" : state.severity;
  const report = isStale ? null : state.lastReport;
  const counts = report?.kind === "result" ? report.counts : null;
  const [count, expected] = [counts?.currentCount ?? null, counts?.expectedCount ?? null];
  const known = counts?.ratio ?? null;
  const ratio = known ?? (count !== null && expected !== null && expected > 0 ? count / expected : null);
  const since = sinceOf(snapshot, hours, severity, nowMs);
  const thresholds = organization?.thresholds ?? null;
  const failAbove = expected === null || thresholds === null ? 0 : expected * thresholds.failMultiplier;
  return {
    slug: state.slug,
    labels: Object.entries(organization?.labels ?? {}).map(([name, value]) => `${name} ${value}`),
    severity,
    others: rowChecksOf(others, nowMs),
    isLate: hasMissedTwo(snapshot, nowMs),
    count,
    expected,
    ratio,
    ...since,
    lastRunMs: state.lastRunAtMs,
    nextRunMs: state.nextDueAtMs,
    intervalMs: snapshot.intervalMs,
    isRunning: state.isRunning,
    alert: alertOf([snapshot, ...others], organization, silencedUntilMs),
    windowHours: thresholds?.windowHours ?? 24,
    spark:
      hours === null
        ? null
        : sparkOf(
            hours,
            { severity, count, expected, nowMs, carryHours: carryHours(snapshot) },
            Math.max(failAbove, thresholds?.minSpikeCount ?? 1),
          ),
  };
}

/** How checks are spaced: all of them so, or most. */
export interface Spacing {
  readonly intervalMs: number;
  readonly isOfAll: boolean;
}

/** The interval that more than half of the checks have; null where none is that common. */
function spacingOf(snapshots: readonly CheckSnapshot[]): Spacing | null {
  const counts = new Map<number, number>();
  for (const { intervalMs } of snapshots)
    if (intervalMs !== null) counts.set(intervalMs, (counts.get(intervalMs) ?? 0) + 1);
  for (const [intervalMs, count] of counts)
    if (count > snapshots.length / 2) return { intervalMs, isOfAll: count === snapshots.length };
  return null;
}

/** Its next run is late, or its result older than it may be. */
function isLate(snapshot: CheckSnapshot, nowMs: number): boolean {
  const { state } = snapshot;
  if (state.lastRunAtMs === null || state.isRunning) return false;
  return state.nextDueAtMs + lateAfterMs < nowMs || hasMissedTwo(snapshot, nowMs);
}

/** Two ticks of the schedule have passed without a run, or the result is older than it may be. */
function hasMissedTwo(snapshot: CheckSnapshot, nowMs: number): boolean {
  const { state, secondDueAtMs } = snapshot;
  if (state.lastRunAtMs === null || state.isRunning) return false;
  return secondDueAtMs + lateAfterMs < nowMs || isStaleResult(snapshot, nowMs);
}

/** The alert to show first: one that fires, of the spike check before others. */
function alertOf(
  snapshots: readonly CheckSnapshot[],
  organization: PageOrganization | null,
  untilMs: number | null,
): RowAlert | null {
  const alerts = snapshots.flatMap((snapshot) => snapshot.alerts);
  const firing = alerts.filter(({ state }) => state === "firing");
  const alert = firing.find(({ silenced }) => !silenced) ?? firing[0] ?? alerts[0];
  if (alert === undefined) return null;
  const unknownRuns = alerts.find(({ kind }) => kind === "unknown")?.unknownRuns ?? 0;
  const isAcknowledged = alert.acknowledgement !== null;
  const common = { unknownRuns, isAcknowledged, beganMs: alert.onset?.atMs ?? alert.startsAtMs };
  if (alert.state === "pending") {
    const firesAtMs =
      alert.kind === "verdict" && organization !== null && organization.forMs > 0
        ? alert.startsAtMs + organization.forMs
        : null;
    return { state: "pending", untilMs: firesAtMs, ...common };
  }
  if (alert.silenced) return { state: "silenced", untilMs, ...common };
  return { state: "firing", untilMs: null, ...common };
}

/** Since when the severity holds: by the runs, and before the first of them by the evaluated past. */
function sinceOf(
  { state }: CheckSnapshot,
  hours: HourSeries | null,
  severity: RowSeverity | null,
  nowMs: number,
): Pick<RowData, "sinceMs" | "isSinceLonger"> {
  if (severity === null || state.severitySinceMs === null) return { sinceMs: null, isSinceLonger: false };
  if (severity !== state.severity) return { sinceMs: state.lastRunAtMs, isSinceLonger: false };
  let sinceMs = state.severitySinceMs;
  if (hours !== null) {
    let index = hours.length - 1;
    while (index >= 0 && hours.atMs(index) >= state.severitySinceMs) index--;
    for (; index >= 0 && hours.severity(index) === severity; index--) sinceMs = hours.atMs(index);
  }
  const isSinceLonger = nowMs - sinceMs > 7 * dayMs - 2 * hourMs;
  return { sinceMs, isSinceLonger };
}

interface Now {
  readonly severity: RowSeverity | null;
  readonly count: number | null;
  readonly expected: number | null;
  readonly nowMs: number;
  readonly carryHours: number;
}

/** One point each three hours: the last run before it, unless that is too long ago; the last point is now. */
function sparkOf(hours: HourSeries, now: Now, floor: number): Spark {
  const thisHour = Math.floor(now.nowMs / hourMs);
  const counts: (number | null)[] = [];
  let states = "";
  for (let point = 0; point < sparkPoints - 1; point++) {
    const last = hours.lastIn(thisHour - (sparkPoints - 1 - point) * sparkEveryHours, now.carryHours);
    counts.push(last === null ? null : hours.currentCount(last));
    states += stateLetter(last === null ? null : hours.severity(last));
  }
  return { counts: [...counts, now.count], states: states + stateLetter(now.severity), expected: now.expected, floor };
}

/** For how many hours a run is taken for those after it: as long as its result is fresh. */
function carryHours({ staleAfterMs }: CheckSnapshot): number {
  return Number.isFinite(staleAfterMs) ? Math.max(leastCarryHours, Math.ceil(staleAfterMs / hourMs)) : leastCarryHours;
}
