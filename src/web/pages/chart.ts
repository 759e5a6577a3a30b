import { formatCount, formatExpected } from "../../base/numbers.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { clockText, countOf, dayText, timeText } from "../../words/numbers.ts";
import { formatTick } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { chartRanges, type ChartData, type ChartRange } from "../read/chart.ts";
import { renderSwitch, withParams } from "./table.ts";

type Values = ChartData["count"];

/** Part of a chart: what is stretched with it, and words and marks, which are not. */
interface Drawing {
  readonly plot: readonly Html[];
  readonly over: readonly Html[];
}

// The plot is stretched: it is a thousand units wide, and its heights are pixels.
const width = 1_000;
const head = 10;
const laneHeight = 26;
const dashes = html`stroke-dasharray="2 3"`;
const dots = html`stroke-width="1.25" stroke-dasharray="1.5 3"`;

/** Renders the section with the chart: its name and ranges, its values, and the drawing. `path` is the page's. */
export function renderChart(data: ChartData, path: string, params: URLSearchParams): Html {
  const { drawing, height } = drawChart(data);
  const ranges = (Object.keys(chartRanges) as ChartRange[]).filter(
    (key) => key !== "incident" || data.incident !== null,
  );
  const choices = ranges.map((key) => ({
    words: key === "incident" ? "this incident" : key.replace(/(\d+)/, "$1 "),
    href: withParams(path, params, { range: key === "incident" ? null : key }),
    isChosen: key === data.range,
  }));
  const keys = keysOf(data).map(
    ({ line, figure, words }) => html`<span class="line-${line}"><b>${figure}</b> ${words}</span> `,
  );
  return html`<section class="part">
    <header>
      <h2>${nameOf(data)}</h2>
      ${renderSwitch(choices, "Range")}
    </header>
    <p class="keys">${keys}${data.isThin ? html`<span>expected: not known yet</span>` : nothing}</p>
    <svg class="chart" height="${height}" role="img" aria-label="${describeChart(data)}">
      <svg class="plot" viewBox="0 0 ${width} ${height}" height="${height}" preserveAspectRatio="none">
        ${drawing.plot}
      </svg>
      <svg class="over" height="${height}">${drawing.over}</svg>
    </svg>
  </section>`;
}

function nameOf({ kind, subject }: ChartData): string {
  return kind === "answers" ? `Good answers of ${subject} per minute` : `Deaths of ${subject}`;
}

/** One sentence with the numbers of the chart, for who does not see it. */
export function describeChart(data: ChartData): string {
  const { fromMs, toMs, nowMs, deaths, stepMs, knownFromMs, incident } = data;
  const stoppedMs = incident?.stoppedMs ?? null;
  const most = Math.max(0, ...(deaths ?? []));
  const mostAtMs = fromMs + (deaths ?? []).indexOf(most) * stepMs;
  const facts = [
    ...keysOf(data).map(({ figure, words }) => `${figure} ${words}`),
    ...(most === 0 ? [] : [`${formatCount(most)} in the worst ${lengthText(stepMs)}, at ${timeText(mostAtMs, nowMs)}`]),
    ...(stoppedMs === null ? [] : [`nothing unusual since ${timeText(stoppedMs, nowMs)}`]),
    ...(knownFromMs === null ? [] : [`nothing is known before ${timeText(knownFromMs, nowMs)}`]),
  ];
  return `${nameOf(data)} from ${timeText(fromMs, nowMs)} to ${timeText(toMs, nowMs)}: ${facts.join("; ")}`;
}

/** The last value of each line, and what it is of. */
function keysOf({ kind, count, expected, warn, fail, deaths, usual, counting, windowHours, stepMs }: ChartData) {
  const key = (line: string, values: Values, words: string, format: (value: number) => string = formatExpected) => {
    const value = values.findLast((one) => one !== null) ?? null;
    return value === null ? [] : [{ line, figure: format(value), words }];
  };
  if (kind === "answers")
    return [...key("count", count, "good", rateText), ...key("expected", expected, "asked for", rateText)];
  const window = windowHours === null ? "their windows" : `${windowHours} h`;
  const usually = usual === null ? "" : `, usually ${rateText(usual)}`;
  return [
    ...key("count", count, `${counting === "assets" ? "dead assets " : ""}in ${window}`, formatCount),
    ...key("expected", expected, "expected"),
    ...key("warn", warn, "warns above"),
    ...key("fail", fail, "fails above"),
    ...key("bar", deaths ?? [], `in ${lengthText(stepMs)}${usually}`, formatCount),
  ];
}

/** The parts from above: the count, the bars, when each began, what people did, the axis of time. */
function drawChart(data: ChartData): { readonly drawing: Drawing; readonly height: number } {
  const { began, deaths, acts, fromMs, toMs, nowMs } = data;
  const x = (atMs: number): number => tenth(Math.min(Math.max((atMs - fromMs) / (toMs - fromMs), 0), 1) * width);
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
  const shown = acts.filter(({ atMs }) => isIn(atMs));
  const foot = head + (began.length > 0 ? 180 : 140);
  const barFoot = deaths === null ? foot : foot + 90;
  const lanes: ((y: number) => Drawing)[] = [];
  if (began.length > 0)
    lanes.push((y) => {
      const ticks = [...new Set(began.filter(isIn).map(x))].map((at) => `M${at} ${y - 8}v16`);
      return {
        plot: [stroke("rule", `M0 ${y}H${width}`), stroke("ink", ticks.join(""))],
        over: [leftWord(y, "began")],
      };
    });
  if (shown.length > 0)
    lanes.push((y) => {
      const marks = shown.map(
        ({ atMs, mark, text }) =>
          html`<svg x="${percent(x(atMs))}" y="${y}" overflow="visible">
            <title>${text} ${timeText(atMs, nowMs)}</title>
            <use href="#m-${mark}" x="-7" y="-7" width="14" height="14" />
          </svg>`,
      );
      return { plot: [stroke("rule", `M0 ${y}H${width}`)], over: [leftWord(y, "acts"), ...marks] };
    });
  const axis = barFoot + lanes.length * laneHeight + (lanes.length === 0 ? 0 : 16);
  const markersMs = shown.flatMap(({ mark, atMs }) => (mark === "marker" ? [atMs] : []));
  const parts = [
    drawBackground(data, { x, axis, markersMs }),
    drawCount(data, x, foot),
    ...(deaths === null ? [] : [drawBars(data, deaths, { x, top: foot + 30, foot: barFoot })]),
    ...lanes.map((draw, index) => draw(barFoot + 28 + index * laneHeight)),
    drawAxis(data, x, axis),
    drawTitles(data, x, barFoot),
  ];
  return {
    drawing: { plot: parts.flatMap(({ plot }) => plot), over: parts.flatMap(({ over }) => over) },
    height: axis + 20,
  };
}

type Scale = (value: number) => number;

/** What lies behind all parts: the unknown past, deployments, and the end of the excess. */
function drawBackground(
  { knownFromMs, incident, nowMs, kind, fromMs, toMs }: ChartData,
  { x, axis, markersMs }: { readonly x: Scale; readonly axis: number; readonly markersMs: readonly number[] },
): Drawing {
  const upright = (atMs: number): string => `M${x(atMs)} ${head}V${axis}`;
  const stoppedMs = incident?.stoppedMs ?? null;
  const isOpen = kind === "answers" && incident !== null;
  return {
    plot: [
      knownFromMs === null ? nothing : area("sunken", box(0, x(knownFromMs), head, axis)),
      isOpen ? area("unknown-tint", box(x(incident.beganMs), x(incident.endedMs ?? toMs), head, axis)) : nothing,
      stroke("edge", markersMs.map(upright).join(""), dashes),
      stoppedMs === null || stoppedMs < fromMs || stoppedMs > toMs
        ? nothing
        : stroke("ink", upright(stoppedMs), dashes),
    ],
    over: knownFromMs === null ? [] : [word(0, head + 14, `known from ${timeText(knownFromMs, nowMs)}`, "wide")],
  };
}

function drawCount({ count, expected, warn, fail, fromMs, stepMs, ends }: ChartData, x: Scale, foot: number): Drawing {
  const peak = Math.max(0, ...[count, expected, warn, fail].flat().map((one) => one ?? 0));
  const raw = Math.max(peak, 1) / 3;
  const power = 10 ** Math.floor(Math.log10(raw));
  // Deaths are whole.
  const step = Math.max(1, ([1, 2, 5].find((one) => one * power >= raw) ?? 10) * power);
  const top = Math.max(peak * 1.05, step);
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
  const y = (value: number): number => tenth(foot - (value / top) * (foot - head));
  /** Through the values at the ends of their steps; a null is a gap. */
  const line = (values: Values): string =>
    values
      .map((value, index) => {
        if (value === null) return "";
        const end = x(ends[index] ?? 0);
        const isNew = (values[index - 1] ?? null) === null;
        return isNew ? `M${x(fromMs + index * stepMs)} ${y(value)}H${end}` : `L${end} ${y(value)}`;
      })
      .join("");
  return {
    plot: [
      stroke("rule", ticks.map((tick) => (tick === 0 ? "" : `M0 ${y(tick)}H${width}`)).join("")),
      stroke("ink-3", `M0 ${foot}H${width}`),
      stroke("fail", line(fail), html`stroke-width="1.25"`),
      stroke("warn", line(warn), html`stroke-width="1.25" stroke-dasharray="6 3"`),
      stroke("ink-2", line(expected), dots),
      stroke("ink", line(count), html`stroke-width="2" stroke-linejoin="round"`),
    ],
    over: ticks.map((tick) => leftWord(y(tick), formatTick(tick))),
  };
}

/** The deaths of each step: red where they are more than usual while the incident was open. */
function drawBars(
  { fromMs, stepMs, toMs, usual, incident }: ChartData,
  deaths: readonly number[],
  { x, top, foot }: { readonly x: Scale; readonly top: number; readonly foot: number },
): Drawing {
  const most = Math.max(1, ...deaths, usual ?? 0);
  const y = (value: number): number => tenth(foot - (value / most) * (foot - top));
  const boxes: Record<"fail" | "edge", string[]> = { fail: [], edge: [] };
  const lastMs = incident?.stoppedMs ?? incident?.endedMs ?? toMs;
  for (const [index, count] of deaths.entries()) {
    if (count === 0) continue;
    const startMs = fromMs + index * stepMs;
    const isOpen = incident !== null && startMs + stepMs > incident.beganMs && startMs <= lastMs;
    const [left, right] = [x(startMs), x(startMs + stepMs)];
    const gap = Math.min(0.8, (right - left) * 0.07);
    boxes[isOpen && count > (usual ?? 0) ? "fail" : "edge"].push(box(left + gap, right - gap, y(count), foot));
  }
  return {
    plot: [
      area("edge", boxes.edge.join("")),
      area("fail", boxes.fail.join("")),
      stroke("ink-3", `M0 ${foot}H${width}`),
      usual === null ? nothing : stroke("ink-2", `M0 ${y(usual)}H${width}`, dots),
    ],
    over: [leftWord(foot, "0"), leftWord(top, formatTick(most)), word(0, top - 8, `deaths in ${lengthText(stepMs)}`)],
  };
}

const tickSteps = [5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080, 20_160].map((minutes) => minutes * minuteMs);
const mostTicks = 8;

function drawAxis({ fromMs, toMs }: ChartData, x: Scale, axis: number): Drawing {
  const stepMs = tickSteps.find((one) => (toMs - fromMs) / one <= mostTicks) ?? 20_160 * minuteMs;
  const ticks: number[] = [];
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs) ticks.push(atMs);
  // On a narrow page there is room for half of many.
  const kind = (index: number): string => (ticks.length > 5 && index % 2 === 0 ? "mid wide" : "mid");
  const time = (atMs: number): string => (atMs % dayMs === 0 ? dayText(atMs) : clockText(atMs));
  return {
    plot: [
      stroke("ink-3", `M0 ${axis}H${width}`),
      stroke("ink-3", ticks.map((atMs) => `M${x(atMs)} ${axis}v4`).join("")),
    ],
    over: ticks.map((atMs, index) => word(x(atMs), axis + 17, time(atMs), kind(index))),
  };
}

/** What each step holds, in words, where the pointer is on it. */
function drawTitles(
  { count, expected, deaths, kind, counting, windowHours, fromMs, stepMs, nowMs }: ChartData,
  x: Scale,
  foot: number,
): Drawing {
  const over = count.map((value, index) => {
    const startMs = fromMs + index * stepMs;
    const [left, right] = [x(startMs), x(startMs + stepMs)];
    const counts = { currentCount: value, expectedCount: expected[index] ?? null, counting };
    const good = value === null ? "not known yet" : `${rateText(value)} good answers per minute`;
    const facts = [
      ...(deaths === null ? [] : [countOf(deaths[index] ?? 0, "death")]),
      ...[(kind === "answers" ? good : deathWords(counts, windowHours)) ?? []].flat(),
    ];
    const place = html`x="${percent(left)}" y="${head}" width="${percent(right - left)}" height="${foot - head}"`;
    return html`<rect class="step" ${place}>
      <title>${timeText(startMs, nowMs)}, ${lengthText(stepMs)}: ${facts.join("; ") || "not known"}</title>
    </rect>`;
  });
  return { plot: [], over };
}

function stroke(colour: string, path: string, more: Html = nothing): Html {
  return path === "" ? nothing : html`<path stroke="var(--${colour})" ${more} d="${path}" />`;
}

function area(colour: string, path: string): Html {
  return path === "" ? nothing : html`<path fill="var(--${colour})" d="${path}" />`;
}

function box(left: number, right: number, top: number, foot: number): string {
  return `M${tenth(left)} ${foot}V${top}H${tenth(right)}V${foot}z`;
}

function word(at: number, y: number, text: string, kind = ""): Html {
  return html`<text class="${kind}" x="${percent(at)}" y="${y}">${text}</text>`;
}

function leftWord(y: number, text: string): Html {
  return html`<text class="end" x="-12" y="${tenth(y + 4)}">${text}</text>`;
}

function percent(at: number): string {
  return `${tenth(at) / 10}%`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A mean beside whole numbers: 2.4, 9, 13. */
function rateText(value: number): string {
  return value >= 9.95 ? formatCount(value) : formatExpected(value).replace(/\.0$/, "");
}

/** "5 min", "1 h", "a day". */
function lengthText(lengthMs: number): string {
  if (lengthMs < hourMs) return `${lengthMs / minuteMs} min`;
  return lengthMs < dayMs ? `${lengthMs / hourMs} h` : "a day";
}
