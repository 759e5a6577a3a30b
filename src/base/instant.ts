import { excerpt } from "./cut-text.ts";
import type { Timezone } from "./timezone.ts";

export type InstantReading =
  { readonly kind: "instant"; readonly atMs: number } | { readonly kind: "problem"; readonly problem: string };

/** 9999-12-31T23:59:59.999Z: the last instant that ISO 8601 can write with a four-digit year. */
export const latestInstantMs = 253_402_300_799_999;

const isoShape =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?( ?(?:[Zz]|UTC)| ?([+-])(\d{2})(?::?(\d{2}))?)?$/;

/**
 * Parses ISO 8601 with Z, UTC or an offset (a blank may precede them), or integer epoch ms, from 1970 to 9999 (CONTRACT
 * 10). Drops digits after the millisecond. A time without an offset is in the timezone `local`: a repeated one is the
 * first, as in cron, a skipped one is a problem. If `local` is a text, it is the advice for a time without an offset.
 */
export function readInstant(text: string, local: Timezone | string = "add Z if it is UTC"): InstantReading {
  if (/^-?\d+$/.test(text)) return inRange(Number(text), text);
  const match = isoShape.exec(text);
  if (match === null) {
    const iso = typeof local === "string" ? "ISO 8601 with an offset or Z" : "ISO 8601 (2026-01-31 14:05:09)";
    return problem(`${excerpt(text)} is neither ${iso} nor integer epoch ms`);
  }
  const [, year, month, day, hour, minute, second, fraction, offset, sign, offsetHours, offsetMinutes] = match;
  if (offset === undefined && typeof local === "string") return problem(`${excerpt(text)} has no offset; ${local}`);
  // Date reads the years before 100 as 1900 to 1999.
  const dayMs = Number(year) < 100 ? Number.NaN : dayStartMs(Number(year), Number(month), Number(day));
  if (Number.isNaN(dayMs)) return problem(`${excerpt(text)} is not a real date`);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59)
    return problem(`${excerpt(text)} is not a real time`);
  const shiftMinutes = Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0);
  if (Number(offsetHours ?? 0) > 23 || Number(offsetMinutes ?? 0) > 59)
    return problem(`${excerpt(text)} has no real offset`);
  const minutes = Number(hour) * 60 + Number(minute) - (sign === "-" ? -shiftMinutes : shiftMinutes);
  const ms = Number((fraction ?? "").slice(0, 3).padEnd(3, "0"));
  const atMs = dayMs + minutes * 60_000 + Number(second ?? 0) * 1_000 + ms;
  if (offset !== undefined || typeof local === "string") return inRange(atMs, text);
  const { earlierMs, gapEndMs } = local.instants(atMs);
  if (gapEndMs === null) return inRange(earlierMs, text);
  return problem(
    `${excerpt(text)} does not exist in ${local.name}, whose clocks skip it; ` +
      "write its offset, or name another timezone",
  );
}

/** Returns midnight UTC, epoch ms; NaN: the date does not exist. Years from 100 on. */
export function dayStartMs(year: number, month: number, day: number): number {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : Number.NaN;
}

function inRange(atMs: number, text: string): InstantReading {
  if (atMs >= 0 && atMs <= latestInstantMs) return { kind: "instant", atMs };
  return problem(`${excerpt(text)} is not between 1970 and 9999`);
}

function problem(text: string): InstantReading {
  return { kind: "problem", problem: text };
}

/** Removes the fraction of the second, for people. */
export function withoutFraction(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}
