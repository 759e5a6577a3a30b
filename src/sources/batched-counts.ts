import type { FlatlineError } from "../base/errors.ts";
import { hourMs, minuteMs, type Clock } from "../base/time.ts";
import type { AssetTypeDeaths, DeathsQuery, LivenessCounts } from "../contract/liveness-counts.ts";
import { createBatcher } from "./batcher.ts";
import type { CountReader } from "./count-reader.ts";
import { readDeaths, readFirstEvents } from "./count-rows.ts";
import { planSegments, sumIntervals } from "./segments.ts";

export interface BatchedCountsOptions {
  readonly reader: CountReader;
  readonly clock: Pick<Clock, "sleep" | "timeout" | "monotonicMs">;
  /** Of one query on the server. */
  readonly timeoutMs: number;
  /** [20 ms] */
  readonly waitMs?: number;
  /** [2000] */
  readonly mostOrganizations?: number;
}

/** Counts over the user's table. */
export interface TableCounts extends LivenessCounts {
  /** Whether first events can be asked for: not with a query of the operator's own. */
  readonly knowsFirstEvents: boolean;
  close(): Promise<void>;
}

// A scheduler starts what is due together within one turn of the event loop or few; a check takes longer than this anyway.
const defaultWaitMs = 20;
// Some 100 KB of parameters; more organizations are asked for by a second query at the same time.
const defaultMostOrganizations = 2_000;
// The server ends a query first and says why; this is for one that cannot.
const graceMs = 2_000;
// A first event moves only when old rows are deleted or added. One that is not there yet may come any minute.
const knownForMs = hourMs;
const unknownForMs = minuteMs;

/** LivenessCounts that ask the database once for all organizations that are due together. */
export function createBatchedCounts(options: BatchedCountsOptions): TableCounts {
  const { reader, clock } = options;
  const shared = {
    clock,
    waitMs: options.waitMs ?? defaultWaitMs,
    mostItems: options.mostOrganizations ?? defaultMostOrganizations,
    timeoutMs: options.timeoutMs + graceMs,
  };
  const deaths = createBatcher<DeathsQuery, readonly AssetTypeDeaths[]>({
    ...shared,
    ask: (queries, signal) => askDeaths(reader, queries, signal),
  });
  const firstEvents = createBatcher<string, { readonly atMs: number | null }>({
    ...shared,
    ask: (slugs, signal) => askFirstEvents(reader, slugs, signal),
  });
  const known = new Map<string, { readonly atMs: number | null; readonly untilMs: number }>();
  return {
    knowsFirstEvents: reader.firstEvents !== null,
    deaths: (queries, { signal } = {}) => Promise.all(queries.map((query) => deaths.ask(query, signal))),
    firstEventAtMs: async (slug, { signal } = {}) => {
      if (reader.firstEvents === null) return null;
      const remembered = known.get(slug);
      if (remembered !== undefined && clock.monotonicMs() < remembered.untilMs) return remembered.atMs;
      const { atMs } = await firstEvents.ask(slug, signal);
      known.set(slug, { atMs, untilMs: clock.monotonicMs() + (atMs === null ? unknownForMs : knownForMs) });
      return atMs;
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

async function askFirstEvents(
  reader: CountReader,
  slugs: readonly string[],
  signal: AbortSignal,
): Promise<({ readonly atMs: number | null } | FlatlineError)[]> {
  const { rows, problems } = readFirstEvents((await reader.firstEvents?.([...new Set(slugs)], signal)) ?? []);
  return slugs.map((slug) => problems.get(slug) ?? { atMs: rows.get(slug)?.[0]?.atMs ?? null });
}
