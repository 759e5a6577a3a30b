// Numbers, durations and times in sentences. Pure: the browser runs the same code.

import { formatCount, formatPercent } from "../base/numbers.ts";

/** Joins a number to its unit, so that a line never ends between them. */
export const nbsp = "\u00a0";

const dayMs = 86_400_000;
const units = [
  ["d", dayMs],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** "1 organization", "2,000 organizations". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const namedIncidents = 5;

/** "on hold by incident 1", "… by incidents 1, 3", "… by 45 incidents"; "on hold": a pending alert has no incident. */
export function onHoldBy(numbers: readonly number[]): string {
  if (numbers.length === 0) return "on hold";
  if (numbers.length > namedIncidents) return `on hold by ${countOf(numbers.length, "incident")}`;
  return `on hold by ${numbers.length === 1 ? "incident" : "incidents"} ${numbers.join(", ")}`;
}

/** A share (0–1) as `78 %`. */
export function shareText(share: number): string {
  return formatPercent(share).replace(" ", nbsp);
}

/** Returns a duration in its two largest units: `40 s`, `26 min` (no seconds), `11 h 40 min`, `1 d 13 h`. */
export function durationText(ms: number): string {
  const at = units.findIndex(([, lengthMs]) => ms >= lengthMs);
  const [unit, lengthMs] = units[at] ?? ["s", 1_000];
  const first = `${Math.max(0, Math.floor(ms / lengthMs))}${nbsp}${unit}`;
  const next = units[at + 1];
  if (at === -1 || next === undefined || unit === "min") return first;
  const rest = Math.floor((ms % lengthMs) / next[1]);
  return rest === 0 ? first : `${first} ${rest}${nbsp}${next[0]}`;
}

/** `40 min after «captcha rollout»`: what came first, not what caused it. */
export function afterText(ms: number, what: string): string {
  return `${ms < 60_000 ? "right" : durationText(ms)} after «${what}»`;
}

/** `10 minutes`, rounded up, up to 90; then hours. */
export function withinText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes <= 90 ? countOf(minutes, "minute") : countOf(Math.ceil(minutes / 60), "hour");
}

/** `12:00`, in UTC. */
export function clockText(atMs: number): string {
  return new Date(atMs).toISOString().slice(-13, -8);
}

/** `12:00:04`, in UTC. */
export function secondsText(atMs: number): string {
  return new Date(atMs).toISOString().slice(-13, -5);
}

/** `15 Jan`, in UTC. */
export function dayText(atMs: number): string {
  // "Thu, 15 Jan 2026 12:00:00 GMT"
  const [, day, month] = new Date(atMs).toUTCString().split(" ");
  return `${Number(day)}${nbsp}${month}`;
}

/** `15 Jan 12:00`, or `12:00` today, in UTC. */
export function timeText(atMs: number, nowMs: number): string {
  return isSameDay(atMs, nowMs) ? clockText(atMs) : `${dayText(atMs)} ${clockText(atMs)}`;
}

/** `22:01`, `22:01 tomorrow`, `15 Jan 12:00`, in UTC. */
export function dueText(atMs: number, nowMs: number): string {
  return isSameDay(atMs - dayMs, nowMs) ? `${clockText(atMs)} tomorrow` : timeText(atMs, nowMs);
}

/** `15 Jan 12:00 UTC`, with the year if it is not this one. */
export function instantText(atMs: number, nowMs: number): string {
  const year = new Date(atMs).getUTCFullYear();
  const ofYear = year === new Date(nowMs).getUTCFullYear() ? "" : ` ${year}`;
  return `${dayText(atMs)}${ofYear} ${clockText(atMs)}${nbsp}UTC`;
}

export function isSameDay(leftMs: number, rightMs: number): boolean {
  return Math.floor(leftMs / dayMs) === Math.floor(rightMs / dayMs);
}
