import { createBatch } from "../base/batch.ts";
import { FlatlineError } from "../base/errors.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";
import { stopped, type CountReader, type SegmentQuery } from "./count-reader.ts";
import { readDeaths, readFirstEvents, type SegmentDeaths } from "./count-rows.ts";

export interface BatchedCountsOptions {
  readonly reader: CountReader;
  readonly clock: Pick<Clock, "sleep" | "timeout" | "monotonicMs">;
  /** Timeout of one query on the server. */
  readonly timeoutMs: number;
  /** [20 ms] */
  readonly waitMs?: number;
  /** [2000] */
  readonly mostOrganizations?: number;
}

/** Counts over the user's table. */
export interface TableCounts extends LivenessCounts {
  /** Whether the source can return first events; a query of the operator's own cannot. */
  readonly knowsFirstEvents: boolean;
  close(): Promise<void>;
}

// The scheduler starts due checks within a few turns of the event loop; a check takes longer than this delay.
const defaultWaitMs = 20;
// About 100 KB of parameters; further organizations go into a concurrent second query.
const defaultMostOrganizations = 2_000;
// The server cancels a query first and reports the reason; this bound is for a server that does not answer.
const graceMs = 2_000;
// The first event only changes when old rows are deleted or added. A missing one may appear at any time.
const knownForMs = hourMs;
const unknownForMs = minuteMs;

/** Creates LivenessCounts that send one query for all organizations that are due together. */
export function createBatchedCounts(options: BatchedCountsOptions): TableCounts {
  const { reader, clock } = options;
  const deaths = gathered((queries: readonly DeathsQuery[], signal) => askDeaths(reader, queries, signal), options);
  const firstEvents = gathered((slugs: readonly string[], signal) => askFirstEvents(reader, slugs, signal), options);
  const known = new Map<string, { readonly atMs: number | null; readonly untilMs: number }>();
  return {
    knowsFirstEvents: reader.firstEvents !== null,
    deaths: (queries, { signal } = {}) => Promise.all(queries.map((query) => deaths(query, signal))),
    firstEventAtMs: async (slug, { signal } = {}) => {
      if (reader.firstEvents === null) return null;
      const remembered = known.get(slug);
      if (remembered !== undefined && clock.monotonicMs() < remembered.untilMs) return remembered.atMs;
      const { atMs } = await firstEvents(slug, signal);
      known.set(slug, { atMs, untilMs: clock.monotonicMs() + (atMs === null ? unknownForMs : knownForMs) });
      return atMs;
    },
    close: () => reader.close(),
  };
}

/**
 * Returns a function whose calls within a short time are one query. An error among the answers of `ask` fails its own item only,
 * any other one fails all: a query for each of them alone would fail as well. The query ends when all callers have left.
 */
function gathered<Item, Answer>(
  ask: (items: readonly Item[], signal: AbortSignal) => Promise<readonly (Answer | FlatlineError)[]>,
  { clock, timeoutMs, waitMs = defaultWaitMs, mostOrganizations = defaultMostOrganizations }: BatchedCountsOptions,
): (item: Item, signal?: AbortSignal) => Promise<Answer> {
  const answerOf = createBatch<Asked<Item>, Answer | FlatlineError>({
    gather: () => clock.sleep(waitMs),
    largestGroup: mostOrganizations,
    areConcurrent: true,
    failsAll: () => true,
    run: async (asked) => {
      const ended = new AbortController();
      const left = whenAllLeft(asked, ended.signal);
      if (left.aborted) throw stopped(left);
      try {
        return await ask(
          asked.map(({ item }) => item),
          clock.timeout(timeoutMs + graceMs, left),
        );
      } finally {
        ended.abort();
      }
    },
  });
  return async (item, signal) => {
    const answer = await answerOf({ item, signal });
    if (answer instanceof FlatlineError) throw answer;
    return answer;
  };
}

interface Asked<Item> {
  readonly item: Item;
  readonly signal: AbortSignal | undefined;
}

/** Returns a signal that aborts when those of all callers have, unless `ended` is first. */
function whenAllLeft(asked: readonly Asked<unknown>[], ended: AbortSignal): AbortSignal {
  const all = new AbortController();
  const waiting = new Set(asked.map(({ signal }) => signal));
  for (const signal of waiting) {
    const leave = (): void => {
      waiting.delete(signal);
      if (waiting.size === 0) all.abort(signal?.reason);
    };
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true, signal: ended });
  }
  return all.signal;
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

async function askFirstEvents(
  reader: CountReader,
  slugs: readonly string[],
  signal: AbortSignal,
): Promise<({ readonly atMs: number | null } | FlatlineError)[]> {
  const { rows, problems } = readFirstEvents((await reader.firstEvents?.([...new Set(slugs)], signal)) ?? []);
  return slugs.map((slug) => problems.get(slug) ?? { atMs: rows.get(slug)?.[0]?.atMs ?? null });
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
