import { excerpt } from "./outside-text.ts";
import type { Timezone } from "./timezone.ts";

/** 9999-12-31T23:59:59.999Z: the last instant that ISO 8601 can write with a four-digit year. */
export const latestInstantMs = 253_402_300_799_999;

const isoShape =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?( ?(?:[Zz]|UTC)| ?([+-])(\d{2})(?::?(\d{2}))?)?$/;

/**
 * Parses ISO 8601 with Z, UTC or an offset (a blank may precede them), or integer epoch ms, from 1970 to 9999 (CONTRACT
 * 10). Drops digits after the millisecond. A time without an offset is in the timezone `local`: a repeated one is the
 * first, as in cron, a skipped one is a problem. If `local` is a text, it is the advice for a time without an offset.
 * Returns epoch ms, or the problem of the text.
 */
export function readInstant(text: string, local: Timezone | string = "add Z if it is UTC"): number | string {
  if (/^-?\d+$/.test(text)) return inRange(Number(text), text);
  const match = isoShape.exec(text);
  if (match === null) {
    const iso = typeof local === "string" ? "ISO 8601 with an offset or Z" : "ISO 8601 (2026-01-31 14:05:09)";
    return `${excerpt(text)} is neither ${iso} nor integer epoch ms`;
  }
  const [, year, month, day, hour, minute, second, fraction, offset, sign, offsetHours, offsetMinutes] = match;
  if (offset === undefined && typeof local === "string") return `${excerpt(text)} has no offset; ${local}`;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // Date moves days that do not exist to the next month, and reads the years before 100 as 1900 to 1999.
  if (date.getUTCFullYear() !== Number(year) || date.getUTCDate() !== Number(day))
    return `${excerpt(text)} is not a real date`;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59)
    return `${excerpt(text)} is not a real time`;
  const shiftMinutes = Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0);
  if (Number(offsetHours ?? 0) > 23 || Number(offsetMinutes ?? 0) > 59) return `${excerpt(text)} has no real offset`;
  const minutes = Number(hour) * 60 + Number(minute) - (sign === "-" ? -shiftMinutes : shiftMinutes);
  const ms = Number((fraction ?? "").slice(0, 3).padEnd(3, "0"));
  const atMs = date.getTime() + minutes * 60_000 + Number(second ?? 0) * 1_000 + ms;
  if (offset !== undefined || typeof local === "string") return inRange(atMs, text);
  const { earlierMs, gapEndMs } = local.instants(atMs);
  if (gapEndMs === null) return inRange(earlierMs, text);
  return (
    `${excerpt(text)} does not exist in ${local.name}, whose clocks skip it; ` +
    "write its offset, or name another timezone"
  );
}

function inRange(atMs: number, text: string): number | string {
  if (atMs >= 0 && atMs <= latestInstantMs) return atMs;
  return `${excerpt(text)} is not between 1970 and 9999`;
}

/** Removes the fraction of the second, for people. */
export function withoutFraction(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}
