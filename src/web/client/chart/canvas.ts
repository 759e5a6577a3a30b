import type UPlot from "uplot";

import { bandsOf, shadeWords, type ChartData } from "../../page/chart/chart-data.ts";
import { formatClock } from "../../parts/figures.ts";
import { inZone } from "../choices.ts";

const secondMs = 1_000;

/** A colour of the style as the theme that holds has it: the property itself names both. */
export function colourOf(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Draws what stands behind the lines: tints of severities, hatches, the week before, the begin of the alert. */
export function drawBehind(plot: UPlot, data: ChartData, font: string): void {
  drawTints(plot, data);
  drawShades(plot, data, font);
  drawBegan(plot, data, font);
  drawWeek(plot, data);
}

function within(plot: UPlot, atMs: number): number {
  const { left, width } = plot.bbox;
  return Math.min(Math.max(plot.valToPos(atMs / secondMs, "x", true), left), left + width);
}

function drawTints(plot: UPlot, data: ChartData): void {
  const { ctx, bbox } = plot;
  const tints: Readonly<Record<string, string>> = {
    fail: colourOf("--fail-tint"),
    warn: colourOf("--warn-tint"),
    unknown: colourOf("--unknown-tint"),
  };
  for (const { severity, fromMs, toMs } of bandsOf(data)) {
    const tint = tints[severity];
    const [left, right] = [within(plot, fromMs), within(plot, toMs)];
    if (tint === undefined || right <= left) continue;
    ctx.fillStyle = tint;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
}

/** Lines at 45 degrees, silences one way, what is not in the baseline the other. */
function drawShades(plot: UPlot, data: ChartData, font: string): void {
  const { ctx, bbox } = plot;
  const { top, height } = bbox;
  const pitch = 6 * Math.SQRT2 * devicePixelRatio;
  for (const { kind, fromMs, toMs } of data.shades) {
    const [left, right] = [within(plot, fromMs), within(plot, toMs)];
    if (right <= left) continue;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, right - left, height);
    ctx.clip();
    ctx.strokeStyle = colourOf("--edge");
    ctx.globalAlpha = 0.55;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    // From a multiple of the pitch, so that the lines stand still while the chart is zoomed.
    for (let x = Math.floor((left - height) / pitch) * pitch; x < right + height; x += pitch) {
      const rises = kind === "silenced";
      ctx.moveTo(x, rises ? top + height : top);
      ctx.lineTo(x + height, rises ? top : top + height);
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.font = font;
    const word = shadeWords[kind];
    const pad = 4 * devicePixelRatio;
    if (ctx.measureText(word).width + 3 * pad < right - left) {
      ctx.fillStyle = colourOf("--ink-3");
      ctx.textAlign = "left";
      ctx.textBaseline = "top";
      ctx.fillText(word, left + pad, top + pad);
    }
    ctx.restore();
  }
}

function drawBegan(plot: UPlot, { beganMs }: ChartData, font: string): void {
  const { ctx, bbox } = plot;
  if (beganMs === null) return;
  const x = plot.valToPos(beganMs / secondMs, "x", true);
  if (x <= bbox.left || x >= bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colourOf("--ink-2");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = font;
  ctx.fillStyle = colourOf("--ink-2");
  const text = `began ${formatClock(inZone(beganMs))}`;
  const pad = 5 * devicePixelRatio;
  const hasRoom = x - bbox.left > ctx.measureText(text).width + 2 * pad;
  ctx.textAlign = hasRoom ? "right" : "left";
  ctx.textBaseline = "top";
  ctx.fillText(text, hasRoom ? x - pad : x + pad, bbox.top + pad);
  ctx.restore();
}

function drawWeek(plot: UPlot, { weekBefore }: ChartData): void {
  if (weekBefore === null) return;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colourOf("--edge");
  ctx.lineWidth = 1.25 * devicePixelRatio;
  ctx.beginPath();
  let last: number | null = null;
  for (const [index, atMs] of weekBefore.at.entries()) {
    const count = weekBefore.count[index] ?? null;
    const x = plot.valToPos(atMs / secondMs, "x", true);
    const y = count === null ? null : plot.valToPos(count, "y", true);
    if (last !== null) ctx.lineTo(x, last);
    if (y !== null && last === null) ctx.moveTo(x, y);
    else if (y !== null) ctx.lineTo(x, y);
    last = y;
  }
  if (last !== null) ctx.lineTo(bbox.left + bbox.width, last);
  ctx.stroke();
  ctx.restore();
}

/** Draws the dot at the end of the count, in the colour of what holds. */
export function drawEnd(plot: UPlot, data: ChartData): void {
  const count = data.count.at(-1) ?? null;
  const { max } = plot.scales["x"] ?? {};
  // Zoomed in on the past there is no now.
  if (count === null || max === undefined || !data.isLive || Math.abs(max * secondMs - data.toMs) > 1) return;
  const severity = data.severity.at(-1) ?? "ok";
  const { ctx } = plot;
  ctx.fillStyle = colourOf(severity === "fail" || severity === "warn" ? `--${severity}` : "--ink-2");
  ctx.beginPath();
  ctx.arc(
    plot.valToPos(data.toMs / secondMs, "x", true),
    plot.valToPos(count, "y", true),
    3.5 * devicePixelRatio,
    0,
    7,
  );
  ctx.fill();
}
