import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { formatTick } from "../../parts/figures.ts";
import { barEnd, lastOf, perHourBefore, usualIn, type ChartBars, type ChartData } from "./data.ts";
import { area, box, dotted, leftWord, stroke, word, type Drawing, type EndValue } from "./drawing.ts";
import { plotWidth, spreadLabels, stepPath, timeScale, toTenth, valueScale } from "./scales.ts";
import { html } from "../../parts/html.ts";
import { clockText, countOf, dayText } from "../../../words/numbers.ts";

/** A part of the chart with the values at its right end. */
export interface ValuesDrawing extends Drawing {
  readonly ends: readonly EndValue[];
}

const endGap = 16;

/** Draws the count between `head` and `foot` with what it is held against. */
export function drawCount(data: ChartData, place: { readonly head: number; readonly foot: number }): ValuesDrawing {
  const { at, count, expected, warn, fail, incident, kind } = data;
  const { foot } = place;
  const x = timeScale(data);
  const peak = Math.max(0, ...[count, expected, warn, fail].flat().map((value) => value ?? 0));
  const { ticks, y } = valueScale(peak, place, Math.max(2, Math.round((foot - place.head) / 46)));
  const line = (values: readonly (number | null)[]): string => stepPath(at, values, x, y);
  const last = lastOf(count);
  const stopped = incident?.stoppedMs ?? null;
  const openTo = x(incident?.endedMs ?? data.toMs);
  const isStopShown = stopped !== null && stopped > data.fromMs && stopped < data.toMs;
  return {
    plot: [
      kind === "answers" && incident !== null
        ? area("unknown-tint", box(x(incident.beganMs), openTo, place.head, foot))
        : html``,
      stroke("rule", ticks.map((tick) => (tick === 0 ? "" : `M0 ${y(tick)}H${plotWidth}`)).join("")),
      stroke("ink-3", `M0 ${foot}H${plotWidth}`),
      stroke("fail", line(fail), html`stroke-width="1.25"`),
      stroke("warn", line(warn), html`stroke-width="1.25" stroke-dasharray="6 3"`),
      kind === "answers" ? html`` : stroke("ink-2", line(expected), dotted),
      stroke("ink", line(count), html`stroke-width="2" stroke-linejoin="round"`),
      // A round cap is a dot however much the plot is stretched.
      last === null || count.at(-1) === null
        ? html``
        : stroke("ink", `M${plotWidth} ${y(last)}h0`, html`stroke-width="6" stroke-linecap="round"`),
    ],
    over: [
      ...ticks.map((tick) => leftWord(y(tick), formatTick(tick))),
      isStopShown ? stopWord(x(stopped), foot - (foot - place.head) / 3, clockText(stopped)) : html``,
    ],
    ends: spread(kind === "answers" ? answerEnds(data, y) : deathEnds(data, y), foot),
  };
}

function stopWord(at: number, y: number, clock: string) {
  const isLeft = at > plotWidth * 0.3;
  const text = `the excess stopped ${clock}`;
  return word(at, toTenth(y), text, { className: isLeft ? "end wide" : "wide", dx: isLeft ? -8 : 8 });
}

/** "24 h"; "their windows" where they differ. */
export function windowWords({ windowHours }: Pick<ChartData, "windowHours">): string {
  return windowHours === null ? "their windows" : `${windowHours} h`;
}

function deathEnds(data: ChartData, y: (value: number) => number): EndValue[] {
  const end = (values: readonly (number | null)[], format: (value: number) => string, words: string): EndValue[] => {
    const value = lastOf(values);
    return value === null ? [] : [{ y: y(value), figure: format(value), words }];
  };
  const counted = end(data.count, formatCount, `in ${windowWords(data)}`);
  return [
    ...counted,
    // Nothing says whether it is many.
    ...(data.isThin ? counted.map(({ y }) => ({ y, figure: "", words: "expected: not known" })) : []),
    ...end(data.expected, formatExpected, "expected"),
    ...end(data.warn, formatExpected, "warn above"),
    ...end(data.fail, formatExpected, "fail above"),
  ];
}

function answerEnds(data: ChartData, y: (value: number) => number): EndValue[] {
  const [good, asked, since] = [lastOf(data.count), lastOf(data.expected), goodSince(data)];
  const words = since === null ? "good" : `good since ${formatInstant(since, data.nowMs)}`;
  return [
    ...(asked === null ? [] : [{ y: y(asked), figure: formatUsual(asked), words: "asked per minute" }]),
    ...(good === null ? [] : [{ y: y(good), figure: formatUsual(good), words }]),
  ];
}

/** Since when the answers per minute are none; null: there are some, or there were none before. */
export function goodSince({ at, count }: ChartData): number | null {
  const index = count.findLastIndex((value) => value !== null && value > 0);
  return index === -1 || index === count.length - 1 ? null : (at[index + 1] ?? null);
}

function spread(ends: readonly EndValue[], foot: number): EndValue[] {
  // Where several have the same height, the first one stays above.
  const places = spreadLabels(
    ends.map(({ y }, index) => y + index * 0.01),
    endGap,
    foot,
  );
  return ends.map((end, index) => ({ ...end, y: places[index] ?? end.y }));
}

/** Draws the deaths of each stretch, which stand on `foot`: red where they are excess while the incident is open. */
export function drawBars(
  data: ChartData,
  bars: ChartBars,
  place: { readonly head: number; readonly foot: number },
): ValuesDrawing {
  const { foot } = place;
  const x = timeScale(data);
  const peak = Math.max(0, ...bars.deaths, usualIn(data, bars.lengthMs) ?? 0);
  const top = Math.max(peak, 1);
  const y = (value: number): number => toTenth(foot - (value / top) * (foot - place.head));
  const drawn = bars.from.flatMap((fromMs, index) => {
    const deaths = bars.deaths[index] ?? 0;
    if (deaths === 0) return [];
    const endMs = barEnd(bars, index, data.toMs);
    const [left, right] = [x(fromMs), x(endMs)];
    const gap = Math.min(0.8, (right - left) * 0.07);
    const colour = isExcess(data, bars, index) ? "fail" : data.incident === null ? "edge" : "ink-3";
    const title = `${formatInstant(fromMs, data.nowMs)} to ${formatInstant(endMs, data.nowMs)}: ${countOf(deaths, "death")}`;
    return [area(colour, box(left + gap, right - gap, y(deaths), foot), title)];
  });
  const before = data.isThin ? perHourBefore(data) : null;
  const usual = data.isThin ? scaled(before, bars.lengthMs) : usualIn(data, bars.lengthMs);
  const known = x(data.knownFromMs ?? data.fromMs);
  const name = `deaths per ${lengthName(bars.lengthMs)}`;
  return {
    plot: [
      ...drawn,
      stroke("ink-3", `M0 ${foot}H${plotWidth}`),
      usual === null ? html`` : stroke("ink-2", `M${known} ${y(usual)}H${plotWidth}`, dotted),
    ],
    over: [
      leftWord(foot, "0"),
      peak === 0 ? html`` : leftWord(y(peak), formatTick(peak)),
      word(known, place.head - 12, name, known === 0 ? {} : { dx: 8 }),
    ],
    ends: spread(barEnds(data, { y, before, foot }), foot),
  };
}

function isExcess(data: ChartData, bars: ChartBars, index: number): boolean {
  const { incident, toMs } = data;
  if (incident === null) return false;
  const [fromMs, endMs] = [bars.from[index] ?? 0, barEnd(bars, index, toMs)];
  const lastMs = incident.stoppedMs ?? incident.endedMs ?? toMs;
  if (endMs <= incident.beganMs || fromMs > lastMs) return false;
  return (bars.deaths[index] ?? 0) > (usualIn(data, endMs - fromMs) ?? 0);
}

function barEnds(
  data: ChartData,
  { y, before, foot }: { readonly y: (value: number) => number; readonly before: number | null; readonly foot: number },
): EndValue[] {
  const { lately, bars } = data;
  if (bars === null) return [];
  if (lately === null) {
    const sum = bars.deaths.reduce((all, deaths) => all + deaths, 0);
    return [{ y: foot - 5, figure: formatCount(sum), words: "in this range" }];
  }
  const lengthMs = data.nowMs - lately.sinceMs;
  const usual = data.isThin ? null : usualIn(data, lengthMs);
  const since = lengthMs <= hourMs + minuteMs && data.incident?.stoppedMs !== lately.sinceMs;
  const ends = [
    {
      y: Math.min(y(lately.deaths * Math.min(1, bars.lengthMs / Math.max(lengthMs, minuteMs))), foot - 5),
      figure: formatCount(lately.deaths),
      words: `${since ? "in 1 h" : `since ${formatInstant(lately.sinceMs, data.nowMs)}`}${usual === null ? "" : `, usually ${formatUsual(usual)}`}`,
    },
  ];
  if (before !== null) ends.push({ y: foot - 5, figure: formatUsual(before), words: "an hour before it" });
  return ends;
}

/** 21:47, of another day "23 Nov 21:47". */
export function formatInstant(atMs: number, nowMs: number): string {
  const isToday = dayText(atMs) === dayText(nowMs);
  return isToday ? clockText(atMs) : `${dayText(atMs)} ${clockText(atMs)}`;
}

/** A mean beside whole numbers: 2.4, 9, 13. */
export function formatUsual(value: number): string {
  return value >= 9.95 ? formatCount(value) : formatExpected(value).replace(/\.0$/, "");
}

/** "5 min", "hour", "3 h", "day". */
export function lengthName(lengthMs: number): string {
  if (lengthMs < hourMs) return `${lengthMs / minuteMs} min`;
  if (lengthMs === hourMs) return "hour";
  const hours = lengthMs / hourMs;
  if (hours < 24) return `${hours} h`;
  return hours === 24 ? "day" : `${hours / 24} d`;
}

function scaled(perHour: number | null, lengthMs: number): number | null {
  return perHour === null ? null : (perHour * lengthMs) / hourMs;
}
