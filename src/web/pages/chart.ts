import { formatCount, formatExpected } from "../../base/numbers.ts";
import { dayMs, hourMs, minuteMs } from "../../base/time.ts";
import { clockText, dayText, timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "./html.ts";
import { chartRanges, type ChartData, type ChartRange } from "../read/chart.ts";
import { withParams } from "./table.ts";

type Values = ChartData["count"];

// The plot is stretched: its width is a thousand units, its heights are pixels.
const width = 1_000;
const head = 10;
const laneHeight = 26;
const dashes = html`stroke-dasharray="2 3"`;
const dots = html`stroke-width="1.25" stroke-dasharray="1.5 3"`;

/** Renders the section of a chart: name, ranges, values and drawing. */
export function renderChart(data: ChartData, path: string, params: URLSearchParams): Html {
  const { plot, over, height } = drawChart(data);
  const ranges = (Object.keys(chartRanges) as ChartRange[]).filter(
    (key) => key !== "incident" || data.incident !== null,
  );
  const choices = ranges.map((key) => {
    const href = withParams(path, params, { range: key === "incident" ? null : key });
    const words = key === "incident" ? "this incident" : key.replace(/(\d+)/, "$1 ");
    return html`<a href="${href}" ${key === data.range ? html` aria-current="true"` : nothing}>${words}</a> `;
  });
  const keys = keysOf(data).map(
    ({ line, figure, words }) => html`<span class="line-${line}"><b>${figure}</b> ${words}</span> `,
  );
  return html`<section class="part">
    <header>
      <h2>${nameOf(data)}</h2>
      <nav class="switch row" aria-label="Range">${choices}</nav>
    </header>
    <p class="keys">${keys}${data.isThin ? html`<span>expected: not known yet</span>` : nothing}</p>
    <svg class="chart" height="${height}" role="img" aria-label="${describeChart(data)}">
      <svg class="plot" viewBox="0 0 ${width} ${height}" height="${height}" preserveAspectRatio="none">${plot}</svg>
      <svg class="over" height="${height}">${over}</svg>
    </svg>
  </section>`;
}

function nameOf({ kind, subject }: ChartData): string {
  return kind === "answers" ? `Good answers of ${subject} per minute` : `Deaths of ${subject}`;
}

/** Returns one sentence with the chart's numbers, for screen readers. */
export function describeChart(data: ChartData): string {
  const { fromMs, toMs, nowMs } = data;
  return `${nameOf(data)} from ${timeText(fromMs, nowMs)} to ${timeText(toMs, nowMs)}: ${keyWords(keysOf(data))}`;
}

function keyWords(keys: ReturnType<typeof keysOf>): string {
  return keys.map(({ figure, words }) => `${figure} ${words}`).join("; ");
}

/** Returns each line's value in a step (default: the last known one) and its label. */
function keysOf(
  { kind, count, expected, warn, fail, deaths, usual, counting, windowHours, stepMs }: ChartData,
  step?: number,
) {
  const key = (line: string, values: Values, words: string, format: (value: number) => string = formatExpected) => {
    const value = step === undefined ? values.findLast((one) => one !== null) : values[step];
    return value === null || value === undefined ? [] : [{ line, figure: format(value), words }];
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

type Scale = (value: number) => number;

/** A drawing in progress: `plot` is stretched to the page's width, `over` holds words and marks and is not. */
interface Paper {
  readonly plot: Html[];
  readonly over: Html[];
  /** Returns the horizontal place of an instant. */
  readonly x: Scale;
}

/** Draws from the top: the count, the bars, each onset, people's acts, the time axis. */
function drawChart(data: ChartData) {
  const { deaths, fromMs, toMs } = data;
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
  const [began, acts] = [data.began.filter(isIn), data.acts.filter(({ atMs }) => isIn(atMs))];
  const foot = head + (data.began.length > 0 ? 180 : 140);
  const barFoot = deaths === null ? foot : foot + 90;
  const lanes = [data.began, acts].filter(({ length }) => length > 0).length;
  const axis = barFoot + lanes * laneHeight + (lanes === 0 ? 0 : 16);
  const x: Scale = (atMs) => tenth(Math.min(Math.max((atMs - fromMs) / (toMs - fromMs), 0), 1) * width);
  const paper: Paper = { plot: [], over: [], x };
  const { plot, over } = paper;
  const lane = (y: number, name: string): void => {
    plot.push(stroke("rule", `M0 ${y}H${width}`));
    over.push(leftWord(y, name));
  };
  drawBackground(paper, data, axis);
  drawCount(paper, data, foot);
  if (deaths !== null) drawBars(paper, data, deaths, foot + 30);
  let y = barFoot + 28;
  if (data.began.length > 0) {
    lane(y, "began");
    plot.push(stroke("ink", [...new Set(began.map(x))].map((at) => `M${at} ${y - 8}v16`).join("")));
    y += laneHeight;
  }
  if (acts.length > 0) lane(y, "acts");
  for (const { atMs, mark, text } of acts)
    over.push(
      html`<svg x="${percent(x(atMs))}" y="${y}" overflow="visible">
        <title>${text} ${timeText(atMs, data.nowMs)}</title>
        <use href="#m-${mark}" x="-7" y="-7" width="14" height="14" />
      </svg>`,
    );
  drawAxis(paper, data, axis);
  drawTitles(paper, data, barFoot);
  return { plot, over, height: axis + 20 };
}

/** Draws the unknown past, the deployments, and the end of the excess behind the other parts. */
function drawBackground(
  { plot, over, x }: Paper,
  { knownFromMs, incident, acts, nowMs, kind, fromMs, toMs }: ChartData,
  axis: number,
): void {
  const upright = (atMs: number): string => (atMs < fromMs || atMs > toMs ? "" : `M${x(atMs)} ${head}V${axis}`);
  const stoppedMs = incident?.stoppedMs ?? null;
  const markersMs = acts.flatMap(({ mark, atMs }) => (mark === "marker" ? [atMs] : []));
  if (knownFromMs !== null) {
    plot.push(area("sunken", box(0, x(knownFromMs), head, axis)));
    over.push(word(0, head + 14, `known from ${timeText(knownFromMs, nowMs)}`, "wide"));
  }
  if (kind === "answers" && incident !== null)
    plot.push(area("unknown-tint", box(x(incident.beganMs), x(incident.endedMs ?? toMs), head, axis)));
  plot.push(stroke("edge", markersMs.map(upright).join(""), dashes));
  if (stoppedMs !== null) plot.push(stroke("ink", upright(stoppedMs), dashes));
}

function drawCount({ plot, over, x }: Paper, data: ChartData, foot: number): void {
  const { count, expected, warn, fail, fromMs, stepMs, ends } = data;
  const peak = Math.max(0, ...[count, expected, warn, fail].flat().map((one) => one ?? 0));
  const raw = Math.max(peak, 1) / 3;
  const power = 10 ** Math.floor(Math.log10(raw));
  // Deaths are whole numbers.
  const step = Math.max(1, ([1, 2, 5].find((one) => one * power >= raw) ?? 10) * power);
  const top = Math.max(peak * 1.05, step);
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
  const y = scaleOf(top, head, foot);
  /** Draws through the value at each step's end; null: a gap. */
  const line = (values: Values): string =>
    values
      .map((value, index) => {
        if (value === null) return "";
        const end = x(ends[index] ?? 0);
        const isNew = (values[index - 1] ?? null) === null;
        return isNew ? `M${x(fromMs + index * stepMs)} ${y(value)}H${end}` : `L${end} ${y(value)}`;
      })
      .join("");
  plot.push(
    stroke("rule", ticks.map((tick) => (tick === 0 ? "" : `M0 ${y(tick)}H${width}`)).join("")),
    stroke("ink-3", `M0 ${foot}H${width}`),
    stroke("fail", line(fail), html`stroke-width="1.25"`),
    stroke("warn", line(warn), html`stroke-width="1.25" stroke-dasharray="6 3"`),
    stroke("ink-2", line(expected), dots),
    stroke("ink", line(count), html`stroke-width="2" stroke-linejoin="round"`),
  );
  over.push(...ticks.map((tick) => leftWord(y(tick), formatTick(tick))));
}

/** Draws the deaths of each step; red: more than usual while the incident was open. */
function drawBars({ plot, over, x }: Paper, data: ChartData, deaths: readonly number[], top: number): void {
  const { fromMs, stepMs, toMs, usual, incident } = data;
  const foot = top + 60;
  const most = Math.max(1, ...deaths, usual ?? 0);
  const y = scaleOf(most, top, foot);
  const boxes = { fail: "", edge: "" };
  const lastMs = incident?.stoppedMs ?? incident?.endedMs ?? toMs;
  for (const [index, count] of deaths.entries()) {
    if (count === 0) continue;
    const startMs = fromMs + index * stepMs;
    const isOpen = incident !== null && startMs + stepMs > incident.beganMs && startMs <= lastMs;
    const [left, right] = [x(startMs), x(startMs + stepMs)];
    const gap = Math.min(0.8, (right - left) * 0.07);
    boxes[isOpen && count > (usual ?? 0) ? "fail" : "edge"] += box(left + gap, right - gap, y(count), foot);
  }
  plot.push(area("edge", boxes.edge), area("fail", boxes.fail), stroke("ink-3", `M0 ${foot}H${width}`));
  if (usual !== null) plot.push(stroke("ink-2", `M0 ${y(usual)}H${width}`, dots));
  over.push(leftWord(foot, "0"), leftWord(top, formatTick(most)), word(0, top - 8, `deaths in ${lengthText(stepMs)}`));
}

const tickSteps = [5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080, 20_160].map((minutes) => minutes * minuteMs);
const mostTicks = 8;

function drawAxis({ plot, over, x }: Paper, { fromMs, toMs }: ChartData, axis: number): void {
  const stepMs = tickSteps.find((one) => (toMs - fromMs) / one <= mostTicks) ?? 20_160 * minuteMs;
  const ticks: number[] = [];
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs < toMs; atMs += stepMs) ticks.push(atMs);
  // A narrow page has room for half of the labels.
  const kind = (index: number): string => (ticks.length > 5 && index % 2 === 0 ? "mid wide" : "mid");
  const time = (atMs: number): string => (atMs % dayMs === 0 ? dayText(atMs) : clockText(atMs));
  plot.push(stroke("ink-3", [`M0 ${axis}H${width}`, ...ticks.map((atMs) => `M${x(atMs)} ${axis}v4`)].join("")));
  over.push(...ticks.map((atMs, index) => word(x(atMs), axis + 17, time(atMs), kind(index))));
}

/** Adds each step's values as a tooltip. */
function drawTitles({ over, x }: Paper, data: ChartData, foot: number): void {
  const { ends, fromMs, stepMs, nowMs } = data;
  for (const index of ends.keys()) {
    const [left, right] = [x(fromMs + index * stepMs), x(fromMs + (index + 1) * stepMs)];
    const words = keyWords(keysOf(data, index)) || "not known";
    over.push(
      html`<rect x="${percent(left)}" y="${head}" width="${percent(right - left)}" height="${foot - head}" opacity="0">
        <title>${timeText(fromMs + index * stepMs, nowMs)}: ${words}</title>
      </rect>`,
    );
  }
}

function scaleOf(most: number, top: number, foot: number): Scale {
  return (value) => tenth(foot - (value / most) * (foot - top));
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

/** Formats a number for an axis: 5,000, 10k, 250k, 2M. */
export function formatTick(value: number): string {
  if (value >= 1_000_000) return `${Math.round(value / 100_000) / 10}M`;
  return value >= 10_000 ? `${Math.round(value / 100) / 10}k` : formatCount(value);
}

/** Formats a mean next to whole numbers: 2.4, 9, 13. */
function rateText(value: number): string {
  return value >= 9.95 ? formatCount(value) : formatExpected(value).replace(/\.0$/, "");
}

/** "5 min", "1 h", "a day". */
function lengthText(lengthMs: number): string {
  if (lengthMs < hourMs) return `${lengthMs / minuteMs} min`;
  return lengthMs < dayMs ? `${lengthMs / hourMs} h` : "a day";
}
