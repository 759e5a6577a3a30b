// How times are written on the page, and numbers where it has its own form. Pure: the browser runs the same code.

import { formatCount, formatPercent, formatRatio, none } from "../../base/numbers.ts";

/** Joins a number to its unit: neither ever ends a line alone. */
export const nbsp = "\u00a0";

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** For an axis: 5,000, 10k, 250k, 2M. */
export function formatTick(value: number): string {
  if (value >= 1_000_000) return `${Math.round(value / 100_000) / 10}M`;
  return value >= 10_000 ? `${Math.round(value / 100) / 10}k` : formatCount(value);
}

/** 459×, 3.1×; "from 0" when nothing was expected and something came: as wide as a column. */
export function formatRatioCell(row: {
  readonly count: number | null;
  readonly expected: number | null;
  readonly ratio: number | null;
}): string {
  const { count, expected, ratio } = row;
  if (ratio !== null && Number.isFinite(ratio)) return formatRatio(ratio);
  return expected === 0 && count !== null && count > 0 ? "from 0" : none;
}

/** A share (0–1) as `78 %`, as in base/numbers.ts. */
export function formatShare(share: number): string {
  return formatPercent(share).replace(" ", nbsp);
}

const units = [
  ["d", dayMs],
  ["h", hourMs],
  ["m", minuteMs],
  ["s", secondMs],
] as const;

function twoUnits(ms: number): (readonly [number, string])[] {
  const rounded = Math.max(0, ms);
  const at = units.findIndex(([, length]) => rounded >= length);
  const [name, length] = units[at] ?? ["s", secondMs];
  const first = [Math.floor(rounded / length), name] as const;
  const next = units[at + 1];
  // Minutes go without seconds: 30m, 4m.
  if (at === -1 || next === undefined || name === "m") return [first];
  const rest = Math.floor((rounded % length) / next[1]);
  return rest === 0 ? [first] : [first, [rest, next[0]]];
}

/** For tables: 48s · 30m · 11h 40m · 1d 13h. */
export function formatLength(ms: number): string {
  return twoUnits(ms)
    .map(([count, unit]) => `${count}${unit}`)
    .join(" ");
}

/** For prose: 11 h 40 min. */
export function formatLengthInProse(ms: number): string {
  return twoUnits(ms)
    .map(([count, unit]) => `${count}${nbsp}${unit === "m" ? "min" : unit}`)
    .join(" ");
}

/** 4m 56s: with seconds below an hour, for what one waits for. */
export function formatWait(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / secondMs));
  if (seconds < 60) return `${seconds}s`;
  if (seconds >= 3_600) return formatLength(ms);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const longMonths = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const two = (value: number): string => String(value).padStart(2, "0");

/** 12:00, in UTC as every time of the page. */
export function formatClock(atMs: number): string {
  const at = new Date(atMs);
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
}

/** 12:00:04 */
export function formatSeconds(atMs: number): string {
  return `${formatClock(atMs)}:${two(new Date(atMs).getUTCSeconds())}`;
}

/** 15 Jan */
export function formatDay(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getUTCDate()}${nbsp}${months[at.getUTCMonth()] ?? ""}`;
}

/** Thursday 15 January */
export function formatLongDay(atMs: number): string {
  const at = new Date(atMs);
  return `${weekdays[at.getUTCDay()] ?? ""} ${at.getUTCDate()} ${longMonths[at.getUTCMonth()] ?? ""}`;
}

/** 15 Jan 12:00, today only 12:00. */
export function formatTime(atMs: number, nowMs: number): string {
  return isSameDay(atMs, nowMs) ? formatClock(atMs) : `${formatDay(atMs)} ${formatClock(atMs)}`;
}

/** Returns a text of the API with its instants as the page writes them. */
export function withPageTimes(text: string, nowMs: number): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g, (instant) =>
    formatTime(Date.parse(instant), nowMs),
  );
}

/** Returns whether both are in one day of UTC. */
export function isSameDay(leftMs: number, rightMs: number): boolean {
  return Math.floor(leftMs / dayMs) === Math.floor(rightMs / dayMs);
}

/** One organization, 2,000 organizations. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
