import { hourMs } from "../../../base/time.ts";
import type { HourSeries } from "../../../store/runs/hour-series.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { OverviewRow } from "../../read/overview.ts";

// One point for three hours of seven days, and one for now.
const points = 57;
const everyHours = 3;
// An hour without a run takes the one before for this long: runs are seldom at the same minute.
const carryHours = 4;
const [width, height, floorY] = [228, 24, 21];

/** Renders the last seven days of a count, red and yellow where it spiked; nothing while they are read. */
export function renderSpark(hours: HourSeries | null, row: OverviewRow, nowMs: number): Html {
  if (hours === null) return nothing;
  const thisHour = Math.floor(nowMs / hourMs);
  const counts: (number | null)[] = [];
  const states: (string | null)[] = [];
  for (let point = 0; point < points - 1; point++) {
    const last = hours.lastIn(thisHour - (points - 1 - point) * everyHours, carryHours);
    counts.push(last === null ? null : hours.currentCount(last));
    states.push(last === null ? null : hours.severity(last));
  }
  counts.push(row.count);
  states.push(row.severity);
  // What is usual stays low, so that a calm row looks calm.
  const top = Math.max(1, (row.expected ?? 0) * 4, ...counts.map((count) => count ?? 0));
  const x = (index: number): number => round(2 + (index * (width - 7)) / (points - 1));
  const y = (count: number): number => round(floorY - (count / top) * (floorY - 3));
  const line: string[] = [];
  const hot: Record<"warn" | "fail", string[]> = { warn: [], fail: [] };
  let before: number | null = null;
  for (const [index, count] of counts.entries()) {
    if (count !== null) {
      line.push(`${before === null ? "M" : "L"}${x(index)} ${y(count)}`);
      const state = states[index];
      if (before !== null && (state === "warn" || state === "fail"))
        hot[state].push(`M${x(index - 1)} ${y(before)}L${x(index)} ${y(count)}`);
    }
    before = count;
  }
  const tone = row.severity === "ok" ? "ink-3" : "ink-2";
  const end =
    row.count === null
      ? nothing
      : html`<path
          stroke="var(--${row.severity === "fail" || row.severity === "warn" ? row.severity : tone})"
          stroke-width="5"
          stroke-linecap="round"
          d="M${x(points - 1)} ${y(row.count)}h0"
        />`;
  const runs = (["warn", "fail"] as const).map((state) =>
    hot[state].length === 0
      ? nothing
      : html`<path stroke="var(--${state})" stroke-width="2" stroke-linejoin="round" d="${hot[state].join("")}" />`,
  );
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
    <path stroke="var(--${tone})" stroke-width="1.2" d="${line.join("")}" />
    ${runs}${end}
  </svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
