import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { CountKind } from "../../spike/findings.ts";
import { pointsOf, type RunPoint } from "../../store/runs/history.ts";
import type { Store } from "../../store/store.ts";
import { withParams } from "../pages/table.ts";
import type { ReadIncident } from "./incidents.ts";
import type { Running } from "./running.ts";

/** What a chart shows, in numbers: one for each step of time. Times are epoch ms. */
export interface ChartData {
  /** The deaths in the window, or the good answers of the platform per minute. */
  readonly kind: "deaths" | "answers";
  /** "the 120 organizations", "acme"; of answers: the host that gives them. */
  readonly subject: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly stepMs: number;
  /** Deaths in the window that ends with the step; good answers per minute in it. null: unknown. */
  readonly count: readonly (number | null)[];
  /** As many, or none: what is expected in the window; how many answers were asked for. */
  readonly expected: readonly (number | null)[];
  readonly warn: readonly (number | null)[];
  readonly fail: readonly (number | null)[];
  /** Deaths in each step; null: single deaths are not known. */
  readonly deaths: readonly number[] | null;
  /** How many of them are usual; null: unknown. */
  readonly usual: number | null;
  /** What all but `deaths` are of. */
  readonly counting: CountKind;
  /** Length of the window; null: the organizations' differ. */
  readonly windowHours: number | null;
  readonly incident: ChartIncident | null;
  /** When each organization began; empty: it is about one alone. */
  readonly began: readonly number[];
  readonly acts: readonly ChartAct[];
  /** Before it nothing is known; null: before the chart begins. */
  readonly knownFromMs: number | null;
  /** Less than a day before the window is known: nothing is usual yet (CONTRACT 2). */
  readonly isThin: boolean;
  readonly ranges: readonly { readonly name: string; readonly href: string; readonly isCurrent: boolean }[];
}

/** When the incident was open that a chart belongs to. */
export interface ChartIncident {
  readonly beganMs: number;
  /** When its excess stopped; null: it did not, or nobody knows. */
  readonly stoppedMs: number | null;
  /** null: it is open. */
  readonly endedMs: number | null;
}

/** What happened at an instant: the symbol `#m-…` of its mark, and its words without the time: "notified". */
export interface ChartAct {
  readonly atMs: number;
  readonly mark: "marker" | "dot" | "comment";
  readonly text: string;
}

/** What a chart is about. */
export interface ChartAsk {
  readonly subject: string;
  /** The page and its query: `range` is the chart's, the others stay in its links. */
  readonly path: string;
  readonly params: URLSearchParams;
  readonly members: readonly ChartMember[];
  readonly incident: ChartIncident | null;
  /** What people did. */
  readonly acts: readonly ChartAct[];
}

/** An organization whose deaths are in a chart. */
export interface ChartMember {
  readonly slug: string;
  readonly windowHours: number;
  /** Deaths expected in its window; null: unknown. Of one alone its runs say it. */
  readonly expected: number | null;
  readonly beganMs: number;
}

/** What a chart is read from. */
export type ChartSource = Pick<Running, "store" | "clock" | "holdsEvents" | "thresholdsOf" | "countsAssets">;

type Values = readonly (number | null)[];

interface Grid {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** The end of each step. */
  readonly ends: readonly number[];
}

const check = "dead-asset-spike" as const;
// A check runs at least once a day; what it found longer ago says nothing of an instant.
const carryMs = dayMs;
// What runs of many found holds for some hours before the range, too.
const leadMs = 2 * hourMs;
// Checks run every five minutes by default: in less some minutes would have more answers than others.
const stepsMs = [5, 15, 30, 60, 180, 720, 1_440].map((minutes) => minutes * minuteMs);
const mostSteps = 170;
const lengths = { "24h": dayMs, "3d": 3 * dayMs, "7d": 7 * dayMs, "90d": 90 * dayMs };
// Before the first event some of the unknown is shown.
const unknownShare = 0.07;

/** Returns what a chart takes from an incident of deaths: its organizations, and when it was open. */
export function chartOfIncident({
  incident,
  members,
  summary,
}: Pick<ReadIncident, "incident" | "members" | "summary">): Pick<ChartAsk, "members" | "incident"> {
  const bySlug = new Map<string, ChartMember>();
  for (const { alert } of members) {
    const { slug, windowHours = 24, onset, startsAtMs, found } = alert;
    if (alert.check !== check || bySlug.has(slug)) continue;
    const beganMs = onset?.atMs ?? startsAtMs;
    bySlug.set(slug, { slug, windowHours, expected: found?.deaths?.expected ?? null, beganMs });
  }
  const all = [...bySlug.values()];
  return {
    members: all,
    incident: {
      beganMs: Math.min(incident.startedAtMs, ...all.map(({ beganMs }) => beganMs)),
      stoppedMs: summary.excessStoppedAtMs,
      endedMs: incident.endedAtMs,
    },
  };
}

/** Returns whether less than a day before the window that ends at `atMs` is known (CONTRACT 2): nothing is usual yet. */
export function isThinPast(knownFromMs: number | null, windowHours: number, atMs: number): boolean {
  return knownFromMs !== null && knownFromMs > atMs - windowHours * hourMs - dayMs;
}

/** Reads the chart of an incident of deaths, or of one organization. */
export async function readDeathsChart(running: ChartSource, ask: ChartAsk): Promise<ChartData> {
  const { store, thresholdsOf, countsAssets } = running;
  const { members, incident } = ask;
  const nowMs = running.clock.nowMs();
  const [first] = members;
  const alone = members.length === 1 ? first : undefined;
  const hasEvents = running.holdsEvents();
  const knownMs = hasEvents ? await firstEventMs(store, members) : await firstRunMs(store, alone);
  const windowHours = members.every((one) => one.windowHours === first?.windowHours)
    ? (first?.windowHours ?? 24)
    : null;
  // A remote service says what it expects, however little it knows.
  const isThin = hasEvents && isThinPast(knownMs, windowHours ?? 24, incident?.endedMs ?? nowMs);
  const grid = gridOf(ask, nowMs, knownMs);
  const own = alone === undefined ? null : await readOwn(running, alone.slug, grid);
  const events = hasEvents ? await eventCounts(store, members, grid) : null;
  const isOfAssets = members.some(({ slug }) => countsAssets(slug));
  const count = events === null || isOfAssets ? (own?.count ?? (await runCounts(store, members, grid))) : events.count;
  const expected = isThin ? [] : (own?.expected ?? expectedOf(members, grid));
  const thresholds = alone === undefined ? null : thresholdsOf(alone.slug);
  const above = (multiplier: number | undefined): Values =>
    multiplier === undefined || own === null
      ? []
      : expected.map((one) => (one === null ? null : Math.max(thresholds?.minSpikeCount ?? 0, one * multiplier)));
  const knownFromMs = knownMs !== null && knownMs > grid.fromMs ? knownMs : null;
  return {
    ...sharedBy(ask, grid, nowMs),
    kind: "deaths",
    count: count.map((one, index) => ((grid.ends[index] ?? 0) < (knownFromMs ?? 0) ? null : one)),
    expected,
    warn: above(thresholds?.warnMultiplier),
    fail: above(thresholds?.failMultiplier),
    deaths: events?.deaths ?? null,
    // The steps are of deaths: how many of them are usual where assets are counted nobody knows.
    usual: isThin || isOfAssets ? null : usualIn(members, own === null ? null : (expected.at(-1) ?? null), grid.stepMs),
    counting: isOfAssets && members.every(({ slug }) => countsAssets(slug)) ? "assets" : "deaths",
    windowHours,
    began: alone === undefined ? members.map(({ beganMs }) => beganMs) : [],
    knownFromMs,
    isThin,
  };
}

/** Reads the chart of a platform that could not be asked: the good answers to the spike checks of these organizations, per minute. */
export async function readAnswersChart(
  { store, clock }: ChartSource,
  ask: Omit<ChartAsk, "members">,
  slugs: readonly string[],
): Promise<ChartData> {
  const nowMs = clock.nowMs();
  const grid = gridOf(ask, nowMs, null);
  const { fromMs, toMs, stepMs, ends } = grid;
  const good = ends.map(() => 0);
  let asked = 0;
  for await (const [, points] of pointsIn(store, slugs, { fromMs: fromMs - 1, toMs: toMs - 1 }))
    for (const { atMs, runs, answered } of points) {
      const index = Math.floor((atMs - fromMs) / stepMs);
      asked += runs;
      good[index] = (good[index] ?? 0) + answered;
    }
  const perMinute = Math.round(asked / ((toMs - fromMs) / minuteMs));
  return {
    ...sharedBy(ask, grid, nowMs),
    kind: "answers",
    // A step that has just begun says nothing yet.
    count: good.map((one, index) => (ends[index] === fromMs + (index + 1) * stepMs ? one / (stepMs / minuteMs) : null)),
    expected: ends.map(() => perMinute),
    warn: [],
    fail: [],
    deaths: null,
    usual: null,
    counting: "deaths",
    windowHours: null,
    began: [],
    knownFromMs: null,
    isThin: false,
  };
}

function sharedBy(
  { subject, incident, acts, path, params }: Omit<ChartAsk, "members">,
  { fromMs, toMs, stepMs }: Grid,
  nowMs: number,
) {
  const chosen = rangeOf(incident, params);
  const standard = rangeOf(incident);
  const ranges = [...(incident === null ? [] : ["incident"]), ...Object.keys(lengths)].map((key) => ({
    name: key === "incident" ? "this incident" : key.replace(/(\d+)/, "$1 "),
    href: withParams(path, params, { range: key === standard ? null : key }),
    isCurrent: key === chosen,
  }));
  return { subject, incident, acts, fromMs, toMs, stepMs, nowMs, ranges };
}

function rangeOf(incident: ChartIncident | null, params?: URLSearchParams): string {
  const asked = params?.get("range") ?? "";
  if (asked in lengths) return asked;
  return incident === null ? "7d" : "incident";
}

/** The range that is asked for, an incident's with some time before and after it; of a short past all that is known. */
function gridOf({ incident, params }: Pick<ChartAsk, "incident" | "params">, nowMs: number, knownMs: number | null) {
  const lengthMs = lengths[rangeOf(incident, params) as keyof typeof lengths] as number | undefined;
  let [fromMs, toMs] = [nowMs - (lengthMs ?? lengths["7d"]), nowMs];
  if (incident !== null && lengthMs === undefined) {
    const { beganMs, endedMs } = incident;
    const aroundMs = Math.max(hourMs, ((endedMs ?? nowMs) - beganMs) / 4);
    toMs = endedMs === null ? nowMs : Math.min(nowMs, endedMs + aroundMs / 4);
    fromMs = Math.min(beganMs - aroundMs, toMs - minuteMs);
  }
  if (knownMs !== null && knownMs < toMs) fromMs = Math.max(fromMs, knownMs - (toMs - knownMs) * unknownShare);
  const stepMs = stepsMs.find((one) => (toMs - fromMs) / one <= mostSteps) ?? dayMs;
  fromMs = Math.floor(fromMs / stepMs) * stepMs;
  toMs = Math.min(Math.ceil(toMs / stepMs) * stepMs, nowMs);
  const ends: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += stepMs) ends.push(Math.min(atMs + stepMs, toMs));
  return { fromMs, toMs, stepMs, ends };
}

/** When the first event of any of them was; null: of one nothing older is kept, or nothing was stored. */
async function firstEventMs({ events }: Store, members: readonly ChartMember[]): Promise<number | null> {
  const firsts = [...(await events.firstEvents(members.map(({ slug }) => slug))).values()];
  const known = firsts.filter((one) => one !== null);
  return known.length < firsts.length || known.length === 0 ? null : Math.min(...known);
}

async function firstRunMs({ runs }: Store, alone: ChartMember | undefined): Promise<number | null> {
  return alone === undefined ? null : runs.firstAtMs(check, alone.slug);
}

/**
 * Counts stored deaths over all organizations: for each window the sum of its bins, at the end of each step. The last step is
 * exact.
 */
async function eventCounts(
  { liveness, events }: Store,
  members: readonly ChartMember[],
  { fromMs, toMs, stepMs, ends }: Grid,
): Promise<{ readonly count: Values; readonly deaths: readonly number[] }> {
  const [count, deaths] = [ends.map(() => 0), ends.map(() => 0)];
  for (const [windowHours, group] of Map.groupBy(members, (one) => one.windowHours)) {
    const windowMs = windowHours * hourMs;
    // A bin divides the step and the window, so that each window is a number of whole bins.
    const binMs = divisor(stepMs, windowMs);
    const firstBin = (fromMs - windowMs) / binMs;
    const slugs = group.map(({ slug }) => slug);
    const bins = await liveness.deathBins({ slugs, fromMs: fromMs - windowMs, toMs, binMs });
    const sums = new Float64Array(Math.ceil(toMs / binMs) - firstBin + 1);
    for (let bin = 1; bin < sums.length; bin++) sums[bin] = (sums[bin - 1] ?? 0) + (bins.get(firstBin + bin - 1) ?? 0);
    const until = (atMs: number): number => sums[Math.ceil(atMs / binMs) - firstBin] ?? 0;
    for (const [index, endMs] of ends.entries()) {
      count[index] = (count[index] ?? 0) + until(endMs) - until(Math.ceil(endMs / binMs) * binMs - windowMs);
      deaths[index] = (deaths[index] ?? 0) + until(endMs) - until(fromMs + index * stepMs);
    }
  }
  const queries = members.map(({ slug, windowHours }) => ({
    slug,
    intervals: [toMs - windowHours * hourMs, ends.at(-2) ?? fromMs].map((afterMs) => ({ afterMs, untilMs: toMs })),
  }));
  const exact = (await events.deaths(queries)).flat();
  for (const [index, values] of [count, deaths].entries())
    values[values.length - 1] = exact.reduce((sum, one) => sum + (one.deaths[index] ?? 0), 0);
  return { count, deaths };
}

function divisor(left: number, right: number): number {
  return right === 0 ? left : divisor(right, left % right);
}

/** Sums what the last run of each organization had counted at each instant; null: no run of any had. */
async function runCounts(store: Store, members: readonly ChartMember[], grid: Grid): Promise<Values> {
  const { fromMs, toMs, stepMs, ends } = grid;
  const changes = ends.map(() => 0);
  let firstIndex = ends.length;
  const slugs = members.map(({ slug }) => slug);
  for await (const [, points] of pointsIn(store, slugs, { fromMs: fromMs - leadMs, toMs })) {
    let last = 0;
    for (const { atMs, currentCount } of points) {
      if (currentCount === null) continue;
      const index = Math.min(Math.max(Math.ceil((atMs - fromMs) / stepMs) - 1, 0), ends.length - 1);
      changes[index] = (changes[index] ?? 0) + currentCount - last;
      last = currentCount;
      firstIndex = Math.min(firstIndex, index);
    }
  }
  let sum = 0;
  return changes.map((change, index) => {
    sum += change;
    return index < firstIndex ? null : sum;
  });
}

function pointsIn(
  { runs }: Store,
  slugs: readonly string[],
  { fromMs, toMs }: Pick<Grid, "fromMs" | "toMs">,
): AsyncIterable<readonly [slug: string, readonly RunPoint[]]> {
  // Of a longer range an hour is one point.
  return runs.points({ check, slugs, fromMs, toMs, isHourly: toMs - fromMs > 2 * dayMs });
}

/** What the runs of one organization say: what they counted, and what they expected. */
async function readOwn({ store }: ChartSource, slug: string, { fromMs, toMs, ends }: Grid) {
  const points = await pointsOf(store.runs, { check, slug, fromMs: fromMs - carryMs, toMs });
  const at = ends.map((endMs) => {
    const found = points.findLast(({ atMs }) => atMs <= endMs);
    return found === undefined || found.atMs <= endMs - carryMs ? null : found;
  });
  return {
    count: at.map((point) => point?.currentCount ?? null),
    expected: at.map((point) => point?.expectedCount ?? null),
  };
}

function expectedOf(members: readonly ChartMember[], { ends }: Grid): Values {
  const known = members.flatMap(({ expected }) => expected ?? []);
  const sum = known.reduce((all, one) => all + one, 0);
  return known.length < members.length ? [] : ends.map(() => sum);
}

function usualIn(members: readonly ChartMember[], ofAlone: number | null, lengthMs: number): number | null {
  let perHour = 0;
  for (const { expected, windowHours } of members) {
    const own = ofAlone ?? expected;
    if (own === null) return null;
    perHour += own / windowHours;
  }
  return (perHour * lengthMs) / hourMs;
}
