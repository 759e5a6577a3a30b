import { dayMs, hourMs, minuteMs, secondMs } from "../../base/time.ts";
import { formatNumber } from "../../base/numbers.ts";

// No-break: a number does not part from its unit at the end of a line.
const space = "\u00A0";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `78 %` of a share from 0 to 1. */
export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? "<1" : Math.round(percent)}${space}%`;
}

/** `24 h`. */
export function hoursText(hours: number): string {
  return `${formatNumber(hours)}${space}h`;
}

/** Prose: `40 s`, `26 min`, `11 h 40 min`, `1 d 13 h`; the two largest units. */
export function durationText(durationMs: number): string {
  const units: readonly [number, string][] = [
    [dayMs, "d"],
    [hourMs, "h"],
    [minuteMs, "min"],
    [secondMs, "s"],
  ];
  const leading = units.findIndex(([unitMs]) => durationMs >= unitMs);
  if (leading < 0) return `0${space}s`;
  let restMs = durationMs;
  const parts: string[] = [];
  // Seconds beside minutes say nothing that a reader acts on.
  for (const [unitMs, unit] of units.slice(leading, leading === 2 ? 3 : leading + 2)) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) parts.push(`${count}${space}${unit}`);
  }
  return parts.join(" ");
}

/** `15 Jan 12:00 UTC`, with the year when it is another than the reader's. */
export function instantText(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const day = `${at.getUTCDate()}${space}${months[at.getUTCMonth()] ?? ""}`;
  const year = at.getUTCFullYear() === new Date(nowMs).getUTCFullYear() ? "" : ` ${at.getUTCFullYear()}`;
  return `${day}${year} ${at.toISOString().slice(11, 16)}${space}UTC`;
}
