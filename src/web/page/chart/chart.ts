import {
  bandsOf,
  peakOf,
  positionOf,
  shadeWords,
  spreadLabels,
  ticksOf,
  timeTicks,
  toTenth,
  valueAt,
  type ChartData,
  type Shade,
} from "./chart-data.ts";
import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { formatClock, formatDay, formatTick } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";

const unitWidth = 1_000;
const plotHeight = 268;
const labelGap = 15;

/** Renders the chart as the server draws it; the browser's takes its place at the same size. */
export function renderChart(data: ChartData): Html {
  const peak = peakOf(data);
  const x = (atMs: number): number => toTenth(((atMs - data.fromMs) / (data.toMs - data.fromMs)) * unitWidth);
  const y = (value: number): number => toTenth(plotHeight - positionOf(value, peak, data.scale) * (plotHeight - 8));
  const bands = bandsOf(data).filter(({ severity }) => severity !== "ok");
  const path = (values: readonly (number | null)[]): string => stepPath(data, values, x, y);
  const ticks = ticksOf(peak, data.scale);
  const times = timeTicks(data.fromMs, data.toMs);
  const { weekBefore, beganMs } = data;
  const begins = beganMs !== null && beganMs > data.fromMs && beganMs < data.toMs ? beganMs : null;
  const lines = [
    { css: "expected", values: data.expected, name: "expected", text: formatExpected },
    { css: "warn", values: data.warn, name: "warn above", text: formatExpected },
    { css: "fail", values: data.fail, name: "fail above", text: formatExpected },
    { css: "count", values: data.count, name: "count", text: formatCount },
  ].map((line) => ({ ...line, last: line.values.at(-1) ?? null }));
  const week = weekBefore === null ? null : valueAt(weekBefore.at, weekBefore.count, data.toMs);
  const ends = [...lines, { css: "week", name: "a week before", text: formatCount, last: week }].flatMap((line) =>
    line.last === null ? [] : [{ ...line, last: line.last }],
  );
  const places = spreadLabels(
    ends.map(({ last }) => y(last)),
    labelGap,
    plotHeight,
  );
  const lastCount = data.count.at(-1) ?? null;
  return html`<div class="chart" role="img" aria-label="Count against expected; the table below has the numbers">
    <svg class="plot" height="${plotHeight}" viewBox="0 0 ${unitWidth} ${plotHeight}" preserveAspectRatio="none">
      ${bands.map(({ severity, fromMs, toMs }) => html`<rect class="band ${severity}" x="${x(fromMs)}" y="0" width="${toTenth(Math.max(1, x(toMs) - x(fromMs)))}" height="${plotHeight}" />`)}${ticks.map((tick) => html`<path class="grid" d="M0 ${y(tick)}H${unitWidth}" />`)}${times.filter(({ isDay }) => isDay).map(({ atMs }) => html`<path class="day" d="M${x(atMs)} 0V${plotHeight}" />`)}
      <path class="axis" d="M0 ${plotHeight}H${unitWidth}" />
      ${weekBefore === null ? nothing : html`<path class="l-week" d="${stepPath({ ...data, at: weekBefore.at }, weekBefore.count, x, y)}" />`}
      ${lines.map(({ css, values }) => html`<path class="l-${css}" d="${path(values)}" />`)}</svg
    ><svg class="plot" height="300">
      ${data.shades.map((shade) => renderShade(shade, toTenth(x(shade.fromMs) / 10), toTenth((x(shade.toMs) - x(shade.fromMs)) / 10)))}${begins === null ? nothing : renderBegan(begins, toTenth(x(begins) / 10))}${times.map(({ atMs, isDay }) => (x(atMs) > unitWidth - 40 ? nothing : html`<text x="${toTenth(x(atMs) / 10)}%" y="286" text-anchor="middle">${isDay ? formatDay(atMs) : formatClock(atMs)}</text>`))}
      <text x="100%" y="286" text-anchor="middle">${data.isLive ? "now" : formatClock(data.toMs)}</text>
      ${lastCount === null || !data.isLive ? nothing : html`<circle class="dot ${data.severity.at(-1) ?? "ok"}" cx="100%" cy="${y(lastCount)}" r="3.5" />`}</svg
    ><svg class="left" width="44" height="300">
      ${ticks.map((tick) => html`<text x="38" y="${y(tick) + 4}" text-anchor="end">${formatTick(tick)}</text>`)}</svg
    ><svg class="right" width="142" height="300">
      ${ends.map(({ css, name, text, last }, index) => html`<text class="end e-${css}" x="4" y="${toTenth((places[index] ?? 0) + 4)}"><tspan class="b">${text(last)}</tspan> ${name}</text>`)}
    </svg>
  </div>`;
}

function renderShade({ kind }: Shade, left: number, width: number): Html {
  // At 1,000 px a character is some 0.65 % wide.
  const hasRoom = width > shadeWords[kind].length * 0.7;
  const text = hasRoom ? html`<text x="${left + 0.4}%" y="14">${shadeWords[kind]}</text>` : nothing;
  return html`<rect
      class="shade shade-${kind}"
      x="${left}%"
      y="0"
      width="${Math.max(0.2, width)}%"
      height="${plotHeight}"
    />${text}`;
}

function renderBegan(atMs: number, left: number): Html {
  return html`<line class="began" x1="${left}%" x2="${left}%" y1="0" y2="${plotHeight}" /><text
      x="${left}%"
      y="12"
      dx="-5"
      text-anchor="end"
      >began ${formatClock(atMs)}</text
    >`;
}

/** Says why there is no line of the week before, where it is asked for. */
export function renderWeekNote({ weekBefore }: ChartData): Html {
  if (weekBefore === null || weekBefore.count.some((count) => count !== null)) return nothing;
  return html`<p class="hint">Nothing was recorded a week before this range.</p>`;
}

/** The numbers of the chart, for who cannot see it. At most one row an hour. */
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
