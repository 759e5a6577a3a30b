import { dayMs, minuteMs } from "../../base/time.ts";

export interface Begun {
  readonly slug: string;
  readonly startsAtMs: number;
}

export const weekMs = 7 * dayMs;
/** Alerts that begin within this time begin together. */
export const togetherMs = 30 * minuteMs;
/** The rate comes from so many days. */
export const rateDays = 28;

// Spikes per organization and week on the project's records: the least rate (CONTRACT 15).
const leastRate = 0.26;
// Organization-weeks. With fewer, a few alerts would decide the rate.
const leastKnownWeeks = 20;
// At most one verdict by chance in a million looks.
const mostChance = 1e-6;
// Intervals (CONTRACT 15).
const longestGap = 3;
// On the project's records half of the alerts begin within six hours of the day, 2.5 times the rate of other hours.
const busyHours = 2.5;

/** Returns whether the result before is too old for this run to say when something began. */
export function isAfterGap(gapMs: number, intervalMs: number): boolean {
  return gapMs > longestGap * intervalMs;
}

/**
 * Returns the weeks that the looks at one organization within 30 minutes cover: an interval for each look, at most a
 * week. Less than a day counts up to 2.5 times: it may be the busiest hours.
 */
export function weeksLookedAt(intervalMs: number): number {
  const looks = intervalMs > 0 ? Math.floor(togetherMs / intervalMs) + 1 : 0;
  const backMs = looks * intervalMs;
  return Math.min(Math.max(backMs, Math.min(busyHours * backMs, dayMs)), weekMs) / weekMs;
}

/** Returns the most organizations that began within the same 30 minutes, each counted once. */
export function countTogether(begun: readonly Begun[]): number {
  const sorted = begun.toSorted((left, right) => left.startsAtMs - right.startsAtMs);
  const within = new Map<string, number>();
  let [most, first] = [0, 0];
  for (const { slug, startsAtMs } of sorted) {
    within.set(slug, (within.get(slug) ?? 0) + 1);
    for (let oldest = sorted[first]; oldest !== undefined && startsAtMs - oldest.startsAtMs > togetherMs;) {
      const count = (within.get(oldest.slug) ?? 1) - 1;
      if (count === 0) within.delete(oldest.slug);
      else within.set(oldest.slug, count);
      oldest = sorted[++first];
    }
    most = Math.max(most, within.size);
  }
  return most;
}

interface UsualFacts {
  /** The sum of `weeksLookedAt` over the organizations with a result in the last 30 minutes. */
  readonly weeksLookedAt: number;
  /** Spike alerts of the last 28 days, at most one per organization and day. */
  readonly fired: number;
  readonly organizations: number;
  readonly knownForMs: number;
}

/** Returns how many organizations usually begin to spike in so many organization-weeks. */
export function usualNumber({ weeksLookedAt, fired, organizations, knownForMs }: UsualFacts): number {
  const weeks = (organizations * Math.min(knownForMs, rateDays * dayMs)) / weekMs;
  const rate = weeks >= leastKnownWeeks ? Math.max(leastRate, fired / weeks) : leastRate;
  return rate * weeksLookedAt;
}

/** Returns whether so many together cannot be chance, with the probability that they are. */
export function isBeyondChance(together: number, usual: number) {
  const probability = poissonTail(together, usual);
  return { isBeyond: probability < mostChance, probability };
}

/** Returns P(X ≥ `least`) of a Poisson distribution with this mean. */
export function poissonTail(least: number, mean: number): number {
  if (least <= 0) return 1;
  if (mean <= 0) return 0;
  // Below the mean there are fewer terms before `least`, and the rest is large enough to subtract from 1.
  if (least <= mean) return 1 - sumOfTerms(0, least, mean);
  return Math.min(1, sumOfTerms(least, Infinity, mean));
}

/** Sums the terms `from` to `to` (exclusive), each from the one before: 100! has no exact double. */
function sumOfTerms(from: number, to: number, mean: number): number {
  let logFactorial = 0;
  for (let factor = 2; factor <= from; factor++) logFactorial += Math.log(factor);
  let term = Math.exp(from * Math.log(mean) - mean - logFactorial);
  let sum = 0;
  for (let count = from; count < to; count++) {
    sum += term;
    term *= mean / (count + 1);
    if (count > mean && term <= sum * Number.EPSILON) break;
  }
  return sum;
}
