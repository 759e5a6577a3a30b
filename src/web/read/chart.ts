import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { chunksOf } from "../../store/engine/chunks.ts";
import type { Store } from "../../store/store.ts";
import type { ReadIncident } from "./incidents.ts";
import type { Running } from "./running.ts";

/** A value for each step; null: unknown. */
type Values = readonly (number | null)[];

/** The numbers of a chart. Times are epoch ms. */
export type ChartData = Awaited<ReturnType<typeof readDeathsChart>>;

/** An organization of a chart. */
export type ChartMember = ReturnType<typeof chartOfIncident>["members"][number];

/** An event in a chart; `mark` is its symbol `#m-…`, `text` its words without the time. */
export interface ChartAct {
  readonly atMs: number;
  readonly mark: "marker" | "dot" | "comment";
  readonly text: string;
}

/** The subject of a chart. */
export interface ChartAsk {
  /** "the 120 organizations", "acme"; for answers: the platform's host. */
  readonly subject: string;
  /** The query of the page, with `range`. */
  readonly params: URLSearchParams;
  readonly incident: ReturnType<typeof chartOfIncident>["incident"] | null;
  readonly acts: readonly ChartAct[];
}

export type ChartSource = Pick<Running, "store" | "clock" | "holdsEvents" | "thresholdsOf" | "countsAssets">;

type Grid = ReturnType<typeof gridOf>;

/** How far a chart goes back; null: to its incident. */
export const chartRanges = { incident: null, "24h": dayMs, "3d": 3 * dayMs, "7d": 7 * dayMs, "90d": 90 * dayMs };
export type ChartRange = keyof typeof chartRanges;

const check = "dead-asset-spike" as const;
// A check runs at least once a day: an older result says nothing.
const carryMs = dayMs;
// A sum over many organizations includes results from some hours before the range.
const leadMs = 2 * hourMs;
// Checks run every five minutes by default: smaller steps would have uneven numbers of answers.
const stepsMs = [5, 15, 30, 60, 180, 720, 1_440].map((minutes) => minutes * minuteMs);
const mostSteps = 170;
// A chart shows a little time before the first event.
const unknownShare = 0.07;

/** Returns the organizations of an incident of deaths, and when it was open. */
export function chartOfIncident(read: Pick<ReadIncident, "incident" | "members" | "summary">) {
  const { incident, members, summary } = read;
  const spikes = members.filter((alert) => alert.check === check);
  const firsts = [...Map.groupBy(spikes, ({ slug }) => slug).values()].flatMap(([first]) => first ?? []);
  const all = firsts.map(({ slug, windowHours = 24, found, onset, startsAtMs }) => ({
    slug,
    windowHours,
    /** Deaths expected in its window; null: unknown. A chart of one organization uses its runs instead. */
    expected: found?.deaths?.expected ?? null,
    beganMs: onset?.atMs ?? startsAtMs,
  }));
  return {
    members: all,
    incident: {
      beganMs: Math.min(incident.startedAtMs, ...all.map(({ beganMs }) => beganMs)),
      /** null: its excess has not stopped, or it is unknown. */
      stoppedMs: summary.excessStoppedAtMs,
      /** null: it is open. */
      endedMs: incident.endedAtMs,
    },
  };
}

/** Returns whether less than a day is known before the window that ends at `atMs` (CONTRACT 2). */
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
  const lastMs = incident?.endedMs ?? nowMs;
  const enoughMs = Math.min(gridOf(ask, nowMs, null).fromMs, lastMs - windowHours * hourMs - dayMs);
  const knownMs = hasEvents ? await firstEventMs(store, slugs, enoughMs) : ownMs;
  // A remote service always says what it expects.
  const isThin = hasEvents && isThinPast(knownMs, windowHours, lastMs);
  const grid = gridOf(ask, nowMs, knownMs);
  const isOfAssets = slugs.some(countsAssets);
  const events = hasEvents ? await readEvents(store, members, grid) : null;
  const counted = isOfAssets ? null : events;
  const runs = counted === null || alone !== undefined ? await readRuns(store, slugs, grid) : null;
  const ofAll = sumOf(members, (one) => one.expected);
  const known = alone === undefined ? grid.ends.map(() => ofAll) : (runs?.expected ?? []);
  const knownFromMs = knownMs !== null && knownMs > grid.fromMs ? knownMs : null;
  const count: Values = ((counted ?? runs)?.count ?? []).map((one, index) =>
    (grid.ends[index] ?? 0) < (knownFromMs ?? 0) ? null : one,
  );
  // Nothing was expected before the first count.
  const firstIndex = count.findIndex((one) => one !== null);
  const expected: Values = isThin ? [] : known.map((one, index) => (index < firstIndex ? null : one));
  const thresholds = alone === undefined ? null : thresholdsOf(alone.slug);
  const above = (multiplier: number, least: number): Values =>
    expected.map((one) => (one === null ? null : Math.max(least, one * multiplier)));
  const usualPerHour = sumOf(members, (one) => {
    const own = (alone && runs?.expected.at(-1)) ?? one.expected;
    return own === null ? null : own / one.windowHours;
  });
  return {
    ...grid,
    kind: "deaths" as "deaths" | "answers",
    /** Deaths in the window that ends with the step, or good answers per minute. */
    count,
    /** Deaths expected in the window, or answers asked for per minute; may be empty. */
    expected,
    warn: thresholds === null ? [] : above(thresholds.warnMultiplier, thresholds.minSpikeCount),
    fail: thresholds === null ? [] : above(thresholds.failMultiplier, thresholds.minSpikeCount),
    /** Deaths in each step; null: single deaths are unknown. */
    deaths: (events?.deaths ?? null) as readonly number[] | null,
    /** Usual deaths in a step; null: unknown, as for a count of assets. */
    usual: isThin || isOfAssets || usualPerHour === null ? null : (usualPerHour * grid.stepMs) / hourMs,
    /** The unit of all values but `deaths`. */
    counting: isOfAssets && slugs.every(countsAssets) ? ("assets" as const) : ("deaths" as const),
    /** null: the organizations' windows differ. */
    windowHours: windows.size > 1 ? null : windowHours,
    /** The onset of each organization; empty: it is only one. */
    began: alone === undefined ? members.map(({ beganMs }) => beganMs) : [],
    /** The known time begins here; null: before the chart. */
    knownFromMs,
    /** Nothing is usual yet (CONTRACT 2). */
    isThin,
  };
}

const noDeaths = { deaths: null, usual: null, counting: "deaths", windowHours: null, knownFromMs: null } as const;

/** Reads the chart of an unreachable platform: its good answers to these organizations' spike checks. */
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
  // The time before the first run does not count as silence.
  const sinceMs = Math.max(fromMs, firstMs);
  const isBefore = (index: number): boolean => fromMs + index * stepMs < sinceMs;
  const perMinute = Math.round(asked / Math.max(1, (toMs - sinceMs) / minuteMs));
  return {
    ...grid,
    ...noDeaths,
    kind: "answers",
    // A step is unknown if it has not ended, or began before the first run.
    count: good.map((one, index) => {
      const endMs = fromMs + (index + 1) * stepMs;
      return isBefore(index) || ends[index] !== endMs ? null : one / (stepMs / minuteMs);
    }),
    expected: ends.map((_end, index) => (isBefore(index) ? null : perMinute)),
    warn: [],
    fail: [],
    began: [],
    isThin: false,
  };
}

/** Returns the steps of the chosen range: an incident with time around it, and not much time before the first event. */
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

/** Returns when the first event came; null: before `enoughMs`, or there are none. */
async function firstEventMs({ events }: Store, slugs: readonly string[], enoughMs: number): Promise<number | null> {
  let firstMs = Infinity;
  for (const some of chunksOf(slugs)) {
    const firsts = (await events.firstEvents(some)).values();
    // null: older ones were deleted.
    firstMs = firsts.reduce<number>((first, atMs) => Math.min(first, atMs ?? -Infinity), firstMs);
    if (firstMs <= enoughMs) return null;
  }
  return firstMs === Infinity ? null : firstMs;
}

/** Sums the stored deaths of all organizations: those of the window at each step's end, and those of each step. */
async function readEvents({ liveness, events }: Store, members: readonly ChartMember[], grid: Grid) {
  const { fromMs, toMs, stepMs, ends } = grid;
  const [count, deaths] = [ends.map(() => 0), ends.map(() => 0)];
  for (const [windowHours, group] of Map.groupBy(members, (one) => one.windowHours)) {
    const windowMs = windowHours * hourMs;
    // A bin divides the step and the window into whole numbers.
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
  // The bins hold the rest of the current minute, too.
  const lastStep = { afterMs: fromMs + (ends.length - 1) * stepMs - 1, untilMs: toMs };
  const queries = members.map(({ slug, windowHours }) => {
    return { slug, intervals: [{ afterMs: toMs - windowHours * hourMs, untilMs: toMs }, lastStep] };
  });
  const exact = (await events.deaths(queries)).flat();
  for (const [index, values] of [count, deaths].entries())
    values[values.length - 1] = exact.reduce((sum, one) => sum + (one.deaths[index] ?? 0), 0);
  return { count, deaths };
}

/** Sums each organization's last count and expectation at each instant; null: no run. */
async function readRuns(store: Store, slugs: readonly string[], { fromMs, toMs, ends }: Grid) {
  const count = ends.map((): number | null => null);
  const expected = [...count];
  const isAlone = slugs.length === 1;
  for await (const [, all] of pointsIn(store, slugs, fromMs - (isAlone ? carryMs : leadMs), toMs)) {
    // A sum over many organizations keeps each last count while runs fail: otherwise it would drop.
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
  // A longer range has one point an hour.
  return runs.points({ check, slugs, fromMs, toMs, isHourly: toMs - fromMs > 2 * dayMs });
}

/** Returns the sum; null: a value is unknown. */
function sumOf(members: readonly ChartMember[], valueOf: (one: ChartMember) => number | null): number | null {
  const known = members.flatMap((one) => valueOf(one) ?? []);
  return known.length < members.length ? null : known.reduce((sum, value) => sum + value, 0);
}
