import { dayMs, minuteMs } from "../../base/time.ts";

/** An organization of an incident, and when its alert began. */
export interface Begun {
  readonly slug: string;
  readonly startsAtMs: number;
}

export const weekMs = 7 * dayMs;
/** What began within so long began together. */
export const togetherMs = 30 * minuteMs;
/** The rate is of so many days before. */
export const rateDays = 28;

// Measured on the project's records: spikes of an organization in a week, while nobody knows its fleet better (CONTRACT 15).
const leastRate = 0.26;
// Organization-weeks: a rate of fewer is of a few alerts. A large fleet has them within minutes, and may be a loud one.
const leastKnownWeeks = 20;
// One verdict by chance in a million looks.
const mostChance = 1e-6;
// Intervals (CONTRACT 15): a run that comes later has not looked for so long.
const longestGap = 3;
// Alerts have hours of the day: half of them begin within six on the project's records, 2.5 times as many as in other hours.
const busyHours = 2.5;

/** Returns whether a run says nothing of when something began: the result before it is too old. */
export function isAfterGap(gapMs: number, intervalMs: number): boolean {
  return gapMs > longestGap * intervalMs;
}

/**
 * Returns what the looks at one organization within 30 minutes look back on, in weeks: each of them on an interval;
 * less than a day may be its busiest hours.
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
  /** Organization-weeks that were looked at within 30 minutes: the sum of `weeksLookedAt` over those with a result. */
  readonly weeksLookedAt: number;
  /** Spike alerts of the last 28 days, at most one per organization and day. */
  readonly fired: number;
  readonly organizations: number;
  /** How long the fleet has been watched. */
  readonly knownForMs: number;
}

/** Returns how many organizations usually begin to spike while so much is looked at. */
export function usualNumber({ weeksLookedAt, fired, organizations, knownForMs }: UsualFacts): number {
  const weeks = (organizations * Math.min(knownForMs, rateDays * dayMs)) / weekMs;
  const rate = weeks >= leastKnownWeeks ? Math.max(leastRate, fired / weeks) : leastRate;
  return rate * weeksLookedAt;
}

/** Returns whether so many together are no chance; the probability that they are. */
export function isBeyondChance(together: number, usual: number) {
  const probability = poissonTail(together, usual);
  return { isBeyond: probability < mostChance, probability };
}

/** Returns P(X ≥ `least`) of a Poisson distribution with this mean. */
export function poissonTail(least: number, mean: number): number {
  if (least <= 0) return 1;
  if (mean <= 0) return 0;
  // Below the mean the terms up to it are the fewer, and what is left is large.
  if (least <= mean) return 1 - sumOfTerms(0, least, mean);
  return Math.min(1, sumOfTerms(least, Infinity, mean));
}

/** Terms from `from` to before `to`, each out of the one before: a factorial of a hundred has no exact double. */
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
