import type { BenchmarkResult, Metric } from "../harness/benchmark.ts";
import { formatNumber } from "../harness/harness.ts";

/** What is made larger. */
export type Axis = "organizations" | "events";

/** How much of the axis there is, and what it costs. */
export interface GrowthPoint {
  readonly size: number;
  readonly value: number;
}

interface GrowthMetric extends Metric {
  readonly axis: Axis;
}

/** An image of docs/images. */
export interface GrowthPlot {
  readonly file: string;
  readonly axis: Axis;
  /** Of the image; also what the page says where it is not shown. */
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly { readonly metric: string; readonly label: string }[];
}

const better = "less";

/** What is measured of each size of an axis. */
export const growthMetrics: readonly GrowthMetric[] = [
  { axis: "organizations", name: "round", title: "a round of checks", unit: "CPU ms", better },
  { axis: "organizations", name: "scrape", title: "/metrics", unit: "CPU ms", better },
  { axis: "organizations", name: "fleetStart", title: "start", unit: "CPU ms", better },
  { axis: "organizations", name: "memory", title: "resident, daemon at full load", unit: "MiB", better },
  { axis: "organizations", name: "creation", title: "creating the schedule", unit: "CPU ms", better },
  { axis: "organizations", name: "schedule", title: "the schedule in memory", unit: "MiB", better },
  { axis: "events", name: "counts", title: "counts, whole minute", unit: "ms", better },
  { axis: "events", name: "countsOdd", title: "counts, within a minute", unit: "ms", better },
  { axis: "events", name: "start", title: "start of the daemon", unit: "CPU s", better },
  { axis: "events", name: "sums", title: "running sums", unit: "MiB", better },
  { axis: "events", name: "import", title: "import", unit: "CPU s", better },
  { axis: "events", name: "importRow", title: "import, a row", unit: "CPU µs", better },
  { axis: "events", name: "importPeak", title: "import, most resident", unit: "MiB", better },
  { axis: "events", name: "database", title: "database", unit: "MiB", better },
];

/** What is drawn of them. */
export const growthPlots: readonly GrowthPlot[] = [
  {
    file: "growth-checks.svg",
    axis: "organizations",
    title: "Processor time by organizations",
    unit: "CPU ms",
    lines: [
      { metric: "round", label: "a round of checks" },
      { metric: "fleetStart", label: "start" },
      { metric: "creation", label: "creating the schedule" },
      { metric: "scrape", label: "/metrics" },
    ],
  },
  {
    file: "growth-memory.svg",
    axis: "organizations",
    title: "Memory by organizations",
    unit: "MiB",
    lines: [
      { metric: "memory", label: "daemon, resident" },
      { metric: "schedule", label: "the schedule" },
    ],
  },
  {
    file: "growth-counts.svg",
    axis: "events",
    title: "Counts of 1,000 organizations by events",
    unit: "ms",
    lines: [
      { metric: "countsOdd", label: "within a minute" },
      { metric: "counts", label: "at a whole minute" },
    ],
  },
  {
    file: "growth-import.svg",
    axis: "events",
    title: "Processor time of an import and of a start by events",
    unit: "CPU s",
    lines: [
      { metric: "import", label: "import" },
      { metric: "start", label: "start of the daemon" },
    ],
  },
  {
    file: "growth-sizes.svg",
    axis: "events",
    title: "Disk and memory by events",
    unit: "MiB",
    lines: [
      { metric: "database", label: "the database" },
      { metric: "importPeak", label: "import, most resident" },
      { metric: "sums", label: "running sums" },
    ],
  },
];

/** The name of the side that has so many. */
export function sideName(axis: Axis, size: number): string {
  return `${size.toLocaleString("en-US")} ${axis}`;
}

/** What a metric was at each size of its axis, the smallest first. */
export function pointsOf(result: BenchmarkResult, axis: Axis, metric: string): readonly GrowthPoint[] {
  const points = result.sides.flatMap(({ name, metrics }) => {
    const value = metrics[metric]?.median;
    return name.endsWith(` ${axis}`) && value !== undefined ? [{ size: sizeOf(name), value }] : [];
  });
  return points.toSorted((left, right) => left.size - right.size);
}

/** By what a value is multiplied when the size doubles: 2 is linear, 1 is none. */
export function doublingFactor(from: GrowthPoint, to: GrowthPoint): number {
  return (to.value / from.value) ** (1 / Math.log2(to.size / from.size));
}

/** The tables of both axes and the images, for docs/benchmarks.md. */
export function growthPage(result: BenchmarkResult): string {
  return (["organizations", "events"] as const)
    .map((axis) =>
      [axisTable(result, axis), ...growthPlots.filter((plot) => plot.axis === axis).map(image)].join("\n\n"),
    )
    .join("\n\n");
}

function axisTable(result: BenchmarkResult, axis: Axis): string {
  const metrics = growthMetrics.filter((metric) => metric.axis === axis);
  const columns = metrics.map(({ name }) => pointsOf(result, axis, name));
  const sizes = [...new Set(columns.flatMap((points) => points.map(({ size }) => size)))].toSorted((a, b) => a - b);
  const rows = sizes.map((size) => [size.toLocaleString("en-US"), ...columns.map((points) => cell(points, size))]);
  const whole = columns.map((points) => {
    const first = points[0];
    const last = points.at(-1);
    return first === undefined || last === undefined || first === last
      ? ""
      : `×${doublingFactor(first, last).toFixed(2)}`;
  });
  return [
    [axis, ...metrics.map(({ title, unit }) => `${title} (${unit})`)],
    ["--:", ...metrics.map(() => "--:")],
    ...rows,
    ["each doubling", ...whole],
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** The value, and the factor for each doubling since the size before it. */
function cell(points: readonly GrowthPoint[], size: number): string {
  const index = points.findIndex((point) => point.size === size);
  const point = points[index];
  const before = points[index - 1];
  if (point === undefined) return "";
  const factor = before === undefined ? "" : ` ×${doublingFactor(before, point).toFixed(2)}`;
  return `${formatNumber(point.value)}${factor}`;
}

function image({ file, title }: GrowthPlot): string {
  return `![${title}](images/${file})`;
}

function sizeOf(name: string): number {
  return Number(name.replaceAll(/\D/g, ""));
}
