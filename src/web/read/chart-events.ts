import { hourMs } from "../../base/time.ts";
import type { ChartBars } from "../pages/chart/data.ts";
import type { Store } from "../../store/store.ts";
import type { ChartMember, ChartSource, Grid } from "./chart-grid.ts";

/** The deaths of a chart's organizations together. */
export interface DeathSeries {
  /** At each instant of the grid, those in the window that ends then; null: unknown. */
  readonly count: readonly (number | null)[];
  readonly bars: ChartBars | null;
  /** Those from an instant until now, exactly; null: single deaths are not known. */
  readonly deathsSince: ((sinceMs: number) => Promise<number>) | null;
}

/** Returns when the first event of any of them was; null: of one nothing older is kept, or nothing was stored. */
export async function knownFrom({ events }: Store, members: readonly ChartMember[]): Promise<number | null> {
  const firsts = [...(await events.firstEvents(members.map(({ slug }) => slug))).values()];
  return firsts.reduce<number | null>(
    (first, one) => (one === null || first === null ? null : Math.min(first, one)),
    firsts.length === 0 ? null : Number.POSITIVE_INFINITY,
  );
}

/**
 * Counts stored deaths in bins over all organizations: for each window two sums of bins, at the end of each step. The last count
 * is exact.
 */
export async function eventCounts(
  { store }: ChartSource,
  members: readonly ChartMember[],
  grid: Grid,
): Promise<DeathSeries> {
  const { at, fromMs, toMs, stepMs } = grid;
  const count = at.map(() => 0);
  const own = new Map<number, number>();
  for (const [windowHours, group] of Map.groupBy(members, (one) => one.windowHours)) {
    const windowMs = windowHours * hourMs;
    // A bin divides the step and the window, so that each window is a number of whole bins.
    const binMs = divisor(stepMs, windowMs);
    const firstBin = (fromMs - windowMs) / binMs;
    const slugs = group.map(({ slug }) => slug);
    const bins = await store.liveness.deathBins({ slugs, fromMs: fromMs - windowMs, toMs, binMs });
    const sums = new Float64Array(Math.ceil(toMs / binMs) - firstBin + 1);
    for (let bin = 1; bin < sums.length; bin++) sums[bin] = (sums[bin - 1] ?? 0) + (bins.get(firstBin + bin - 1) ?? 0);
    for (const [index, atMs] of at.entries()) {
      const until = Math.ceil(atMs / binMs) - firstBin;
      count[index] = (count[index] ?? 0) + (sums[until] ?? 0) - (sums[until - windowMs / binMs] ?? 0);
    }
    for (const [bin, deaths] of bins) {
      const step = Math.floor((bin * binMs) / stepMs) * stepMs;
      if (step >= fromMs) own.set(step, (own.get(step) ?? 0) + deaths);
    }
  }
  count[count.length - 1] = await deathsIn(store, members, (one) => toMs - one.windowHours * hourMs, toMs);
  return {
    count,
    bars: barsOf(own, grid),
    deathsSince: (sinceMs) => deathsIn(store, members, () => sinceMs, toMs),
  };
}

/** Sums the steps of each bar; a bar begins on the clock, the first one with the range. */
function barsOf(steps: ReadonlyMap<number, number>, { fromMs, toMs, stepMs, barMs }: Grid): ChartBars {
  const [from, deaths]: [number[], number[]] = [[], []];
  for (let atMs = fromMs; atMs < toMs; atMs = Math.floor(atMs / barMs) * barMs + barMs) {
    const endMs = Math.min(Math.floor(atMs / barMs) * barMs + barMs, toMs);
    let sum = 0;
    for (let step = atMs; step < endMs; step += stepMs) sum += steps.get(step) ?? 0;
    from.push(atMs);
    deaths.push(sum);
  }
  return { lengthMs: barMs, from, deaths };
}

async function deathsIn(
  { events }: Store,
  members: readonly ChartMember[],
  after: (member: ChartMember) => number,
  untilMs: number,
): Promise<number> {
  const queries = members.map((one) => ({ slug: one.slug, intervals: [{ afterMs: after(one), untilMs }] }));
  const answers = await events.deaths(queries);
  return answers.flat().reduce((sum, { deaths }) => sum + (deaths[0] ?? 0), 0);
}

function divisor(left: number, right: number): number {
  return right === 0 ? left : divisor(right, left % right);
}
