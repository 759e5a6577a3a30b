import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import type { ReadIncident } from "./incidents.ts";
import type { Running } from "./running.ts";

/** A value for each step of time; null: unknown. */
type Values = readonly (number | null)[];

/** What a chart shows, in numbers. Times are epoch ms. */
export type ChartData = Awaited<ReturnType<typeof readDeathsChart>>;

/** When the incident was open that a chart belongs to. */
export type ChartIncident = ReturnType<typeof chartOfIncident>["incident"];

/** An organization whose deaths are in a chart. */
export type ChartMember = ReturnType<typeof chartOfIncident>["members"][number];

/** What happened at an instant: the symbol `#m-…` of its mark, and its words without the time: "notified". */
export interface ChartAct {
  readonly atMs: number;
  readonly mark: "marker" | "dot" | "comment";
  readonly text: string;
}

/** What a chart is about. */
export interface ChartAsk {
  /** "the 120 organizations", "acme"; of answers: the host that gives them. */
  readonly subject: string;
  /** The query of the page: `range` is the chart's. */
  readonly params: URLSearchParams;
  readonly incident: ChartIncident | null;
  /** What people did. */
  readonly acts: readonly ChartAct[];
}

/** What a chart is read from. */
export type ChartSource = Pick<Running, "store" | "clock" | "holdsEvents" | "thresholdsOf" | "countsAssets">;

type Grid = ReturnType<typeof gridOf>;

/** How far a chart goes back; null: over its incident. */
export const chartRanges = { incident: null, "24h": dayMs, "3d": 3 * dayMs, "7d": 7 * dayMs, "90d": 90 * dayMs };
export type ChartRange = keyof typeof chartRanges;

const check = "dead-asset-spike" as const;
// A check runs at least once a day; what it found longer ago says nothing of an instant.
const carryMs = dayMs;
// What runs of many found holds for some hours before the range, too.
const leadMs = 2 * hourMs;
// Checks run every five minutes by default: in less some minutes would have more answers than others.
const stepsMs = [5, 15, 30, 60, 180, 720, 1_440].map((minutes) => minutes * minuteMs);
const mostSteps = 170;
// Before the first event some of the unknown is shown.
const unknownShare = 0.07;

/** Returns what a chart takes from an incident of deaths: its organizations, and when it was open. */
export function chartOfIncident({
  incident,
  members,
  summary,
}: Pick<ReadIncident, "incident" | "members" | "summary">) {
  const spikes = members.filter((alert) => alert.check === check);
  const firsts = [...Map.groupBy(spikes, ({ slug }) => slug).values()].flatMap(([first]) => first ?? []);
  const all = firsts.map(({ slug, windowHours = 24, found, onset, startsAtMs }) => ({
    slug,
    windowHours,
    /** Deaths expected in its window; null: unknown. Of one alone its runs say it. */
    expected: found?.deaths?.expected ?? null,
    beganMs: onset?.atMs ?? startsAtMs,
  }));
  return {
    members: all,
    incident: {
      beganMs: Math.min(incident.startedAtMs, ...all.map(({ beganMs }) => beganMs)),
      /** When its excess stopped; null: it did not, or nobody knows. */
      stoppedMs: summary.excessStoppedAtMs,
      /** null: it is open. */
      endedMs: incident.endedAtMs,
    },
  };
}

/** Returns whether less than a day before the window that ends at `atMs` is known (CONTRACT 2): nothing is usual yet. */
export function isThinPast(knownFromMs: number | null, windowHours: number, atMs: number): boolean {
  return knownFromMs !== null && knownFromMs > atMs - windowHours * hourMs - dayMs;
}

/** Reads the chart of an incident of deaths, or of one organization. */
export async function readDeathsChart(
  running: ChartSource,
  ask: ChartAsk & { readonly members: readonly ChartMember[] },
) {
  const { store, thresholdsOf, countsAssets } = running;
  const { members, incident } = ask;
  const nowMs = running.clock.nowMs();
  const slugs = members.map(({ slug }) => slug);
  const windows = new Set(members.map((one) => one.windowHours));
  const [windowHours = 24] = windows;
  const alone = members.length === 1 ? members[0] : undefined;
  const hasEvents = running.holdsEvents();
  const ownMs = alone === undefined || hasEvents ? null : await store.runs.firstAtMs(check, alone.slug);
  const knownMs = hasEvents ? await firstEventMs(store, slugs) : ownMs;
  // A remote service says what it expects, however little it knows.
  const isThin = hasEvents && isThinPast(knownMs, windowHours, incident?.endedMs ?? nowMs);
  const grid = gridOf(ask, nowMs, knownMs);
  const isOfAssets = slugs.some(countsAssets);
  const events = hasEvents ? await readEvents(store, members, grid) : null;
  const counted = isOfAssets ? null : events;
  const runs = counted === null || alone !== undefined ? await readRuns(store, slugs, grid) : null;
  const ofAll = sumOf(members, (one) => one.expected);
  const known = alone === undefined ? grid.ends.map(() => ofAll) : (runs?.expected ?? []);
  const expected: Values = isThin ? [] : known;
  const thresholds = alone === undefined ? null : thresholdsOf(alone.slug);
  const above = (multiplier: number, least: number): Values =>
    expected.map((one) => (one === null ? null : Math.max(least, one * multiplier)));
  const knownFromMs = knownMs !== null && knownMs > grid.fromMs ? knownMs : null;
  const usualPerHour = sumOf(members, (one) => {
    const own = (alone && runs?.expected.at(-1)) ?? one.expected;
    return own === null ? null : own / one.windowHours;
  });
  const count = (counted ?? runs)?.count ?? [];
  return {
    ...grid,
    /** The deaths in the window, or the good answers of the platform per minute. */
    kind: "deaths" as "deaths" | "answers",
    /** Deaths in the window that ends with the step; good answers per minute in it. */
    count: count.map((one, index) => ((grid.ends[index] ?? 0) < (knownFromMs ?? 0) ? null : one)) as Values,
    /** As many, or none: what is expected in the window; how many answers were asked for. */
    expected,
    warn: thresholds === null ? [] : above(thresholds.warnMultiplier, thresholds.minSpikeCount),
    fail: thresholds === null ? [] : above(thresholds.failMultiplier, thresholds.minSpikeCount),
    /** Deaths in each step; null: single deaths are not known. */
    deaths: (events?.deaths ?? null) as readonly number[] | null,
    /** How many of them are usual; null: unknown. Where assets are counted nobody knows: the steps are of deaths. */
    usual: isThin || isOfAssets || usualPerHour === null ? null : (usualPerHour * grid.stepMs) / hourMs,
    /** What all but `deaths` are of. */
    counting: isOfAssets ? ("assets" as const) : ("deaths" as const),
    /** null: the organizations' differ. */
    windowHours: windows.size > 1 ? null : windowHours,
    /** When each organization began; empty: it is about one alone. */
    began: alone === undefined ? members.map(({ beganMs }) => beganMs) : [],
    /** Before it nothing is known; null: before the chart begins. */
    knownFromMs,
    /** Less than a day before the window is known: nothing is usual yet (CONTRACT 2). */
    isThin,
  };
}

const noDeaths = { deaths: null, usual: null, counting: "deaths", windowHours: null, knownFromMs: null } as const;

/** Reads the chart of a platform that could not be asked: the good answers to the spike checks of these organizations. */
export async function readAnswersChart(
  { store, clock }: ChartSource,
  ask: ChartAsk,
  slugs: readonly string[],
): Promise<ChartData> {
  const grid = gridOf(ask, clock.nowMs(), null);
  const { fromMs, toMs, stepMs, ends } = grid;
  const good = ends.map(() => 0);
  let asked = 0;
  let firstMs = toMs;
  for await (const [, points] of pointsIn(store, slugs, fromMs - leadMs, toMs - 1))
    for (const { atMs, runs, answered } of points) {
      firstMs = Math.min(firstMs, atMs);
      if (atMs < fromMs) continue;
      const index = Math.floor((atMs - fromMs) / stepMs);
      asked += runs;
      good[index] = (good[index] ?? 0) + answered;
    }
  // Nobody asked before the first run: that is no silence of the platform.
  const sinceMs = Math.max(fromMs, firstMs);
  const perMinute = Math.round(asked / Math.max(1, (toMs - sinceMs) / minuteMs));
  return {
    ...grid,
    ...noDeaths,
    kind: "answers",
    // A step that has just begun, or began before anybody asked, says nothing.
    count: good.map((one, index) => {
      const startMs = fromMs + index * stepMs;
      return startMs < sinceMs || ends[index] !== startMs + stepMs ? null : one / (stepMs / minuteMs);
    }),
    expected: ends.map(() => perMinute),
    warn: [],
    fail: [],
    began: [],
    isThin: false,
  };
}

/** The range that is asked for, an incident's with some time before and after it; of a short past all that is known. */
function gridOf({ subject, incident, acts, params }: ChartAsk, nowMs: number, knownMs: number | null) {
  const asked = params.get("range") ?? "";
  const own = incident === null ? "7d" : "incident";
  const range = Object.hasOwn(chartRanges, asked) && asked !== "incident" ? (asked as ChartRange) : own;
  let [fromMs, toMs] = [nowMs - (chartRanges[range] ?? 0), nowMs];
  if (range === "incident" && incident !== null) {
    const { beganMs, endedMs } = incident;
    const aroundMs = Math.max(hourMs, ((endedMs ?? nowMs) - beganMs) / 4);
    toMs = endedMs === null ? nowMs : Math.min(nowMs, endedMs + aroundMs / 4);
    fromMs = Math.min(beganMs - aroundMs, toMs - minuteMs);
  }
  if (knownMs !== null && knownMs < toMs) fromMs = Math.max(fromMs, knownMs - (toMs - knownMs) * unknownShare);
  const stepMs = stepsMs.find((one) => (toMs - fromMs) / one <= mostSteps) ?? dayMs;
  fromMs = Math.floor(fromMs / stepMs) * stepMs;
  toMs = Math.min(Math.ceil(toMs / stepMs) * stepMs, nowMs);
  const ends = Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, index) =>
    Math.min(fromMs + (index + 1) * stepMs, toMs),
  );
  return { subject, incident, acts, range, fromMs, toMs, stepMs, nowMs, ends };
}

/** When the first event of any of them was; null: of one nothing older is kept, or nothing was stored. */
async function firstEventMs({ events }: Store, slugs: readonly string[]): Promise<number | null> {
  const firsts = [...(await events.firstEvents(slugs)).values()];
  const known = firsts.filter((one) => one !== null);
  return known.length < firsts.length || known.length === 0 ? null : Math.min(...known);
}

/** Counts stored deaths over all organizations: for each window the sum of its bins, at the end of each step; the last of them is exact. */
async function readEvents({ liveness, events }: Store, members: readonly ChartMember[], grid: Grid) {
  const { fromMs, toMs, stepMs, ends } = grid;
  const [count, deaths] = [ends.map(() => 0), ends.map(() => 0)];
  for (const [windowHours, group] of Map.groupBy(members, (one) => one.windowHours)) {
    const windowMs = windowHours * hourMs;
    // A bin divides the step and the window, so that each window is a number of whole bins.
    const binMs = Math.min(stepMs, hourMs);
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
  const queries = members.map(({ slug, windowHours }) => {
    return { slug, intervals: [{ afterMs: toMs - windowHours * hourMs, untilMs: toMs }] };
  });
  const exact = (await events.deaths(queries)).flat();
  count[count.length - 1] = exact.reduce((sum, one) => sum + (one.deaths[0] ?? 0), 0);
  return { count, deaths };
}

/** Sums what the last run of each had counted and expected at each instant; null: no run of any had. */
async function readRuns(store: Store, slugs: readonly string[], { fromMs, toMs, ends }: Grid) {
  const count = ends.map((): number | null => null);
  const expected = [...count];
  const isAlone = slugs.length === 1;
  for await (const [, all] of pointsIn(store, slugs, fromMs - (isAlone ? carryMs : leadMs), toMs)) {
    // Of many what one had counted holds while it gives no result: else their sum would fall.
    const points = isAlone ? all : all.filter(({ currentCount }) => currentCount !== null);
    let next = 0;
    for (const [index, endMs] of ends.entries()) {
      while ((points[next]?.atMs ?? Infinity) <= endMs) next++;
      const last = points[next - 1];
      if (last === undefined || last.atMs <= endMs - carryMs) continue;
      if (last.currentCount !== null) count[index] = (count[index] ?? 0) + last.currentCount;
      if (last.expectedCount !== null) expected[index] = (expected[index] ?? 0) + last.expectedCount;
    }
  }
  return { count, expected };
}

function pointsIn({ runs }: Store, slugs: readonly string[], fromMs: number, toMs: number) {
  // Of a longer range an hour is one point.
  return runs.points({ check, slugs, fromMs, toMs, isHourly: toMs - fromMs > 2 * dayMs });
}

/** null: it is not known of all. */
function sumOf(members: readonly ChartMember[], valueOf: (one: ChartMember) => number | null): number | null {
  const known = members.flatMap((one) => valueOf(one) ?? []);
  return known.length < members.length ? null : known.reduce((sum, value) => sum + value, 0);
}
