import { togetherMs } from "../../alerting/decide/verdict.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { SpikeThresholds } from "../../checks/target.ts";
import type { CheckReport } from "../../contract/report.ts";
import { pointsOf, type RunPoint } from "../../store/runs/history.ts";
import type { ChartAct, ChartData, ChartIncident, ChartState } from "../pages/chart/data.ts";
import { chooseSpan } from "../pages/chart/span.ts";
import { eventCounts, knownFrom, type DeathSeries } from "./chart-events.ts";
import { gridOf, type ChartMember, type ChartSource, type Grid } from "./chart-grid.ts";
import { answersPerMinute, runCounts } from "./chart-runs.ts";
import type { ReadIncident } from "./incidents.ts";

/** What a chart is about. */
export interface ChartAsk {
  /** "the 120 organizations", "acme"; of the platform: its host. */
  readonly subject: string;
  /** The page and its query: `range`, `from`, `to` are the chart's, the others stay in its links. */
  readonly path: string;
  readonly params: URLSearchParams;
  /** One alone has a chart with thresholds and states. */
  readonly members: readonly ChartMember[];
  readonly incident: ChartIncident | null;
  /** What people did, oldest first. */
  readonly acts: readonly ChartAct[];
}

const check = "dead-asset-spike" as const;
// Reports are kept at each change: enough for the longest chart of a calm organization.
const mostReports = 400;
// A check runs at least once a day; what it found longer ago says nothing of an instant.
const carryMs = dayMs;
// Checks run every five minutes by default: in less some minutes would have more answers than others.
const answerStepMs = 5 * minuteMs;

/** Returns what a chart takes from an incident of deaths: its organizations, and when it was open. */
export function chartOfIncident({ incident, members, summary }: ReadIncident): Pick<ChartAsk, "members" | "incident"> {
  const bySlug = new Map<string, ChartMember>();
  for (const { alert } of members) {
    const { slug, windowHours = 24, onset, startsAtMs, found } = alert;
    if (alert.check !== check || bySlug.has(slug)) continue;
    const beganMs = onset?.atMs ?? startsAtMs;
    bySlug.set(slug, { slug, windowHours, expected: found?.deaths?.expected ?? null, beganMs });
  }
  const all = [...bySlug.values()];
  const { verdict } = incident;
  return {
    members: all,
    incident: {
      beganMs: all.reduce((first, { beganMs }) => Math.min(first, beganMs), incident.startedAtMs),
      stoppedMs: summary.excessStoppedAtMs,
      endedMs: incident.endedAtMs,
      together: verdict !== null ? { count: verdict.together, withinMs: togetherMs, usual: verdict.usual } : null,
    },
  };
}

/** Returns whether less than a day before the window that ends at `atMs` is known (CONTRACT 2): nothing is usual yet. */
export function isThinPast(knownFromMs: number | null, windowHours: number, atMs: number): boolean {
  return knownFromMs !== null && knownFromMs > atMs - windowHours * hourMs - dayMs;
}

/** Reads the chart of an incident of deaths, or of one organization; at most about 300 values and as many bars. */
export async function readDeathsChart(running: ChartSource, ask: ChartAsk): Promise<ChartData> {
  const { members, incident } = ask;
  const nowMs = running.clock.nowMs();
  const [first] = members;
  const alone = members.length === 1 ? first : undefined;
  const hasEvents = running.holdsEvents();
  const knownMs = hasEvents ? await knownFrom(running.store, members) : await firstRunMs(running, alone);
  const windowHours = members.every((one) => one.windowHours === first?.windowHours)
    ? (first?.windowHours ?? 24)
    : null;
  // A remote service says what it expects, however little it knows.
  const isThin = hasEvents && isThinPast(knownMs, windowHours ?? 24, incident?.endedMs ?? nowMs);
  const { span, ranges } = chooseSpan({ ...ask, nowMs, knownFromMs: knownMs, isThin });
  const grid = gridOf(span, nowMs);
  const own = alone === undefined ? null : await readOwn(running, alone.slug, grid);
  const series = await seriesOf(running, members, grid, own);
  const knownFromMs = knownMs !== null && knownMs > grid.fromMs ? knownMs : null;
  const counted = members.map(({ slug }) => running.countsAssets(slug));
  const expected = isThin ? [] : (own?.expected ?? expectedOf(members, grid.at));
  return {
    kind: "deaths",
    ...partsOf(ask, grid, nowMs),
    count: series.count.map((value, index) => ((grid.at[index] ?? 0) < (knownFromMs ?? 0) ? null : value)),
    expected,
    warn: isThin || own === null ? [] : own.warn,
    fail: isThin || own === null ? [] : own.fail,
    counting: counted.length > 0 && counted.every(Boolean) ? "assets" : "deaths",
    windowHours,
    bars: series.bars,
    lately: await latelyOf(series, grid, incident),
    // The bars are of deaths: how many of them are usual nobody has counted.
    usualPerHour:
      isThin || counted.some(Boolean) ? null : usualPerHour(members, own === null ? null : (expected.at(-1) ?? null)),
    began: alone === undefined ? members.map(({ beganMs }) => beganMs).toSorted((left, right) => left - right) : null,
    states: own?.states ?? null,
    knownFromMs,
    isThin,
    ranges,
  };
}

function partsOf({ subject, incident, acts }: Omit<ChartAsk, "members">, { fromMs, toMs, at }: Grid, nowMs: number) {
  return { subject, incident, acts, fromMs, toMs, at, nowMs };
}

type OwnRuns = Awaited<ReturnType<typeof readOwn>>;

async function seriesOf(
  running: ChartSource,
  members: readonly ChartMember[],
  grid: Grid,
  own: OwnRuns | null,
): Promise<DeathSeries> {
  const ofEvents = running.holdsEvents() ? await eventCounts(running, members, grid) : null;
  if (ofEvents !== null && !members.some(({ slug }) => running.countsAssets(slug))) return ofEvents;
  const { count } = own ?? (await runCounts(running, members, grid));
  return { count, bars: ofEvents?.bars ?? null, deathsSince: null };
}

/** Since the excess stopped, of one that stopped within a day; else of the last hour. */
async function latelyOf(
  series: DeathSeries,
  { isLive, toMs }: Grid,
  incident: ChartIncident | null,
): Promise<ChartData["lately"]> {
  if (!isLive || series.deathsSince === null) return null;
  const stoppedMs = incident?.stoppedMs ?? null;
  const sinceMs = stoppedMs !== null && toMs - stoppedMs < dayMs && stoppedMs < toMs ? stoppedMs : toMs - hourMs;
  return { sinceMs, deaths: await series.deathsSince(sinceMs) };
}

function expectedOf(members: readonly ChartMember[], at: readonly number[]): (number | null)[] {
  const sum = members.reduce<number | null>(
    (all, { expected }) => (all === null || expected === null ? null : all + expected),
    0,
  );
  return sum === null ? [] : at.map(() => sum);
}

function usualPerHour(members: readonly ChartMember[], ofAlone: number | null): number | null {
  const [alone] = members;
  if (members.length === 1 && alone !== undefined && ofAlone !== null) return ofAlone / alone.windowHours;
  return members.reduce<number | null>(
    (all, { expected, windowHours }) => (all === null || expected === null ? null : all + expected / windowHours),
    0,
  );
}

async function firstRunMs({ store }: ChartSource, alone: ChartMember | undefined): Promise<number | null> {
  return alone === undefined ? null : store.runs.firstAtMs(check, alone.slug);
}

/** What the runs of one organization say: what they expected, what they held the count to, and how it stood. */
async function readOwn({ store, thresholdsOf }: ChartSource, slug: string, { fromMs, toMs, at }: Grid) {
  const query = { check, slug, fromMs: fromMs - carryMs, toMs };
  const [points, reports] = await Promise.all([
    pointsOf(store.runs, query),
    store.runs.reports({ ...query, fromMs: 0, limit: mostReports }),
  ]);
  const kept = reports.flatMap(thresholdsIn);
  const heldTo = (atMs: number): Thresholds | null =>
    (kept.findLast((one) => one.atMs <= atMs) ?? kept[0])?.thresholds ?? thresholdsOf(slug);
  const held = at.map((atMs) => ({ expected: valueAt(points, atMs)?.expectedCount ?? null, thresholds: heldTo(atMs) }));
  const above = (which: "warnMultiplier" | "failMultiplier"): (number | null)[] =>
    held.map(({ expected, thresholds }) =>
      expected === null || thresholds === null
        ? null
        : Math.max(thresholds.minSpikeCount, expected * thresholds[which]),
    );
  return {
    count: at.map((atMs) => valueAt(points, atMs)?.currentCount ?? null),
    expected: held.map(({ expected }) => expected),
    warn: above("warnMultiplier"),
    fail: above("failMultiplier"),
    states: statesOf(points, fromMs),
  };
}

type Thresholds = Pick<SpikeThresholds, "warnMultiplier" | "failMultiplier" | "minSpikeCount">;

function thresholdsIn(report: CheckReport): { readonly atMs: number; readonly thresholds: Thresholds }[] {
  if (report.kind === "error") return [];
  const { warnMultiplier, failMultiplier, minSpikeCount } = report.result.threshold;
  // A service's thresholds may have any names.
  if (typeof warnMultiplier !== "number" || typeof failMultiplier !== "number" || typeof minSpikeCount !== "number")
    return [];
  return [{ atMs: report.startedAtMs, thresholds: { warnMultiplier, failMultiplier, minSpikeCount } }];
}

/** The last point at or before an instant that still says something of it; points are in order. */
function valueAt(points: readonly RunPoint[], atMs: number): RunPoint | null {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  const found = points[low - 1];
  return found === undefined || found.atMs <= atMs - carryMs ? null : found;
}

// More changes than a chart can show: those of the beginning are left out.
const mostStates = 1_000;

function statesOf(points: readonly RunPoint[], fromMs: number): ChartState[] {
  const states: ChartState[] = [];
  for (const { atMs, severity } of points) {
    const startMs = Math.max(atMs, fromMs);
    if (states.at(-1)?.fromMs === startMs) states.pop();
    if (states.at(-1)?.severity !== severity) states.push({ fromMs: startMs, severity });
  }
  return states.slice(-mostStates);
}

/** Reads the chart of a platform that could not be asked: the good answers to the spike checks of these organizations, per minute. */
export async function readAnswersChart(
  running: ChartSource,
  ask: Omit<ChartAsk, "members">,
  slugs: readonly string[],
): Promise<ChartData> {
  const nowMs = running.clock.nowMs();
  const { span, ranges } = chooseSpan({ ...ask, nowMs, knownFromMs: null, isThin: false });
  const grid = gridOf(span, nowMs, answerStepMs);
  const { good, asked } = await answersPerMinute(running, slugs, grid);
  const { incident } = ask;
  return {
    kind: "answers",
    ...partsOf(ask, grid, nowMs),
    count: good,
    expected: grid.at.map(() => asked),
    warn: [],
    fail: [],
    counting: "deaths",
    windowHours: null,
    bars: null,
    lately: null,
    usualPerHour: null,
    began: null,
    states: answerStates(incident, grid),
    knownFromMs: null,
    isThin: false,
    ranges,
  };
}

/** It could be asked before the incident, and after it. */
function answerStates(incident: ChartIncident | null, { fromMs, toMs }: Grid): ChartState[] {
  const beganMs = Math.max(incident?.beganMs ?? toMs, fromMs);
  const endedMs = incident?.endedMs ?? toMs;
  const states: ChartState[] = [
    { fromMs, severity: "ok" },
    { fromMs: beganMs, severity: "unknown" },
    { fromMs: Math.max(endedMs, fromMs), severity: "ok" },
  ];
  return states.filter((state, index) => state.fromMs < (states[index + 1]?.fromMs ?? toMs));
}
