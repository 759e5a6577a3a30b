import type { AssetTypeDeaths, DeathsQuery } from "../contract/liveness-counts.ts";
import type { SegmentQuery } from "./count-reader.ts";
import type { SegmentDeaths } from "./count-rows.ts";

/**
 * Plans the segments of each slug: the bounds of all its intervals split time into segments that do not overlap, so that
 * each event is read once, however many intervals and queries contain it.
 */
export function planSegments(queries: readonly DeathsQuery[]): SegmentQuery[] {
  const bounds = new Map<string, Set<number>>();
  for (const { slug, intervals } of queries) {
    const ofSlug = bounds.get(slug) ?? new Set();
    bounds.set(slug, ofSlug);
    for (const { afterMs, untilMs } of intervals) {
      if (afterMs < untilMs) ofSlug.add(afterMs).add(untilMs);
    }
  }
  return [...bounds]
    .filter(([, ofSlug]) => ofSlug.size > 1)
    .map(([slug, ofSlug]) => ({ slug, boundsMs: [...ofSlug].toSorted((left, right) => left - right) }));
}

/** Sums the deaths of a slug's segments for one query. */
export function sumIntervals(
  { intervals }: DeathsQuery,
  boundsMs: readonly number[],
  found: readonly SegmentDeaths[],
): AssetTypeDeaths[] {
  const byType = new Map<string | null, number[]>();
  for (const { assetType, segment, deaths } of found) {
    // Segment n lies between the n-th bound and the next one, counted from 1.
    const startMs = boundsMs[segment - 1];
    const endMs = boundsMs[segment];
    // A table of counts may have empty buckets.
    if (deaths === 0 || startMs === undefined || endMs === undefined) continue;
    for (const [index, { afterMs, untilMs }] of intervals.entries()) {
      if (startMs < afterMs || endMs > untilMs) continue;
      const sums = byType.get(assetType) ?? intervals.map(() => 0);
      byType.set(assetType, sums);
      sums[index] = (sums[index] ?? 0) + deaths;
    }
  }
  return [...byType]
    .map(([assetType, deaths]) => ({ assetType, deaths }))
    .toSorted((left, right) => ((left.assetType ?? "") < (right.assetType ?? "") ? -1 : 1));
}
