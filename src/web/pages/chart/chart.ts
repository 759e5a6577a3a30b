import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { deathWords } from "../../../contract/death-counts.ts";
import { durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { drawBars, drawCount, formatInstant, formatUsual, goodSince, lengthName, windowWords } from "./counts.ts";
import { lastOf, perHourBefore, usualIn, type ChartData } from "./data.ts";
import { area, box, percent, rightWord, stroke, word, type Drawing, type EndValue } from "./drawing.ts";
import { lanesOf } from "./lanes.ts";
import { plotWidth, timeScale, timeTicks } from "./scales.ts";

const head = 10;
const laneHeight = 26;

/**
 * Renders the section with the chart: its name and ranges, the values for a narrow page, and the drawing.
 */
export function renderChart(data: ChartData): Html {
  const { drawing, ends, height } = drawChart(data);
  return html`<section class="part">
    <header>
      <h2>${data.kind === "answers" ? "Good answers per minute" : `Deaths of ${data.subject}`}</h2>
      ${data.kind === "answers" ? html`<p>of ${data.subject}</p>` : nothing}
      ${data.ranges.length === 0 ? nothing : html`<p class="switch row">${data.ranges.flatMap(({ name, href, isCurrent }) => [html`<a href="${href}" ${isCurrent ? html`aria-current="true"` : nothing}>${name}</a>`, " "])}</p>`}
    </header>
    <p class="values">
      ${ends.filter(({ isMinor }) => isMinor !== true).map(({ figure, words }) => html`<span>${figure === "" ? nothing : html`<b>${figure}</b> `}${words}</span>`)}
    </p>
    <svg class="chart" height="${height}" role="img" aria-label="${describeChart(data)}">
      <svg class="plot" viewBox="0 0 ${plotWidth} ${height}" height="${height}" preserveAspectRatio="none">
        ${drawing.plot}
      </svg>
      <svg class="over" height="${height}">${drawing.over}</svg>
    </svg>
  </section>`;
}

/** The parts from above: the count, the bars, the lanes, the axis of time. */
function drawChart(data: ChartData): {
  readonly drawing: Drawing;
  readonly ends: readonly EndValue[];
  readonly height: number;
} {
  const hasBars = data.bars !== null;
  const foot = head + (data.kind === "answers" ? 90 : data.began === null ? 150 : 190);
  const count = drawCount(data, { head, foot });
  const barsFoot = hasBars ? foot + (data.began === null ? 100 : 112) : foot;
  const bars = data.bars === null ? null : drawBars(data, data.bars, { head: foot + 38, foot: barsFoot });
  const firstLane = barsFoot + (hasBars ? 36 : 30);
  const draw = lanesOf(data);
  const lanes = draw.map((lane, index) => lane(data, firstLane + index * laneHeight));
  const axis = draw.length === 0 ? barsFoot : firstLane + (draw.length - 1) * laneHeight + 20;
  const parts = [background(data, axis), count, ...(bars === null ? [] : [bars]), ...lanes, drawAxis(data, axis)];
  const ends = [count, ...(bars === null ? [] : [bars]), ...lanes].flatMap((part) => part.ends);
  return {
    drawing: {
      plot: parts.flatMap(({ plot }) => plot),
      over: [...parts.flatMap(({ over }) => over), ...ends.map(rightWord)],
    },
    ends,
    height: axis + 20,
  };
}

/** What lies behind all parts: the unknown past, markers, and the end of the excess. */
function background(data: ChartData, axis: number): Drawing {
  const x = timeScale(data);
  const { knownFromMs, fromMs, toMs, nowMs, acts } = data;
  const stoppedMs = data.incident?.stoppedMs ?? null;
  const isIn = (atMs: number): boolean => atMs > fromMs && atMs < toMs;
  const known = knownFromMs !== null && knownFromMs > fromMs ? x(knownFromMs) : null;
  const upright = (atMs: number): string => `M${x(atMs)} ${head}V${axis}`;
  const dashes = html`stroke-dasharray="2 3"`;
  const markers = acts.filter(({ mark, atMs }) => mark === "marker" && isIn(atMs));
  return {
    plot: [
      known === null ? nothing : area("sunken", box(0, known, head, axis)),
      known === null ? nothing : stroke("edge", `M${known} ${head}V${axis}`),
      stroke("edge", markers.map(({ atMs }) => upright(atMs)).join(""), dashes),
      stoppedMs === null || !isIn(stoppedMs) ? nothing : stroke("ink", upright(stoppedMs), dashes),
    ],
    over:
      known === null
        ? []
        : [
            known > plotWidth * 0.7
              ? word(known, head + 14, `known from ${formatInstant(knownFromMs ?? 0, nowMs)}`, {
                  className: "end",
                  dx: -8,
                })
              : word(known, head + 14, `known from ${formatInstant(knownFromMs ?? 0, nowMs)}`, { dx: 8 }),
          ],
  };
}

// In units of the plot: nearer to the end a tick's word would touch that of the end.
const endUnits = 60;

function drawAxis(data: ChartData, axis: number): Drawing {
  const x = timeScale(data);
  const ticks = timeTicks(data.fromMs, data.toMs);
  const isLive = data.toMs === data.nowMs;
  // On a narrow page there is room for half of many.
  const isWide = (index: number): boolean => ticks.length > 5 && index % 2 === 0;
  const last = isLive ? plotWidth - endUnits : plotWidth;
  return {
    plot: [
      stroke("ink-3", `M0 ${axis}H${plotWidth}`),
      stroke("ink-3", ticks.map(({ atMs }) => `M${x(atMs)} ${axis}v4`).join("")),
    ],
    over: [
      ...ticks.flatMap(({ atMs, text }, index) =>
        x(atMs) > last ? [] : [word(x(atMs), axis + 17, text, { className: isWide(index) ? "mid wide" : "mid" })],
      ),
      isLive ? html`<text class="end wide" x="${percent(plotWidth)}" y="${axis + 17}">now</text>` : nothing,
    ],
  };
}

/** One sentence with the numbers of the chart, for who does not see it. */
export function describeChart(data: ChartData): string {
  return data.kind === "answers" ? describeAnswers(data) : describeDeaths(data);
}

function describeAnswers(data: ChartData): string {
  const { fromMs, toMs, nowMs, count } = data;
  const since = goodSince(data);
  const most = formatUsual(Math.max(0, ...count.map((value) => value ?? 0)));
  const words = since === null ? `at most ${most}` : `up to ${most} before, none since ${formatInstant(since, nowMs)}`;
  return `Good answers per minute from ${formatInstant(fromMs, nowMs)} to ${formatInstant(toMs, nowMs)}: ${words}`;
}

function describeDeaths(data: ChartData): string {
  const { incident, nowMs, toMs, knownFromMs, fromMs, lately } = data;
  const [count, expected, warn] = [lastOf(data.count), lastOf(data.expected), lastOf(data.warn)];
  const known = data.count.filter((value) => value !== null);
  const window =
    toMs === nowMs ? `in the last ${windowWords(data)}` : `in ${windowWords(data)} until ${formatInstant(toMs, nowMs)}`;
  const before = data.isThin ? perHourBefore(data) : null;
  const usual = lately === null || data.isThin ? null : usualIn(data, nowMs - lately.sinceMs);
  const facts = [
    count === null
      ? "no count is known"
      : `${deathWords({ currentCount: count, expectedCount: null, counting: data.counting }) ?? ""} ${window}${expected === null ? "" : `, ${formatExpected(expected)} expected`}`,
    incident === null && known.length > 0
      ? `between ${formatCount(Math.min(...known))} and ${formatCount(Math.max(...known))} over ${durationText(toMs - fromMs)}`
      : null,
    incident === null ? null : worstBar(data),
    lately === null
      ? null
      : `${formatCount(lately.deaths)} since ${formatInstant(lately.sinceMs, nowMs)}${usual === null ? "" : `, usually ${formatUsual(usual)}`}${before === null || incident === null ? "" : `, ${formatUsual(before)} an hour before it began at ${formatInstant(incident.beganMs, nowMs)}`}`,
    typeof incident?.stoppedMs === "number"
      ? `the excess stopped at ${formatInstant(incident.stoppedMs, nowMs)}`
      : null,
    warn === null ? null : `it warns above ${formatExpected(warn)}`,
    knownFromMs !== null && knownFromMs > fromMs
      ? `nothing is known before ${formatInstant(knownFromMs, nowMs)}`
      : null,
  ];
  return `${data.began === null ? data.subject : `Deaths of ${data.subject}`}: ${facts.filter((fact) => fact !== null).join("; ")}`;
}

function worstBar({ bars, nowMs }: ChartData): string | null {
  const most = Math.max(0, ...(bars?.deaths ?? []));
  if (bars === null || most === 0) return null;
  const atMs = bars.from[bars.deaths.indexOf(most)] ?? 0;
  return `${formatCount(most)} in the worst ${lengthName(bars.lengthMs)}, at ${formatInstant(atMs, nowMs)}`;
}
