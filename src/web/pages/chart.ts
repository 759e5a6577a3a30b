import { formatCount, formatExpected } from "../../base/numbers.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { deathWords } from "../../contract/death-counts.ts";
import { clockText, countOf, dayText, timeText } from "../../words/numbers.ts";
import { formatTick } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import type { ChartData } from "../read/chart.ts";

type Values = readonly (number | null)[];

/** Part of a chart: what is stretched with it, and words and marks, which are not. */
interface Drawing {
  readonly plot: readonly Html[];
  readonly over: readonly Html[];
}

/** A value that the drawing shows, and how. */
interface Key {
  readonly line: "count" | "expected" | "warn" | "fail" | "bar";
  readonly figure: string;
  readonly words: string;
}

// The plot is stretched: it is a thousand units wide, and its heights are pixels.
const width = 1_000;
const head = 10;
const laneHeight = 26;

/** Renders the section with the chart: its name and ranges, its values, and the drawing. */
export function renderChart(data: ChartData): Html {
  const keys = keysOf(data);
  const { drawing, height } = drawChart(data);
  return html`<section class="part">
    <header>
      <h2>${data.kind === "answers" ? `Good answers of ${data.subject} per minute` : `Deaths of ${data.subject}`}</h2>
      <p class="switch row">
        ${data.ranges.map(({ name, href, isCurrent }) => html`<a href="${href}" ${isCurrent ? html`aria-current="true"` : nothing}>${name}</a> `)}
      </p>
    </header>
    <p class="keys">
      ${keys.map(({ line, figure, words }) => html`<span class="line-${line}"><b>${figure}</b> ${words}</span> `)}${data.isThin ? html`<span>expected: not known yet</span>` : nothing}
    </p>
    <svg class="chart" height="${height}" role="img" aria-label="${describeChart(data)}">
      <svg class="plot" viewBox="0 0 ${width} ${height}" height="${height}" preserveAspectRatio="none">
        ${drawing.plot}
      </svg>
      <svg class="over" height="${height}">${drawing.over}</svg>
    </svg>
  </section>`;
}

/** One sentence with the numbers of the chart, for who does not see it. */
export function describeChart(data: ChartData): string {
  const { subject, fromMs, toMs, nowMs, deaths, stepMs, knownFromMs } = data;
  const stoppedMs = data.incident?.stoppedMs ?? null;
  const most = Math.max(0, ...(deaths ?? []));
  const mostAtMs = fromMs + (deaths ?? []).indexOf(most) * stepMs;
  const facts = [
    ...keysOf(data).map(({ figure, words }) => `${figure} ${words}`),
    ...(most === 0 ? [] : [`${formatCount(most)} in the worst ${lengthText(stepMs)}, at ${timeText(mostAtMs, nowMs)}`]),
    ...(stoppedMs === null ? [] : [`nothing unusual since ${timeText(stoppedMs, nowMs)}`]),
    ...(knownFromMs === null ? [] : [`nothing is known before ${timeText(knownFromMs, nowMs)}`]),
  ];
  const name = data.kind === "answers" ? `Good answers of ${subject} per minute` : `Deaths of ${subject}`;
  return `${name} from ${timeText(fromMs, nowMs)} to ${timeText(toMs, nowMs)}: ${facts.join("; ")}`;
}

function keysOf({ kind, count, expected, warn, fail, deaths, usual, counting, windowHours, stepMs }: ChartData) {
  const key = (
    line: Key["line"],
    values: Values,
    words: string,
    format: (value: number) => string = formatExpected,
  ): Key[] => {
    const value = values.findLast((one) => one !== null);
    return value === undefined || value === null ? [] : [{ line, figure: format(value), words }];
  };
  if (kind === "answers")
    return [...key("count", count, "good", rateText), ...key("expected", expected, "asked for", rateText)];
  const window = windowHours === null ? "their windows" : `${windowHours} h`;
  return [
    ...key("count", count, `${counting === "assets" ? "dead assets " : ""}in ${window}`, formatCount),
    ...key("expected", expected, "expected"),
    ...key("warn", warn, "warns above"),
    ...key("fail", fail, "fails above"),
    ...key(
      "bar",
      deaths ?? [],
      `in ${lengthText(stepMs)}${usual === null ? "" : `, usually ${rateText(usual)}`}`,
      formatCount,
    ),
  ];
}

/** The parts from above: the count, the bars, when each began, what people did, the axis of time. */
function drawChart(data: ChartData): { readonly drawing: Drawing; readonly height: number } {
  const foot = head + (data.began.length > 0 ? 180 : 140);
  const barFoot = data.deaths === null ? foot : foot + 90;
  const lanes = [...(data.began.length === 0 ? [] : [drawBegan]), ...(shownActs(data).length === 0 ? [] : [drawActs])];
  const axis = barFoot + lanes.length * laneHeight + (lanes.length === 0 ? 0 : 16);
  const parts = [
    drawBackground(data, axis),
    drawCount(data, foot),
    ...(data.deaths === null ? [] : [drawBars(data, data.deaths, foot + 30, barFoot)]),
    ...lanes.map((draw, index) => draw(data, barFoot + 28 + index * laneHeight)),
    drawAxis(data, axis),
    { plot: [], over: drawTitles(data, barFoot) },
  ];
  return {
    drawing: { plot: parts.flatMap(({ plot }) => plot), over: parts.flatMap(({ over }) => over) },
    height: axis + 20,
  };
}

/** What lies behind all parts: the unknown past, deployments, and the end of the excess. */
function drawBackground(data: ChartData, axis: number): Drawing {
  const { knownFromMs, incident, nowMs } = data;
  const x = timeScale(data);
  const upright = (atMs: number): string => `M${x(atMs)} ${head}V${axis}`;
  const dashes = html`stroke-dasharray="2 3"`;
  const markers = shownActs(data).filter(({ mark }) => mark === "marker");
  const stoppedMs = incident?.stoppedMs ?? null;
  const isOpen = data.kind === "answers" && incident !== null;
  return {
    plot: [
      knownFromMs === null ? nothing : area("sunken", box(0, x(knownFromMs), head, axis)),
      isOpen ? area("unknown-tint", box(x(incident.beganMs), x(incident.endedMs ?? data.toMs), head, axis)) : nothing,
      stroke("edge", markers.map(({ atMs }) => upright(atMs)).join(""), dashes),
      stoppedMs === null || !isIn(data, stoppedMs) ? nothing : stroke("ink", upright(stoppedMs), dashes),
    ],
    over: knownFromMs === null ? [] : [word(0, head + 14, `known from ${timeText(knownFromMs, nowMs)}`, "wide")],
  };
}

function drawCount(data: ChartData, foot: number): Drawing {
  const { count, expected, warn, fail } = data;
  const { ticks, y } = valueScale(Math.max(0, ...[count, expected, warn, fail].flat().map((one) => one ?? 0)), foot);
  const line = (values: Values): string => linePath(data, values, y);
  return {
    plot: [
      stroke("rule", ticks.map((tick) => (tick === 0 ? "" : `M0 ${y(tick)}H${width}`)).join("")),
      stroke("ink-3", `M0 ${foot}H${width}`),
      stroke("fail", line(fail), html`stroke-width="1.25"`),
      stroke("warn", line(warn), html`stroke-width="1.25" stroke-dasharray="6 3"`),
      stroke("ink-2", line(expected), html`stroke-width="1.25" stroke-dasharray="1.5 3"`),
      stroke("ink", line(count), html`stroke-width="2" stroke-linejoin="round"`),
    ],
    over: ticks.map((tick) => leftWord(y(tick), formatTick(tick))),
  };
}

/** The deaths of each step: red where they are more than usual while the incident was open. */
function drawBars(data: ChartData, deaths: readonly number[], top: number, foot: number): Drawing {
  const { fromMs, stepMs, toMs, usual, incident } = data;
  const x = timeScale(data);
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
      usual === null ? nothing : stroke("ink-2", `M0 ${y(usual)}H${width}`, html`stroke-dasharray="1.5 3"`),
    ],
    over: [leftWord(foot, "0"), leftWord(top, formatTick(most)), word(0, top - 8, `deaths in ${lengthText(stepMs)}`)],
  };
}

/** A tick where each organization began. */
function drawBegan(data: ChartData, y: number): Drawing {
  const x = timeScale(data);
  const places = new Set(data.began.filter((atMs) => isIn(data, atMs)).map(x));
  return {
    plot: [stroke("rule", `M0 ${y}H${width}`), stroke("ink", [...places].map((at) => `M${at} ${y - 8}v16`).join(""))],
    over: [leftWord(y, "began")],
  };
}

function drawActs(data: ChartData, y: number): Drawing {
  const x = timeScale(data);
  const marks = shownActs(data).map(
    ({ atMs, mark, text }) =>
      html`<svg x="${percent(x(atMs))}" y="${y}" overflow="visible">
        <title>${text} ${timeText(atMs, data.nowMs)}</title>
        <use href="#m-${mark}" x="-7" y="-7" width="14" height="14" />
      </svg>`,
  );
  return { plot: [stroke("rule", `M0 ${y}H${width}`)], over: [leftWord(y, "acts"), ...marks] };
}

const tickSteps = [5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080, 20_160].map((minutes) => minutes * minuteMs);
const mostTicks = 8;

function drawAxis(data: ChartData, axis: number): Drawing {
  const { fromMs, toMs } = data;
  const x = timeScale(data);
  const stepMs = tickSteps.find((one) => (toMs - fromMs) / one <= mostTicks) ?? 20_160 * minuteMs;
  const ticks: number[] = [];
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs) ticks.push(atMs);
  return {
    plot: [
      stroke("ink-3", `M0 ${axis}H${width}`),
      stroke("ink-3", ticks.map((atMs) => `M${x(atMs)} ${axis}v4`).join("")),
    ],
    // On a narrow page there is room for half of many.
    over: ticks.map((atMs, index) =>
      word(
        x(atMs),
        axis + 17,
        atMs % dayMs === 0 ? dayText(atMs) : clockText(atMs),
        ticks.length > 5 && index % 2 === 0 ? "mid wide" : "mid",
      ),
    ),
  };
}

/** What each step holds, in words, where the pointer is on it. */
function drawTitles(
  { count, expected, deaths, kind, counting, windowHours, ...data }: ChartData,
  foot: number,
): Html[] {
  const { fromMs, stepMs, nowMs } = data;
  const x = timeScale(data);
  return count.map((value, index) => {
    const startMs = fromMs + index * stepMs;
    const [left, right] = [x(startMs), x(startMs + stepMs)];
    const counts = { currentCount: value, expectedCount: expected[index] ?? null, counting };
    const good = value === null ? "not known yet" : `${rateText(value)} good answers per minute`;
    const facts = [
      deaths === null ? null : countOf(deaths[index] ?? 0, "death"),
      kind === "answers" ? good : deathWords(counts, windowHours),
    ].filter((fact) => fact !== null);
    const title = `${timeText(startMs, nowMs)}, ${lengthText(stepMs)}: ${facts.join("; ") || "not known"}`;
    return html`<rect
      class="step"
      x="${percent(left)}"
      y="${head}"
      width="${percent(right - left)}"
      height="${foot - head}"
    >
      <title>${title}</title>
    </rect>`;
  });
}

function shownActs(data: ChartData): ChartData["acts"] {
  return data.acts.filter(({ atMs }) => isIn(data, atMs));
}

function isIn({ fromMs, toMs }: Pick<ChartData, "fromMs" | "toMs">, atMs: number): boolean {
  return atMs >= fromMs && atMs <= toMs;
}

function timeScale({ fromMs, toMs }: Pick<ChartData, "fromMs" | "toMs">): (atMs: number) => number {
  return (atMs) => tenth(Math.min(Math.max((atMs - fromMs) / (toMs - fromMs), 0), 1) * width);
}

/** The scale of counts up to `peak`, with a few round ticks; heights grow downwards. */
function valueScale(peak: number, foot: number): { readonly ticks: number[]; readonly y: (value: number) => number } {
  const raw = Math.max(peak, 1) / 3;
  const power = 10 ** Math.floor(Math.log10(raw));
  // Deaths are whole.
  const step = Math.max(1, ([1, 2, 5].find((one) => one * power >= raw) ?? 10) * power);
  const top = Math.max(peak * 1.05, step);
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
  return { ticks, y: (value) => tenth(foot - (value / top) * (foot - head)) };
}

/** A line through the values at the ends of their steps; a null is a gap. */
function linePath(data: ChartData, values: Values, y: (value: number) => number): string {
  const { fromMs, toMs, stepMs } = data;
  const x = timeScale(data);
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const [startMs, endMs] = [fromMs + index * stepMs, Math.min(fromMs + (index + 1) * stepMs, toMs)];
    const isNew = (values[index - 1] ?? null) === null;
    path += isNew ? `M${x(startMs)} ${y(value)}H${x(endMs)}` : `L${x(endMs)} ${y(value)}`;
  }
  return path;
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

/** "5 min", "hour", "3 h", "day". */
function lengthText(lengthMs: number): string {
  if (lengthMs < hourMs) return `${lengthMs / minuteMs} min`;
  if (lengthMs < dayMs) return lengthMs === hourMs ? "1 h" : `${lengthMs / hourMs} h`;
  return "a day";
}
