import { createHash } from "node:crypto";

import { nextCronAtMs } from "../base/cron.ts";
import { FlatlineError } from "../base/errors.ts";
import { memoized } from "../base/memo.ts";
import { dayMs, minuteMs } from "../base/time.ts";
import type { Schedule } from "../checks/kind.ts";

// CONTRACT 6: a last verdict is stale after three intervals of its schedule, at least 2 min.
const staleIntervals = 3;
const leastStaleMs = 2 * minuteMs;

// Each run asks for it six times.
const slugHash = memoized(20_000, (slug: string) => createHash("sha256").update(slug).digest().readUIntBE(0, 6));

/** Returns the delay of an organization's ticks, milliseconds in [0, jitterMs): a stable hash of the slug. */
export function jitterOffsetMs(jitterMs: number, slug: string): number {
  return jitterMs <= 0 ? 0 : slugHash(slug) % Math.ceil(jitterMs);
}

/**
 * Returns the first instant after `afterMs` at which the check of `slug` is due.
 * @throws FlatlineError invalid_config for a pattern that does not exist or never comes, or an unknown timezone
 */
export function nextDueAtMs(schedule: Schedule, slug: string, afterMs: number): number {
  const dueAtMs = findDueAtMs(schedule, slug, afterMs);
  if (dueAtMs === null) throw new FlatlineError("invalid_config", `the schedule "${schedule.pattern}" never comes`);
  return dueAtMs;
}

/** Same as nextDueAtMs, but null when nothing is due before the year 3000, where croner ends. */
export function findDueAtMs(schedule: Schedule, slug: string, afterMs: number): number | null {
  // The whole schedule is shifted, so that order and distance of the ticks stay.
  const offsetMs = jitterOffsetMs(schedule.jitterMs, slug);
  const tickMs = nextCronAtMs(schedule, afterMs - offsetMs);
  return tickMs === null ? null : tickMs + offsetMs;
}

/** Returns how many ticks lie in (fromMs, toMs], at most `limit`: a pattern with seconds has 86,400 ticks a day. */
export function ticksBetween(
  schedule: Schedule,
  slug: string,
  span: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): number {
  let count = 0;
  for (let atMs = span.fromMs; count < span.limit; count++) {
    atMs = nextDueAtMs(schedule, slug, atMs);
    if (atMs > span.toMs) break;
  }
  return count;
}

/**
 * Returns the age from which a verdict of `lastRunAtMs` is stale, milliseconds (CONTRACT 6): three intervals, at least
 * 2 min. With uneven ticks (office hours) it is fresh until three ticks have passed, so that a night is no outage.
 */
export function staleAfterMs(schedule: Schedule, slug: string, lastRunAtMs: number): number {
  let atMs = nextDueAtMs(schedule, slug, lastRunAtMs);
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let tick = 1; tick < staleIntervals; tick++) {
    const nextMs = nextDueAtMs(schedule, slug, atMs);
    shortestMs = Math.min(shortestMs, nextMs - atMs);
    atMs = nextMs;
  }
  return Math.max(leastStaleMs, atMs - lastRunAtMs, staleIntervals * shortestMs);
}

// Some days of office hours, or two months of daily ticks: gaps of nights and weekends are the exception among them.
const sampledIntervals = 36;
const sampledSpanMs = 70 * dayMs;
const leastIntervals = 3;
const evenShare = 0.75;
// A fixed Monday, so that the answer does not depend on the date.
const sampledFromMs = Date.UTC(2024, 0, 1);

const spacing = memoized(20_000, (key: string): { readonly intervalMs: number | null } => {
  const [pattern, timezone] = JSON.parse(key) as [string, string];
  return { intervalMs: findEvenInterval({ pattern, timezone, jitterMs: 0 }) };
});

/**
 * Returns the distance of a schedule's ticks, milliseconds: at least three of four have it, so that nights and weekends
 * do not count. null when no distance is that common (`0 9,17 * * *`, `@monthly`).
 */
export function evenIntervalMs({ pattern, timezone }: Schedule): number | null {
  return spacing(JSON.stringify([pattern, timezone])).intervalMs;
}

function findEvenInterval(schedule: Schedule): number | null {
  const counts = new Map<number, number>();
  let atMs = nextDueAtMs(schedule, "", sampledFromMs);
  const endMs = atMs + sampledSpanMs;
  let total = 0;
  for (; total < sampledIntervals && atMs <= endMs; total++) {
    const nextMs = nextDueAtMs(schedule, "", atMs);
    counts.set(nextMs - atMs, (counts.get(nextMs - atMs) ?? 0) + 1);
    atMs = nextMs;
  }
  const [intervalMs = 0, count = 0] = [...counts].toSorted(([, left], [, right]) => right - left)[0] ?? [];
  return total >= leastIntervals && count >= evenShare * total ? intervalMs : null;
}
