import { hourMs, minuteMs } from "../../base/time.ts";
import type { RunPoint } from "../../store/runs/run-point.ts";
import type { DeathSeries } from "./chart-events.ts";
import type { ChartMember, ChartSource, Grid } from "./chart-grid.ts";

const check = "dead-asset-spike" as const;
// Hours that a chart reads at most, a statement each, and those hours of one check, about a second of work: of a longer range,
// or of more organizations, some hours stand for those before them.
const mostHours = 400;
const mostCheckHours = 250_000;
// What a run found holds for some hours before the range, too.
const leadMs = 2 * hourMs;

/** Sums what the last run of each organization had counted at each instant; null: no run of any had. */
export async function runCounts(
  running: ChartSource,
  members: readonly ChartMember[],
  grid: Grid,
): Promise<DeathSeries> {
  const { fromMs, toMs, stepMs, at } = grid;
  const last = new Map<string, number>();
  const changes = new Float64Array(at.length);
  let firstIndex = at.length;
  const slugs = members.map(({ slug }) => slug);
  for await (const { runs } of runsIn(running, slugs, { fromMs: fromMs - leadMs, toMs }))
    for (const [slug, points] of runs)
      for (const { atMs, currentCount } of points) {
        if (currentCount === null || atMs > toMs) continue;
        const index = Math.min(Math.max(Math.ceil((atMs - fromMs) / stepMs), 0), at.length - 1);
        changes[index] = (changes[index] ?? 0) + currentCount - (last.get(slug) ?? 0);
        last.set(slug, currentCount);
        firstIndex = Math.min(firstIndex, index);
      }
  let sum = 0;
  const count = [...changes].map((change, index) => {
    sum += change;
    return index < firstIndex ? null : sum;
  });
  return { count, bars: null, deathsSince: null };
}

/**
 * Counts runs with a result, and all runs, per minute: those with a result from each instant of the grid on; null: no hour of
 * it was read.
 */
export async function answersPerMinute(
  running: ChartSource,
  slugs: readonly string[],
  grid: Grid,
): Promise<{ readonly good: readonly (number | null)[]; readonly asked: number | null }> {
  const { fromMs, toMs, stepMs, at } = grid;
  const [good, readMinutes] = [new Float64Array(at.length), new Float64Array(at.length)];
  let [asked, minutes] = [0, 0];
  for await (const { hour, runs } of runsIn(running, slugs, grid)) {
    const [startMs, endMs] = [Math.max(hour * hourMs, fromMs), Math.min((hour + 1) * hourMs, toMs)];
    minutes += (endMs - startMs) / minuteMs;
    for (let index = Math.floor((startMs - fromMs) / stepMs); (at[index] ?? endMs) < endMs; index++) {
      const readMs = Math.min(at[index + 1] ?? toMs, endMs) - Math.max(at[index] ?? 0, startMs);
      readMinutes[index] = (readMinutes[index] ?? 0) + readMs / minuteMs;
    }
    for (const { atMs, severity } of [...runs.values()].flat()) {
      if (atMs < startMs || atMs >= endMs) continue;
      asked++;
      const index = Math.floor((atMs - fromMs) / stepMs);
      if (severity !== "unknown") good[index] = (good[index] ?? 0) + 1;
    }
  }
  const rates: (number | null)[] = [];
  for (const [index, read] of readMinutes.entries()) {
    // A minute that has just begun says nothing yet, nor does an hour that was left out.
    const isWhole = read > 0 && (at[index + 1] ?? 0) - (at[index] ?? 0) === stepMs;
    rates.push(isWhole ? (good[index] ?? 0) / read : (rates.at(-1) ?? null));
  }
  return { good: rates, asked: minutes <= 0 ? null : Math.round(asked / minutes) };
}

interface RunsOfHour {
  readonly hour: number;
  readonly runs: ReadonlyMap<string, readonly RunPoint[]>;
}

async function* runsIn(
  { history }: ChartSource,
  slugs: readonly string[],
  { fromMs, toMs }: Pick<Grid, "fromMs" | "toMs">,
): AsyncGenerator<RunsOfHour> {
  const [first, last] = [Math.floor(fromMs / hourMs), Math.floor(toMs / hourMs)];
  const length = last - first + 1;
  const every = Math.max(1, Math.ceil(length / mostHours), Math.ceil((length * slugs.length) / mostCheckHours));
  const hours: number[] = [];
  for (let hour = last; hour >= first; hour -= every) hours.unshift(hour);
  let index = 0;
  for await (const runs of history.runsOfHours({ check, slugs, hours })) yield { hour: hours[index++] ?? 0, runs };
}
