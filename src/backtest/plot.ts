import type { BaselineKind } from "../spike/median.ts";
import { paretoFront, type TuningPoint } from "./tuning.ts";

const width = 760;
const height = 460;
const left = 64;
const right = 24;
const top = 44;
const bottom = 60;
const colours: Readonly<Record<BaselineKind, string>> = { mean: "#8a5a00", median: "#0b63c4" };

/**
 * Renders the trade-off as an SVG image: false alarms on nothing a week to the right, recall upwards, one mark a candidate (a square for the mean,
 * a circle for the median) with its settings as a tooltip, a line through those that no other one beats, a ring around the chosen.
 */
export function plotTradeOff(points: readonly TuningPoint[], chosen: TuningPoint | null): string {
  const most = Math.max(0.1, ...points.map(({ score }) => score.groundlessAWeek)) * 1.05;
  const x = (rate: number): number => round(left + (rate / most) * (width - left - right));
  const y = (recall: number): number => round(height - bottom - recall * (height - top - bottom));
  const place = ({ score }: TuningPoint): [number, number] => [x(score.groundlessAWeek), y(score.recall ?? 0)];
  const front = paretoFront(points);
  const rates = niceTicks(most);
  const recalls = [0, 0.25, 0.5, 0.75, 1];
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>Recall against false alarms</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...recalls.map(
      (recall) =>
        `<path d="M${left} ${y(recall)}H${width - right}" stroke="#ddd"/><text x="${left - 8}" y="${y(recall) + 4}" text-anchor="end" fill="#444">${recall * 100} %</text>`,
    ),
    ...rates.map(
      (rate) =>
        `<path d="M${x(rate)} ${top}V${height - bottom}" stroke="#eee"/><text x="${x(rate)}" y="${height - bottom + 20}" text-anchor="middle" fill="#444">${rate}</text>`,
    ),
    `<text x="${(left + width - right) / 2}" y="${height - 16}" text-anchor="middle" fill="#222">false alarms a week and organization, those on real mass deaths left out</text>`,
    `<text x="${left - 8}" y="${top - 18}" fill="#222">incidents found</text>`,
    legend("mean", width - right - 150),
    legend("median", width - right - 70),
    `<path d="${front.map((point, index) => `${index === 0 ? "M" : "L"}${place(point).join(" ")}`).join("")}" fill="none" stroke="#444" stroke-dasharray="4 3"/>`,
    ...points.map((point) => {
      const [px, py] = place(point);
      return `${mark(point.baseline, px, py)}<title>${describe(point)}</title></g>`;
    }),
  ];
  if (chosen !== null) {
    const [px, py] = place(chosen);
    parts.push(
      `<circle cx="${px}" cy="${py}" r="10" fill="none" stroke="#c22" stroke-width="2"><title>chosen</title></circle>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

/** Renders the same in a page of its own, with the candidates as a table below, for who cannot see it. */
export function plotPage(points: readonly TuningPoint[], chosen: TuningPoint | null): string {
  const rows = points.map(
    (point) =>
      `<tr${point === chosen ? ' class="chosen"' : ""}><td>${describeSettings(point)}</td><td>${formatShare(point.score.recall)}</td><td>${point.score.groundlessAWeek.toFixed(2)}</td><td>${point.score.falseAlarmsAWeek.toFixed(2)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>flatline tune</title>
<style>body{font:15px system-ui,sans-serif;margin:2rem;max-width:60rem}td,th{padding:.2rem .8rem;text-align:left}.chosen{font-weight:bold}svg{max-width:100%;height:auto}</style>
<h1>Recall against false alarms</h1>
${plotTradeOff(points, chosen)}<table>
<thead><tr><th>Candidate</th><th>Incidents found</th><th>False alarms a week</th><th>With those on real mass deaths</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
</html>
`;
}

function mark(baseline: BaselineKind, px: number, py: number): string {
  const colour = colours[baseline];
  return baseline === "mean"
    ? `<g fill="${colour}" fill-opacity="0.7"><rect x="${round(px - 4)}" y="${round(py - 4)}" width="8" height="8"/>`
    : `<g fill="${colour}" fill-opacity="0.7"><circle cx="${px}" cy="${py}" r="4.5"/>`;
}

function legend(baseline: BaselineKind, px: number): string {
  return `${mark(baseline, px, top - 22)}</g><text x="${px + 10}" y="${top - 18}" fill="#222">${baseline}</text>`;
}

function describe(point: TuningPoint): string {
  const { recall, groundlessAWeek, falseAlarmsAWeek } = point.score;
  return `${describeSettings(point)}: ${formatShare(recall)} found, ${groundlessAWeek.toFixed(2)} false alarms a week (${falseAlarmsAWeek.toFixed(2)} with those on real mass deaths)`;
}

function describeSettings({ baseline, count, thresholds }: TuningPoint): string {
  const { windowHours, baselineDays, warnMultiplier, minSpikeCount } = thresholds;
  return `${baseline}${count === "assets" ? " of assets" : ""} ×${warnMultiplier}, min ${minSpikeCount}, ${windowHours} h of ${baselineDays} d`;
}

function formatShare(recall: number | null): string {
  return recall === null ? "–" : `${Math.round(recall * 100)} %`;
}

function niceTicks(most: number): number[] {
  const raw = most / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
