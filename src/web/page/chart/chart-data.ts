import type { RowSeverity } from "../parts/marks.ts";

/** The count of one organization over a range, as the server draws it and the browser draws it again. Times are epoch ms. */
export interface ChartData {
  readonly fromMs: number;
  readonly toMs: number;
  readonly scale: "linear" | "log";
  readonly at: readonly number[];
  readonly count: readonly (number | null)[];
  readonly expected: readonly (number | null)[];
  readonly warn: readonly (number | null)[];
  readonly fail: readonly (number | null)[];
  readonly severity: readonly RowSeverity[];
  /** It ends now, and goes on. */
  readonly isLive: boolean;
  /** The address asks for exactly this stretch. */
  readonly isAsked: boolean;
  /** When the deaths of the alert began; null: there is none, or no run could find out. */
  readonly beganMs: number | null;
  /** The count seven days before, at instants that are moved by them; null: not asked for. */
  readonly weekBefore: { readonly at: readonly number[]; readonly count: readonly (number | null)[] } | null;
  readonly shades: readonly Shade[];
}

/** A stretch that is shaded: messages were held back, or its hours are not in the baseline. */
export interface Shade {
  readonly kind: "silenced" | "excluded";
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a shade says of itself where there is room. */
export const shadeWords: Readonly<Record<Shade["kind"], string>> = {
  silenced: "silenced",
  excluded: "not in the baseline",
};

/** The last value at or before an instant of values that each hold until the next; null: there is none. */
export function valueAt(at: readonly number[], values: readonly (number | null)[], atMs: number): number | null {
  const index = at.findLastIndex((one) => one <= atMs);
  return index === -1 ? null : (values[index] ?? null);
}

export const ranges = ["24h", "3d", "7d", "all"] as const;
export type Range = (typeof ranges)[number];

/** Runs of one severity that is not ok, [from, to). */
export function bandsOf(
  data: ChartData,
): { readonly severity: RowSeverity; readonly fromMs: number; readonly toMs: number }[] {
  const bands: { severity: RowSeverity; fromMs: number; toMs: number }[] = [];
  for (const [index, severity] of data.severity.entries()) {
    const fromMs = data.at[index] ?? data.fromMs;
    const toMs = data.at[index + 1] ?? data.toMs;
    const last = bands.at(-1);
    if (last !== undefined && last.severity === severity && last.toMs === fromMs) last.toMs = toMs;
    else bands.push({ severity, fromMs, toMs });
  }
  return bands;
}

/** Returns the largest value that the chart shows, at least 1. */
export function peakOf(data: ChartData): number {
  let peak = 1;
  for (const series of [data.count, data.expected, data.warn, data.fail, data.weekBefore?.count ?? []])
    for (const value of series) if (value !== null && value > peak) peak = value;
  return peak;
}

/** Returns where a value lies between the foot (0) and the head (1) of the chart; asinh, as a logarithm cannot show 0. */
export function positionOf(value: number, peak: number, scale: "linear" | "log"): number {
  const top = peak * 1.06;
  return scale === "log" ? Math.asinh(value / 3) / Math.asinh(top / 3) : value / top;
}

/** Four or five round values for the axis. */
export function ticksOf(peak: number, scale: "linear" | "log"): number[] {
  if (scale === "log") {
    const ticks = [0];
    const powers = Math.max(1, Math.ceil(Math.log10(peak)));
    const every = Math.max(1, Math.ceil(powers / 4));
    for (let power = 1; 10 ** power <= peak; power += every) ticks.push(10 ** power);
    const half = 5 * 10 ** Math.floor(Math.log10(peak));
    if (half <= peak && ticks.length < 6) ticks.push(half);
    return ticks;
  }
  const raw = peak / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  // Deaths are whole: no step of two and a half below 25.
  const steps = power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = Math.max(1, (steps.find((one) => one * power >= raw) ?? 10) * power);
  const ticks: number[] = [];
  for (let value = 0; value <= peak * 1.02; value += step) ticks.push(Math.round(value * 100) / 100);
  return ticks;
}

/** Returns the values at the right end, pushed apart so that none covers another; y grows downwards, pixels. */
export function spreadLabels(wanted: readonly number[], gap: number, height: number): number[] {
  const order = wanted.map((y, index) => ({ y, index })).toSorted((left, right) => left.y - right.y);
  for (let at = 1; at < order.length; at++) {
    const [above, here] = [order[at - 1], order[at]];
    if (above !== undefined && here !== undefined) here.y = Math.max(here.y, above.y + gap);
  }
  let limit = height;
  for (const here of order.toReversed()) {
    here.y = Math.min(here.y, limit);
    limit = here.y - gap;
  }
  return wanted.map((_, index) => order.find((one) => one.index === index)?.y ?? 0);
}

const hour = 3_600_000;

/** Instants for the axis of time, and whether each begins a day. */
export function timeTicks(fromMs: number, toMs: number): { readonly atMs: number; readonly isDay: boolean }[] {
  const length = toMs - fromMs;
  const stepHours = [1, 2, 3, 6, 12, 24, 48, 168, 336, 720].find((hours) => length / (hours * hour) <= 8) ?? 2_160;
  const ticks: { atMs: number; isDay: boolean }[] = [];
  for (let atMs = Math.ceil(fromMs / (stepHours * hour)) * stepHours * hour; atMs < toMs; atMs += stepHours * hour)
    ticks.push({ atMs, isDay: atMs % (24 * hour) === 0 });
  return ticks;
}

/** Returns the number with one decimal: a coordinate, or a share in percent, needs no more. */
export function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
