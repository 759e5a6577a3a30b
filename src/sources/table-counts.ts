import type { FlatlineError } from "../base/errors.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";
import { stopped, type CountReader, type SegmentQuery } from "./count-reader.ts";
import { readDeaths, readFirstEvents, type SegmentDeaths } from "./count-rows.ts";

export interface TableCountsOptions {
  readonly reader: CountReader;
  readonly clock: Pick<Clock, "timeout" | "monotonicMs">;
  /** Timeout of one query on the server. */
  readonly timeoutMs: number;
  /** [2000] */
  readonly mostOrganizations?: number;
}

/** Counts over the user's table. */
export interface TableCounts extends LivenessCounts {
  close(): Promise<void>;
}

// About 100 KB of parameters; further organizations go into a concurrent second query.
const defaultMostOrganizations = 2_000;
// The server cancels a query first and reports the reason; this bound is for a server that does not answer.
const graceMs = 2_000;
// The first event only changes when old rows are deleted or added. A missing one may appear at any time.
const knownForMs = hourMs;
const unknownForMs = minuteMs;

/** Creates LivenessCounts with one query for each some thousand organizations of a round. */
export function createTableCounts(options: TableCountsOptions): TableCounts {
  const { reader, clock, timeoutMs, mostOrganizations = defaultMostOrganizations } = options;
  const known = new Map<string, { readonly atMs: number | null; readonly untilMs: number }>();

  async function inParts<Item, Answer>(
    items: readonly Item[],
    signal: AbortSignal | undefined,
    ask: (some: readonly Item[], signal: AbortSignal) => Promise<readonly Answer[]>,
  ): Promise<Answer[]> {
    if (signal?.aborted === true) throw stopped(signal);
    const parts = Array.from({ length: Math.ceil(items.length / mostOrganizations) }, (_, part) =>
      ask(
        items.slice(part * mostOrganizations, (part + 1) * mostOrganizations),
        clock.timeout(timeoutMs + graceMs, signal),
      ),
    );
    return (await Promise.all(parts)).flat();
  }

  return {
    deaths: (queries, { signal } = {}) => inParts(queries, signal, (some, ending) => askDeaths(reader, some, ending)),
    firstEvents: async (slugs, { signal } = {}) => {
      const { firstEvents } = reader;
      if (firstEvents === null) return null;
      const nowMs = clock.monotonicMs();
      const asked = [...new Set(slugs)].filter((slug) => (known.get(slug)?.untilMs ?? -Infinity) <= nowMs);
      const found = readFirstEvents(await inParts(asked, signal, (some, ending) => firstEvents(some, ending)));
      for (const slug of asked) {
        const atMs = found.rows.get(slug)?.[0]?.atMs ?? null;
        known.set(slug, { atMs, untilMs: nowMs + (atMs === null ? unknownForMs : knownForMs) });
      }
      return new Map(slugs.map((slug) => [slug, known.get(slug)?.atMs ?? null]));
    },
    close: () => reader.close(),
  };
}

async function askDeaths(
  reader: CountReader,
  queries: readonly DeathsQuery[],
  signal: AbortSignal,
): Promise<(readonly AssetTypeDeaths[] | FlatlineError)[]> {
  const segments = planSegments(queries);
  const { rows, problems } = readDeaths(segments.length === 0 ? [] : await reader.segmentDeaths(segments, signal));
  const bounds = new Map(segments.map(({ slug, boundsMs }) => [slug, boundsMs]));
  return queries.map(
    (query) =>
      problems.get(query.slug) ?? sumIntervals(query, bounds.get(query.slug) ?? [], rows.get(query.slug) ?? []),
  );
}

/**
 * Plans the segments of each slug: the bounds of all its intervals split time into segments that do not overlap, so that
 * each event is read once, however many intervals and queries contain it.
 */
function planSegments(queries: readonly DeathsQuery[]): SegmentQuery[] {
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
function sumIntervals(
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
