import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import type { RunPoint } from "../../store/runs/history.ts";
import type { DeathSeries } from "./chart-events.ts";
import type { ChartMember, ChartSource, Grid } from "./chart-grid.ts";

const check = "dead-asset-spike" as const;
// Of a longer range an hour is one point.
const singleRunsMs = 2 * dayMs;
// What a run found holds for some hours before the range, too.
const leadMs = 2 * hourMs;

/** Sums what the last run of each organization had counted at each instant; null: no run of any had. */
export async function runCounts(
  running: ChartSource,
  members: readonly ChartMember[],
  grid: Grid,
): Promise<DeathSeries> {
  const { fromMs, toMs, stepMs, at } = grid;
  const changes = new Float64Array(at.length);
  let firstIndex = at.length;
  const slugs = members.map(({ slug }) => slug);
  for await (const [, points] of pointsIn(running, slugs, { fromMs: fromMs - leadMs, toMs })) {
    let last = 0;
    for (const { atMs, currentCount } of points) {
      if (currentCount === null) continue;
      const index = Math.min(Math.max(Math.ceil((atMs - fromMs) / stepMs), 0), at.length - 1);
      changes[index] = (changes[index] ?? 0) + currentCount - last;
      last = currentCount;
      firstIndex = Math.min(firstIndex, index);
    }
  }
  let sum = 0;
  const count = [...changes].map((change, index) => {
    sum += change;
    return index < firstIndex ? null : sum;
  });
  return { count, bars: null, deathsSince: null };
}

/** Counts runs with a result, and all runs, per minute: those with a result from each instant of the grid on. */
export async function answersPerMinute(
  running: ChartSource,
  slugs: readonly string[],
  grid: Grid,
): Promise<{ readonly good: readonly (number | null)[]; readonly asked: number }> {
  const { fromMs, toMs, stepMs, at } = grid;
  const good = new Float64Array(at.length);
  let asked = 0;
  for await (const [, points] of pointsIn(running, slugs, { fromMs: fromMs - 1, toMs: toMs - 1 }))
    for (const { atMs, runs, answered } of points) {
      const index = Math.floor((atMs - fromMs) / stepMs);
      asked += runs;
      good[index] = (good[index] ?? 0) + answered;
    }
  const rates: (number | null)[] = [];
  for (const [index, answered] of good.entries()) {
    // A minute that has just begun says nothing yet.
    const isWhole = (at[index + 1] ?? 0) - (at[index] ?? 0) === stepMs;
    rates.push(isWhole ? answered / (stepMs / minuteMs) : (rates.at(-1) ?? null));
  }
  return { good: rates, asked: Math.round(asked / ((toMs - fromMs) / minuteMs)) };
}

function pointsIn(
  { store }: ChartSource,
  slugs: readonly string[],
  { fromMs, toMs }: Pick<Grid, "fromMs" | "toMs">,
): AsyncIterable<readonly [slug: string, readonly RunPoint[]]> {
  return store.runs.points({ check, slugs, fromMs, toMs, isHourly: toMs - fromMs > singleRunsMs });
}
