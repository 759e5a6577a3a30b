import { bandsOf, peakOf, positionOf, spreadLabels, ticksOf, timeTicks, type ChartData } from "./chart-data.ts";
import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { formatClock, formatDay, formatTick } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import type { RowSeverity } from "../parts/marks.ts";

/** What happened to the alert, for the lanes. Times are epoch ms. */
export interface LaneEvent {
  readonly atMs: number;
  readonly event: string;
  readonly severity: RowSeverity;
}

/** What was sent: accepted or not. */
export interface LaneDelivery {
  readonly atMs: number;
  readonly isAccepted: boolean;
}

/** What people marked: a rollout, a deployment. */
export interface LaneMarker {
  readonly atMs: number;
  readonly text: string;
}

/** A stretch of the alert's life, for the lane. */
export interface LaneSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: "pending" | "firing" | "silenced";
}

const unitWidth = 1_000;
const plotHeight = 268;
const labelGap = 15;

/** Renders the chart as the server draws it; the browser's takes its place at the same size. */
export function renderChart(data: ChartData): Html {
  const peak = peakOf(data);
  const x = (atMs: number): number => round(((atMs - data.fromMs) / (data.toMs - data.fromMs)) * unitWidth);
  const y = (value: number): number => round(plotHeight - positionOf(value, peak, data.scale) * (plotHeight - 8));
  const bands = bandsOf(data).filter(({ severity }) => severity !== "ok");
  const path = (values: readonly (number | null)[]): string => stepPath(data, values, x, y);
  const ticks = ticksOf(peak, data.scale);
  const times = timeTicks(data.fromMs, data.toMs);
  const lines = [
    { css: "expected", values: data.expected, name: "expected", text: formatExpected },
    { css: "warn", values: data.warn, name: "warn above", text: formatExpected },
    { css: "fail", values: data.fail, name: "fail above", text: formatExpected },
    { css: "count", values: data.count, name: "count", text: formatCount },
  ].map((line) => ({ ...line, last: line.values.at(-1) ?? null }));
  const ends = lines.flatMap((line) => (line.last === null ? [] : [{ ...line, last: line.last }]));
  const places = spreadLabels(
    ends.map(({ last }) => y(last)),
    labelGap,
    plotHeight,
  );
  const lastCount = data.count.at(-1) ?? null;
  return html`<div class="chart" role="img" aria-label="Count against expected; the table below has the numbers">
    <svg class="plot" height="${plotHeight}" viewBox="0 0 ${unitWidth} ${plotHeight}" preserveAspectRatio="none">
      ${bands.map(({ severity, fromMs, toMs }) => html`<rect class="band ${severity}" x="${x(fromMs)}" y="0" width="${round(Math.max(1, x(toMs) - x(fromMs)))}" height="${plotHeight}" />`)}${ticks.map((tick) => html`<path class="grid" d="M0 ${y(tick)}H${unitWidth}" />`)}${times.filter(({ isDay }) => isDay).map(({ atMs }) => html`<path class="day" d="M${x(atMs)} 0V${plotHeight}" />`)}
      <path class="axis" d="M0 ${plotHeight}H${unitWidth}" />
      ${lines.map(({ css, values }) => html`<path class="l-${css}" d="${path(values)}" />`)}</svg
    ><svg class="plot" height="300">
      ${times.map(({ atMs, isDay }) => (x(atMs) > unitWidth - 40 ? nothing : html`<text x="${round(x(atMs) / 10)}%" y="286" text-anchor="middle">${isDay ? formatDay(atMs) : formatClock(atMs)}</text>`))}
      <text x="100%" y="286" text-anchor="middle">now</text>
      ${lastCount === null ? nothing : html`<circle class="dot ${data.severity.at(-1) ?? "ok"}" cx="100%" cy="${y(lastCount)}" r="3.5" />`}</svg
    ><svg class="left" width="44" height="300">
      ${ticks.map((tick) => html`<text x="38" y="${y(tick) + 4}" text-anchor="end">${formatTick(tick)}</text>`)}</svg
    ><svg class="right" width="142" height="300">
      ${ends.map(({ css, name, text, last }, index) => html`<text class="end e-${css}" x="4" y="${round((places[index] ?? 0) + 4)}"><tspan class="b">${text(last)}</tspan> ${name}</text>`)}
    </svg>
  </div>`;
}

/** What the lanes show. */
export interface Lanes {
  readonly spans: readonly LaneSpan[];
  readonly events: readonly LaneEvent[];
  readonly sent: readonly LaneDelivery[];
  readonly markers: readonly LaneMarker[];
}

/** State, alert, what was sent and, where there is any, what was marked, under the axis of the chart: of its range, or of a zoom. */
export function renderLanes(data: ChartData, lanes: Lanes): Html {
  const within = (atMs: number): number => Math.min(Math.max(atMs, data.fromMs), data.toMs);
  const x = (atMs: number): number => round(((within(atMs) - data.fromMs) / (data.toMs - data.fromMs)) * 100);
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= data.fromMs && atMs <= data.toMs;
  const overlaps = (span: { readonly fromMs: number; readonly toMs: number }): boolean =>
    span.toMs > data.fromMs && span.fromMs < data.toMs;
  const markers = lanes.markers.filter(isIn);
  const names = ["state", "alert", "sent", ...(markers.length > 0 ? ["marks"] : [])];
  const height = names.length * 22;
  const blocks = bandsOf(data).filter((band) => band.severity !== "ok" && overlaps(band));
  return html`<div
    class="lanes${markers.length > 0 ? " marked" : ""}"
    role="img"
    aria-label="State, alert and what was sent, over the same time"
  >
    <svg class="left" width="44" height="${height}">
      ${names.map((name, index) => html`<text x="38" y="${15 + index * 22}" text-anchor="end">${name}</text>`)}</svg
    ><svg class="plot" height="${height}">
      ${names.map((_, index) => html`<line class="grid" x1="0" x2="100%" y1="${11 + index * 22}" y2="${11 + index * 22}" />`)}${blocks.map(({ severity, fromMs, toMs }) => html`<rect class="seg ${severity}" x="${x(fromMs)}%" y="5.5" width="${Math.max(0.3, round(x(toMs) - x(fromMs)))}%" height="11" />`)}${lanes.spans.filter(overlaps).map(({ state, fromMs, toMs }) => html`<rect class="life ${state}" x="${x(fromMs)}%" y="${state === "firing" ? 30.5 : 31}" width="${Math.max(0.2, round(x(toMs) - x(fromMs)))}%" height="${state === "firing" ? 5 : 4}" />`)}${lanes.events.filter(isIn).map(({ atMs, severity, event }) => html`<svg x="${x(atMs)}%" y="26" width="14" height="14" class="at"><use class="mark ${shapeOf(event, severity)}" href="#m-${shapeOf(event, severity)}" x="-7" width="14" height="14" /></svg>`)}${lanes.sent.filter(isIn).map(({ atMs, isAccepted }) => html`<svg x="${x(atMs)}%" y="49" width="12" height="12" class="at"><path class="${isAccepted ? "tick" : "cross"}" d="${isAccepted ? "M0 0V12" : "M-4 2L4 10M4 2L-4 10"}" /></svg>`)}${markers.map(
        ({ atMs, text }) =>
          html`<svg x="${x(atMs)}%" y="71" width="12" height="12" class="at">
            <title>${text}, ${formatDay(atMs)} ${formatClock(atMs)} UTC</title>
            <path class="tick" d="M0 0V12M0 0H5V4H0" />
          </svg>`,
      )}
    </svg>
  </div>`;
}

/** The end of an alert is a ring, whatever it had been. */
function shapeOf(event: string, severity: RowSeverity): RowSeverity {
  return event === "resolved" || event === "recovered" || event === "cleared" ? "ok" : severity;
}

/** Renders the numbers of the chart, for who cannot see it. At most one row an hour. */
export function renderChartTable(data: ChartData): Html {
  const rows: Html[] = [];
  let lastHour = -1;
  for (let index = data.at.length - 1; index >= 0 && rows.length < 200; index--) {
    const atMs = data.at[index] ?? 0;
    const hour = Math.floor(atMs / 3_600_000);
    if (hour === lastHour) continue;
    lastHour = hour;
    rows.push(
      html`<tr>
        <th scope="row">${formatDay(atMs)} ${formatClock(atMs)}</th>
        <td class="num">${formatCount(data.count[index] ?? null)}</td>
        <td class="num">${formatExpected(data.expected[index] ?? null)}</td>
        <td class="num">${formatExpected(data.warn[index] ?? null)}</td>
        <td class="num">${formatExpected(data.fail[index] ?? null)}</td>
        <td>${data.severity[index] ?? "unknown"}</td>
      </tr>`,
    );
  }
  return html`<details class="chartdata">
    <summary>Data of the chart</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Data of the chart">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Time, UTC</th>
            <th scope="col" class="num">Count</th>
            <th scope="col" class="num">Expected</th>
            <th scope="col" class="num">Warn above</th>
            <th scope="col" class="num">Fail above</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}

function stepPath(
  data: ChartData,
  values: readonly (number | null)[],
  x: (atMs: number) => number,
  y: (value: number) => number,
): string {
  const parts: string[] = [];
  let last: number | null = null;
  for (const [index, value] of values.entries()) {
    const at = x(data.at[index] ?? data.fromMs);
    if (value === null) {
      if (last !== null) parts.push(`H${at}`);
      last = null;
      continue;
    }
    const here = y(value);
    if (last === null) parts.push(`M${at} ${here}`);
    else if (here !== last) parts.push(`H${at}V${here}`);
    last = here;
  }
  if (last !== null) parts.push(`H${unitWidth}`);
  return parts.join("");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
