import { dayMs, minuteMs } from "../base/time.ts";
import type { SpikeOnset } from "../contract/spike-evidence.ts";

/** Deaths of one bucket of time. */
export interface DeathBucket {
  /** The start of the bucket, epoch ms. */
  readonly atMs: number;
  readonly deaths: number;
}

/** A window's deaths, and how many were expected in it. */
export interface OnsetInput {
  /** Buckets of one length, those without a death left out, in the order of time. */
  readonly buckets: readonly DeathBucket[];
  readonly windowMs: number;
  readonly expectedCount: number;
}

// An expectation of 0 is no rate of 0: it counts as half a death (Jeffreys' prior of a Poisson rate).
const leastExpected = 0.5;

/**
 * Returns when the excess began, the start of a bucket; null without an excess. This is a CUSUM of counts (E. S. Page,
 * Continuous Inspection Schemes, Biometrika 41, 1954) with the best reference value between the expected rate and the
 * window's, (r1 − r0) / (ln r1 − ln r0) (J. M. Lucas, Counted Data CUSUM's, Technometrics 27, 1985). The excess began
 * where the highest sum last left zero: the maximum likelihood change point of a Poisson rate. Deaths come in larger
 * bursts than Poisson's; the reference grows with the spike, so a usual burst hours before does not reach it.
 */
export function onsetAtMs({ buckets, windowMs, expectedCount }: OnsetInput): number | null {
  const currentCount = buckets.reduce((sum, { deaths }) => sum + deaths, 0);
  const usual = Math.max(expectedCount, leastExpected);
  if (currentCount <= usual || windowMs <= 0) return null;
  const referencePerMs = (currentCount - usual) / Math.log(currentCount / usual) / windowMs;
  let sum = 0;
  let startMs: number | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  let best = 0;
  let bestStartMs: number | null = null;
  for (const { atMs, deaths } of buckets) {
    sum -= startMs === null ? 0 : (atMs - lastMs) * referencePerMs;
    if (startMs === null || sum <= 0) {
      sum = 0;
      startMs = atMs;
    }
    sum += deaths;
    lastMs = atMs;
    if (sum > best) {
      best = sum;
      bestStartMs = startMs;
    }
  }
  return bestStartMs;
}

/** A marker of people that may explain an onset. */
export type OnsetMarker = NonNullable<SpikeOnset["marker"]>;

/** The longest time from a marker to an onset that it may explain, milliseconds. */
export const markerReachMs = dayMs;

/** An onset is the start of its minute: a marker within that minute may have come first, too. */
export const onsetMinuteMs = minuteMs - 1;

/** Returns the last marker before the onset's minute was over, within reach; null: none. They may have any order. */
export function markerBefore<Marker extends OnsetMarker>(markers: readonly Marker[], onsetAtMs: number): Marker | null {
  const near = markers.filter(({ atMs }) => atMs <= onsetAtMs + onsetMinuteMs && onsetAtMs - atMs <= markerReachMs);
  return near.reduce<Marker | null>((last, one) => (last === null || one.atMs > last.atMs ? one : last), null);
}
