import { formatCount } from "../../base/numbers.ts";
import { clockText, timeText } from "../../words/numbers.ts";

/** Formats a number for an axis: 5,000, 10k, 250k, 2M. */
export function formatTick(value: number): string {
  if (value >= 1_000_000) return `${Math.round(value / 100_000) / 10}M`;
  return value >= 10_000 ? `${Math.round(value / 100) / 10}k` : formatCount(value);
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
