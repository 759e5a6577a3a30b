import type UPlot from "uplot";

import {
  peakOf,
  positionOf,
  spreadLabels,
  ticksOf,
  timeTicks,
  valueAt,
  type ChartData,
} from "../../page/chart/chart-data.ts";
import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { renderLaneEnds, type Lanes } from "../../page/chart/lanes.ts";
import { colourOf, drawBehind, drawEnd } from "./canvas.ts";
import { followZoom, resetZoom } from "./zoom.ts";
import { inZone } from "../choices.ts";
import { formatClock, formatDay, formatTick } from "../../parts/figures.ts";

declare const uPlot: typeof UPlot | undefined;

const secondMs = 1_000;
const labelGap = 15;

/** Draws the chart in the place of the server's; answers how to end it. null: there is none, the server's stays. */
export function startChart(): (() => void) | null {
  const host = document.getElementById("chart");
  const block = document.getElementById("data")?.textContent;
  if (host === null || block === undefined || block === null || typeof uPlot === "undefined") return null;
  const { chart, lanes } = JSON.parse(block) as { readonly chart?: ChartData; readonly lanes?: Lanes };
  if (chart === undefined || chart.at.length === 0) return null;
  const data: ChartData = chart;
  const Plot = uPlot;
  const narrow = matchMedia("(max-width: 720px)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let plot: UPlot | null = null;

  const draw = (): void => {
    plot?.destroy();
    host.replaceChildren();
    const ends = document.createElement("div");
    ends.className = "ends";
    ends.setAttribute("aria-hidden", "true");
    const time = document.createElement("div");
    time.className = "cursor-time";
    time.setAttribute("aria-hidden", "true");
    const options = optionsOf(data, host, ends, narrow.matches);
    const { hooks = {} } = options;
    hooks.setScale = [(drawn, key) => void (key === "x" && followZoom(drawn, data, lanes ?? null))];
    hooks.setCursor = [...(hooks.setCursor ?? []), (drawn) => showTime(drawn, data, lanes ?? null, time)];
    plot = new Plot({ ...options, hooks }, valuesOf(data), host);
    host.append(ends, time);
    const { root } = plot;
    root.tabIndex = 0;
    root.setAttribute("role", "img");
    root.setAttribute(
      "aria-label",
      "Count against expected. Arrow keys read the values, Escape shows the whole range.",
    );
    root.addEventListener("keydown", onKey);
    showEnds(plot, data, ends, null, narrow.matches);
  };

  function onKey(event: KeyboardEvent): void {
    if (plot === null) return;
    if (event.key === "Escape") {
      // A page of its own closes nothing else with it.
      event.stopPropagation();
      plot.setCursor({ left: -10, top: -10 });
      resetZoom(plot, data);
      return;
    }
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const now = plot.cursor.idx ?? data.at.length;
    const index = Math.min(Math.max(0, now + by * (event.shiftKey ? 12 : 1)), data.at.length - 1);
    plot.setCursor({ left: plot.valToPos((data.at[index] ?? 0) / secondMs, "x"), top: 10 });
    const live = document.getElementById("live");
    const atMs = data.at[index] ?? 0;
    if (live !== null)
      live.textContent = `${formatDay(atMs)} ${formatClock(atMs)}: ${formatCount(data.count[index] ?? null)}, ${formatExpected(data.expected[index] ?? null)} expected, ${data.severity[index] ?? "unknown"}`;
  }

  draw();
  let width = host.clientWidth;
  const observer = new ResizeObserver(() => {
    if (host.clientWidth === width) return;
    width = host.clientWidth;
    draw();
  });
  observer.observe(host);
  const redraw = (): void => draw();
  dark.addEventListener("change", redraw);
  addEventListener("flatline-choice", redraw);
  narrow.addEventListener("change", redraw);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", redraw);
    removeEventListener("flatline-choice", redraw);
    narrow.removeEventListener("change", redraw);
    plot?.destroy();
  };
}

function valuesOf(data: ChartData): UPlot.AlignedData {
  const times = [...data.at, data.toMs].map((atMs) => atMs / secondMs);
  // The last value holds until now.
  const held = (values: readonly (number | null)[]): (number | null)[] => [...values, values.at(-1) ?? null];
  return [times, held(data.expected), held(data.warn), held(data.fail), held(data.count)];
}

function optionsOf(data: ChartData, host: HTMLElement, ends: HTMLElement, isNarrow: boolean): UPlot.Options {
  const peak = peakOf(data);
  const paths = typeof uPlot === "undefined" ? undefined : uPlot.paths.stepped?.({ align: 1 });
  const line = (stroke: string, width: number, dash?: number[]): UPlot.Series => ({
    stroke,
    width,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
    ...(dash === undefined ? {} : { dash }),
  });
  const { fontFamily } = getComputedStyle(host);
  const font = `12px ${fontFamily}`;
  const canvasFont = `${12 * devicePixelRatio}px ${fontFamily}`;
  const times = (fromMs: number, toMs: number): number[] => timeTicks(fromMs, toMs).map(({ atMs }) => atMs / secondMs);
  return {
    width: host.clientWidth,
    height: isNarrow ? 230 : 300,
    padding: [8, isNarrow ? 12 : 148, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
    scales: {
      x: {
        time: false,
        range: (_plot, min, max) =>
          min === data.at[0] && max === data.toMs ? [data.fromMs / secondMs, data.toMs / secondMs] : [min, max],
        min: data.fromMs / secondMs,
        max: data.toMs / secondMs,
      },
      y: { range: [0, peak * 1.06], ...(data.scale === "log" ? { distr: 4 as const, asinh: 3 } : {}) },
    },
    axes: [
      {
        stroke: colourOf("--ink-3"),
        font,
        size: 32,
        grid: { stroke: colourOf("--rule"), width: 1, dash: [1, 3] },
        ticks: { show: false },
        splits: (_plot, _axis, min, max) => [
          ...times(min * secondMs, max * secondMs).filter((at) => at < max - (max - min) * (isNarrow ? 0.12 : 0.04)),
          max,
        ],
        values: (_plot, splits) =>
          splits.map((at, index) => {
            const atMs = at * secondMs;
            if (index === splits.length - 1)
              return data.isLive && Math.abs(atMs - data.toMs) < 1 ? "now" : formatClock(atMs);
            return atMs % 86_400_000 === 0 ? formatDay(atMs) : formatClock(atMs);
          }),
      },
      {
        stroke: colourOf("--ink-3"),
        font,
        size: 44,
        gap: 6,
        grid: { stroke: colourOf("--rule"), width: 1 },
        ticks: { show: false },
        splits: () => ticksOf(peak, data.scale),
        // Without it a scale like a logarithm shows the powers of ten only.
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => splits.map((value) => formatTick(value)),
      },
    ],
    series: [
      {},
      line(colourOf("--ink-2"), 1.25, [1.5, 3]),
      line(colourOf("--warn"), 1.25, [6, 3]),
      line(colourOf("--fail"), 1.25),
      line(colourOf("--ink"), 2),
    ],
    hooks: {
      drawClear: [(plot) => drawBehind(plot, data, canvasFont)],
      draw: [(plot) => drawEnd(plot, data)],
      setCursor: [(plot) => showEnds(plot, data, ends, plot.cursor.idx ?? null, isNarrow)],
    },
  };
}

/** The time under the cursor stands on the axis, its hairline goes through the lanes, which say what held then. */
function showTime(plot: UPlot, data: ChartData, lanes: Lanes | null, time: HTMLElement): void {
  const { left = -1 } = plot.cursor;
  const width = plot.over.clientWidth;
  const isOn = left >= 0 && left <= width;
  time.hidden = !isOn;
  const atMs = isOn ? Math.min(plot.posToVal(left, "x") * secondMs, data.toMs) : data.toMs;
  const plotted = document.querySelector<SVGElement>(".lanes > svg.plot");
  plotted?.querySelector(".hair")?.remove();
  const words = document.querySelector<SVGElement>(".lanes > svg.right");
  if (words !== null && lanes !== null) words.innerHTML = renderLaneEnds(data, lanes, atMs).html;
  if (!isOn) return;
  const shownMs = inZone(atMs);
  time.textContent = `${formatDay(shownMs)} ${formatClock(shownMs)}`;
  time.style.left = `${plot.over.offsetLeft + left}px`;
  if (plotted === null) return;
  const hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const at = `${(left / width) * 100}%`;
  for (const [name, value] of [
    ["class", "hair"],
    ["x1", at],
    ["x2", at],
    ["y1", "-8"],
    ["y2", "100%"],
  ] as const)
    hair.setAttribute(name, value);
  plotted.append(hair);
}

/** The values at the right end: those of now, or those under the cursor. */
function showEnds(plot: UPlot, data: ChartData, ends: HTMLElement, index: number | null, isNarrow: boolean): void {
  const at = index === null || index >= data.at.length ? data.at.length - 1 : index;
  const peak = peakOf(data);
  const height = plot.over.clientHeight;
  const lines = [
    { css: "count", name: "count", value: data.count[at] ?? null, text: formatCount },
    { css: "fail", name: "fail above", value: data.fail[at] ?? null, text: formatExpected },
    { css: "warn", name: "warn above", value: data.warn[at] ?? null, text: formatExpected },
    { css: "expected", name: "expected", value: data.expected[at] ?? null, text: formatExpected },
    {
      css: "week",
      name: "a week before",
      value: weekValue(data, index === null ? data.toMs : (data.at[at] ?? 0)),
      text: formatCount,
    },
  ].flatMap((line) => (line.value === null ? [] : [{ ...line, value: line.value }]));
  const places = spreadLabels(
    lines.map(({ value }) => height - positionOf(value, peak, data.scale) * height),
    labelGap,
    height,
  );
  ends.replaceChildren(
    ...lines.map(({ css, name, value, text }, line) => {
      const label = document.createElement("span");
      label.className = css;
      const figure = document.createElement("b");
      figure.textContent = text(value);
      label.append(figure, ` ${name}`);
      if (!isNarrow) label.style.top = `${Math.round((places[line] ?? 0) + 1)}px`;
      return label;
    }),
  );
}

function weekValue({ weekBefore }: ChartData, atMs: number): number | null {
  return weekBefore === null ? null : valueAt(weekBefore.at, weekBefore.count, atMs);
}
