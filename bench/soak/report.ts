import type { Circumstances } from "../harness/benchmark.ts";
import { formatNumber, table } from "../harness/table.ts";

/** A straight line through points, by least squares: y per unit of x, within one standard error in two of three repetitions. */
interface Trend {
  readonly slope: number;
  readonly standardError: number;
}

/** What is said of one thing that must not grow. */
export interface SoakLine extends Verdict {
  readonly name: string;
  readonly title: string;
  /** "MiB", or nothing for a count. */
  readonly unit: string;
  /** After the warm-up. */
  readonly least: number;
  readonly most: number;
  readonly last: number;
}

export interface Verdict {
  /** A virtual day; null when the run was too short to tell. */
  readonly trend: Trend | null;
  readonly verdict: "level" | "grows" | "falls" | "not known";
}

/** What bench/results/soak.json holds. */
export interface SoakResult extends Circumstances {
  readonly name: "soak";
  readonly organizations: number;
  readonly realMinutes: number;
  readonly virtualHours: number;
  /** Where what is judged begins. */
  readonly settledFromVirtualHours: number;
  readonly checks: number;
  readonly checksPerSecond: number;
  readonly notifications: number;
  /** Warnings and errors of the log, by message. */
  readonly complaints: Readonly<Record<string, number>>;
  readonly lines: readonly SoakLine[];
  readonly samples: readonly object[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const mostIntervals = 20;
// Of fewer, the lowest is chance.
const leastPointsAnInterval = 3;
// A tenth more after a hundred days: whoever updates once in that time never sees it.
const levelShareADay = 0.001;

/**
 * The lowest point of each of up to twenty intervals with as many points each: what is between two collections of garbage or
 * two checkpoints differs from sample to sample, and only what stays when it is over can be a leak.
 */
export function lowest(points: readonly Point[]): readonly Point[] {
  const intervals = Math.min(mostIntervals, Math.floor(points.length / leastPointsAnInterval));
  return Array.from({ length: intervals }, (_, index) => {
    const some = points.slice(
      Math.floor((index * points.length) / intervals),
      Math.floor(((index + 1) * points.length) / intervals),
    );
    return some.reduce((least, point) => (point.y < least.y ? point : least));
  });
}

/** Whether a line through `points`, x in virtual days, goes up: level is within two standard errors of 0, or a thousandth a day. */
export function verdictOf(points: readonly Point[]): Verdict {
  const trend = trendOf(points);
  if (!Number.isFinite(trend.standardError)) return { trend: null, verdict: "not known" };
  const mean = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const rise = Math.abs(trend.slope);
  const isLevel = rise <= 2 * trend.standardError || rise <= levelShareADay * mean;
  return { trend, verdict: isLevel ? "level" : trend.slope > 0 ? "grows" : "falls" };
}

/** The line through `points`; without a slope where there are fewer than three. */
function trendOf(points: readonly Point[]): Trend {
  const count = points.length;
  if (count < 3) return { slope: 0, standardError: Number.POSITIVE_INFINITY };
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, standardError: Math.sqrt(rest / (count - 2) / spread) };
}

/** The table of docs/benchmarks.md, with what was done in that time below it. */
export function soakTable(result: SoakResult): string {
  const { organizations, realMinutes, virtualHours, checks, checksPerSecond, notifications, complaints } = result;
  const heard = Object.entries(complaints).map(([message, times]) => `"${message}" (${formatNumber(times)})`);
  const lines = table(
    ["", "after the warm-up", "at the end", "a virtual day", "verdict"],
    result.lines.map(({ title, unit, least, most, last, trend, verdict }) => [
      title,
      ...[`${formatNumber(least)}–${formatNumber(most)}`, formatNumber(last), slopeText(trend)].map((text) =>
        `${text} ${unit}`.trimEnd(),
      ),
      verdict,
    ]),
  );
  return `${lines}\n\n${formatNumber(organizations)} organizations, ${formatNumber(realMinutes)} real minutes, ${formatNumber(virtualHours)} virtual hours, judged from hour ${formatNumber(result.settledFromVirtualHours)} on: ${formatNumber(checks)} checks (${formatNumber(checksPerSecond)} a second), ${formatNumber(notifications)} notifications; ${heard.length === 0 ? "no warning in the log" : `in the log: ${heard.join(", ")}`}.`;
}

function slopeText(trend: Trend | null): string {
  if (trend === null) return "–";
  return `${trend.slope > 0 ? "+" : ""}${formatNumber(trend.slope)} ± ${formatNumber(trend.standardError)}`;
}
