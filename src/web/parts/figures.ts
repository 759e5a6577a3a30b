import { formatCount, formatRatio, none } from "../../base/numbers.ts";
import { clockText, durationText, nbsp, timeText } from "../../words/numbers.ts";

/** Formats a number for an axis: 5,000, 10k, 250k, 2M. */
export function formatTick(value: number): string {
  if (value >= 1_000_000) return `${Math.round(value / 100_000) / 10}M`;
  return value >= 10_000 ? `${Math.round(value / 100) / 10}k` : formatCount(value);
}

/** Formats a ratio for a column: 459×, 3.1×; "from 0": deaths came and none were expected. */
export function formatRatioCell(row: {
  readonly count: number | null;
  readonly expected: number | null;
  readonly ratio: number | null;
}): string {
  const { count, expected, ratio } = row;
  if (ratio !== null && Number.isFinite(ratio)) return formatRatio(ratio);
  return expected === 0 && count !== null && count > 0 ? "from 0" : none;
}

/** Formats a length for tables: 48s · 30m · 11h 40m · 1d 13h. */
export function formatLength(ms: number): string {
  return durationText(ms).replaceAll(nbsp, "").replace("min", "m");
}

/** Formats an instant in UTC: 12:00:04. */
export function formatSeconds(atMs: number): string {
  return `${clockText(atMs)}:${String(new Date(atMs).getUTCSeconds()).padStart(2, "0")}`;
}

/** Formats a day: Thursday 15 January. */
export const longDay = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

/** Returns a text with its ISO 8601 instants in the page's format. */
export function withPageTimes(text: string, nowMs: number): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g, (instant) =>
    timeText(Date.parse(instant), nowMs),
  );
}
