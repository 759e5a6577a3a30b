import type { AssetTypeDeaths, DeathsQuery } from "../contract/liveness-counts.ts";
import type { SegmentQuery } from "./count-reader.ts";
import type { SegmentDeaths } from "./count-rows.ts";

/**
 * What a database has to be asked for so that all queries can be answered: the bounds of all intervals of a slug cut time into
 * segments that do not overlap, so that no event is read twice, however many intervals and queries it is in.
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

/** The answer to one query from the deaths in the segments of its slug. */
export function sumIntervals(
  { intervals }: DeathsQuery,
  boundsMs: readonly number[],
  found: readonly SegmentDeaths[],
): AssetTypeDeaths[] {
  const byType = new Map<string | null, number[]>();
  for (const { assetType, segment, deaths } of found) {
    // Segment n lies between the n-th bound and the next, counted from 1.
    const startMs = boundsMs[segment - 1];
    const endMs = boundsMs[segment];
    // A table of counts may hold buckets in which nothing happened.
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
