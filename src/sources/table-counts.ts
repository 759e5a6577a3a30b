import { asFlatlineError, FlatlineError } from "../base/errors.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";
import type { ClickhouseTableSource, PostgresTableSource } from "../contract/table-source.ts";
import {
  readDeaths,
  readFirstEvents,
  stopped,
  type CountReader,
  type SegmentDeaths,
  type SegmentQuery,
} from "./count-reader.ts";

/** A source that reads a table, by engine. */
export type AnyTableSource =
  ({ readonly type: "postgres" } & PostgresTableSource) | ({ readonly type: "clickhouse" } & ClickhouseTableSource);

export interface TableCountsOptions {
  readonly clock: Pick<Clock, "timeout" | "monotonicMs">;
  /** Called for each query with its name and `ok` or the code of the error. */
  readonly onRequest: (event: { readonly operation: string; readonly code: string }) => void;
  /** [2000] */
  readonly mostOrganizations?: number;
  /** Connects on first use [by the driver of the source]. */
  readonly connect?: (source: AnyTableSource) => Promise<CountReader>;
}

/** Counts over the user's table. */
export interface TableCounts extends LivenessCounts {
  close(): Promise<void>;
}

// About 100 KB of parameters; more organizations go into concurrent queries.
const defaultMostOrganizations = 2_000;
// The server cancels a query first and reports the reason; this bound is for a server that does not answer.
const graceMs = 2_000;
// The first event only changes when old rows are deleted or added. A missing one may appear at any time.
const knownForMs = hourMs;
const unknownForMs = minuteMs;

/** Creates counts over the user's table, with one query for at most `mostOrganizations`. */
export function createTableCounts(source: AnyTableSource, options: TableCountsOptions): TableCounts {
  const { clock, onRequest, mostOrganizations = defaultMostOrganizations, connect = connectTo } = options;
  const known = new Map<string, { readonly atMs: number | null; readonly untilMs: number }>();
  let connected: Promise<CountReader> | null = null;

  async function inParts<Item, Answer>(
    operation: string,
    items: readonly Item[],
    signal: AbortSignal | undefined,
    ask: (reader: CountReader, some: readonly Item[], signal: AbortSignal) => Promise<readonly Answer[]>,
  ): Promise<Answer[]> {
    if (signal?.aborted === true) throw stopped(signal);
    const askPart = async (_: unknown, part: number): Promise<readonly Answer[]> => {
      const some = items.slice(part * mostOrganizations, (part + 1) * mostOrganizations);
      try {
        const reader = await (connected ??= connect(source));
        const answer = await ask(reader, some, clock.timeout(source.timeoutMs + graceMs, signal));
        onRequest({ operation, code: "ok" });
        return answer;
      } catch (error) {
        onRequest({ operation, code: asFlatlineError(error).code.replace(/^api_/, "") });
        throw error;
      }
    };
    const parts = Array.from({ length: Math.ceil(items.length / mostOrganizations) }, askPart);
    return (await Promise.all(parts)).flat();
  }

  return {
    deaths: async (queries, { signal } = {}) => {
      const segments = planSegments(queries);
      const rows = readDeaths(
        await inParts("count_deaths", segments, signal, (reader, some, ending) => reader.segmentDeaths(some, ending)),
      );
      const bounds = new Map(segments.map(({ slug, boundsMs }) => [slug, boundsMs]));
      return queries.map((query) => {
        const found = rows.get(query.slug) ?? [];
        return found instanceof FlatlineError ? found : sumIntervals(query, bounds.get(query.slug) ?? [], found);
      });
    },
    firstEvents: async (slugs, { signal } = {}) => {
      const { events } = source;
      if (events.kind === "query") return null;
      const nowMs = clock.monotonicMs();
      const asked = [...new Set(slugs)].filter((slug) => (known.get(slug)?.untilMs ?? -Infinity) <= nowMs);
      const found = readFirstEvents(
        await inParts("first_events", asked, signal, (reader, some, ending) =>
          reader.firstEvents(events, some, ending),
        ),
      );
      for (const slug of asked) {
        const atMs = found.get(slug) ?? null;
        known.set(slug, { atMs, untilMs: nowMs + (atMs === null ? unknownForMs : knownForMs) });
      }
      return new Map(slugs.map((slug) => [slug, known.get(slug)?.atMs ?? null]));
    },
    close: async () => {
      await (await connected)?.close();
    },
  };
}

/** Loads the driver on first use: most configurations need none, and it slows the start. */
async function connectTo(source: AnyTableSource): Promise<CountReader> {
  if (source.type === "postgres") return (await import("./postgres-reader.ts")).createPostgresReader(source);
  return (await import("./clickhouse-reader.ts")).createClickhouseReader(source);
}

/**
 * Plans the segments of each slug: the bounds of all its intervals split time into segments that do not overlap, so
 * that each event is read once, however many intervals and queries contain it.
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
