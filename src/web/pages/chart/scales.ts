import { dayMs, hourMs, minuteMs } from "../../../base/time.ts";
import { clockText, dayText } from "../../../words/numbers.ts";

/** Width of the plot, in its own units: it is stretched. */
export const plotWidth = 1_000;

/** From a value to its height in the chart. */
export interface ValueScale {
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
}

/** Makes the scale of counts up to `peak`, from `foot` up to `head` (pixels, which grow downwards), with at most `most` + 1 ticks. */
export function valueScale(peak: number, { foot, head }: { foot: number; head: number }, most = 4): ValueScale {
  const raw = Math.max(peak, 1) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  // Deaths are whole: no step below one, and no two and a half below 25.
  const steps = power < 10 ? [1, 2, 3, 5, 10] : [1, 2, 2.5, 3, 5, 10];
  const step = Math.max(1, (steps.find((one) => one * power >= raw * 0.999) ?? 10) * power);
  const round = Math.ceil(Math.max(peak, 1) / step) * step;
  // The top is a tick, unless much of the chart would be empty.
  const top = round <= peak * 1.15 || round === step ? round : peak * 1.115;
  const ticks: number[] = [];
  for (let value = 0; value <= top * 1.001; value += step) ticks.push(Math.round(value));
  return { ticks, y: (value) => toTenth(foot - (value / top) * (foot - head)) };
}

/** Returns where an instant lies in the plot, 0 to plotWidth; what is outside lies at its edge. */
export function timeScale({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  return (atMs: number): number => {
    const share = (atMs - fromMs) / (toMs - fromMs);
    return toTenth(Math.min(Math.max(share, 0), 1) * plotWidth);
  };
}

const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200, 86_400];
const mostTimeTicks = 8;

/** Returns round instants for the axis of time with their words: a clock, or a day where one begins. */
export function timeTicks(fromMs: number, toMs: number): { readonly atMs: number; readonly text: string }[] {
  const stepMs =
    (timeSteps.find((minutes) => (toMs - fromMs) / (minutes * minuteMs) <= mostTimeTicks) ?? 86_400) * minuteMs;
  const ticks: { atMs: number; text: string }[] = [];
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs)
    ticks.push({ atMs, text: atMs % dayMs === 0 ? dayText(atMs) : clockText(atMs) });
  return ticks;
}

/** Returns heights pushed apart so that no word covers another; none below `foot`. */
export function spreadLabels(wanted: readonly number[], gap: number, foot: number): number[] {
  const order = wanted.map((y, index) => ({ y, index })).toSorted((left, right) => left.y - right.y);
  for (let at = 1; at < order.length; at++) {
    const [above, here] = [order[at - 1], order[at]];
    if (above !== undefined && here !== undefined) here.y = Math.max(here.y, above.y + gap);
  }
  let limit = foot;
  for (const here of order.toReversed()) {
    here.y = Math.min(here.y, limit);
    limit = here.y - gap;
  }
  return wanted.map((_, index) => toTenth(order.find((one) => one.index === index)?.y ?? 0));
}

/** Returns the path of values that each hold until the next; a null is a gap. */
export function stepPath(
  at: readonly number[],
  values: readonly (number | null)[],
  x: (atMs: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let last: number | null = null;
  for (const [index, value] of values.entries()) {
    const left = x(at[index] ?? 0);
    const here = value === null ? null : y(value);
    if (here === null) path += last === null ? "" : `H${left}`;
    else if (last === null) path += `M${left} ${here}`;
    else if (here !== last) path += `H${left}V${here}`;
    last = here;
  }
  return last === null ? path : `${path}H${x(at.at(-1) ?? 0)}`;
}

/** Returns the number with one decimal: a coordinate, or a share in percent, needs no more. */
export function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

// A chart has a value for each 4 to 8 pixels: more show nothing, and fewer hide the edge of a spike.
const mostSteps = 300;
const stepMinutes = [1, 2, 5, 10, 15, 30, 60, 180, 720, 1_440, 2_880] as const;

/** Returns how far the values of so long a range lie apart: whole minutes that divide a bar and a day, at most 300 of them. */
export function stepOf(lengthMs: number): number {
  return (stepMinutes.find((minutes) => lengthMs / (minutes * minuteMs) <= mostSteps) ?? 2_880) * minuteMs;
}

/** Returns how long the bars of so long a range are: 5 min, 1 h from 12 h on, 3 h from 4 d, and days where those were too many. */
export function barLengthOf(lengthMs: number): number {
  if (lengthMs < 12 * hourMs) return 5 * minuteMs;
  if (lengthMs < 4 * dayMs) return hourMs;
  const longer = [3 * hourMs, dayMs, 2 * dayMs];
  return longer.find((one) => lengthMs / one <= mostSteps) ?? 2 * dayMs;
}
