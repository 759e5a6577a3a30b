import { z } from "zod";

import { abortError, FlatlineError } from "../base/errors.ts";
import type { TableMapping, TimeUnit } from "../contract/table-source.ts";
import { issueMessages, readWith } from "../contract/issues.ts";

/** A query for the deaths of one organization in each segment between two neighbours of `boundsMs`, (start, end]. */
export interface SegmentQuery {
  readonly slug: string;
  /** Ascending, unique, epoch ms; at least two. */
  readonly boundsMs: readonly number[];
}

/** One row as the driver returned it. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The user's table in a database; each call sends one query for many organizations. Rejects with an `api_*` code. */
export interface CountReader {
  /**
   * Returns rows with slug, segment (from 1), assetType and deaths, only for segments with a death; a slug occurs in
   * one query only.
   */
  segmentDeaths(queries: readonly SegmentQuery[], signal: AbortSignal): Promise<readonly RawRow[]>;
  /** Returns rows with slug and atMs of the first event of any status. */
  firstEvents(table: TableMapping, slugs: readonly string[], signal: AbortSignal): Promise<readonly RawRow[]>;
  close(): Promise<void>;
}

/** Returns the first and the last bound of all. */
export function outerBounds(queries: readonly SegmentQuery[]): readonly [fromMs: number, toMs: number] {
  const first = queries.map(({ boundsMs }) => boundsMs[0] ?? 0);
  return [Math.min(...first), Math.max(...queries.map(({ boundsMs }) => boundsMs.at(-1) ?? 0))];
}

/** Returns an instant in a column's unit. Seconds are rounded down: s × 1000 > t exactly when s > ⌊t ÷ 1000⌋. */
export function epochValue(atMs: number, timeUnit: Exclude<TimeUnit, "timestamp">): bigint {
  if (timeUnit === "seconds") return BigInt(Math.floor(atMs / 1_000));
  return timeUnit === "milliseconds" ? BigInt(atMs) : BigInt(atMs) * 1_000n;
}

/** Connections to one database: queries are few and large, and the database has other users. */
export const mostConnections = 4;

/** Creates the error of a call that was aborted. */
export function stopped(signal: AbortSignal): FlatlineError {
  return abortError(signal, "the source did not answer in time", "the query was cancelled by its caller");
}

/** Asks again once when the connection was lost: a server or proxy may have closed it, and a read can be repeated. */
export async function askAgain<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
  errorOf: (error: unknown) => FlatlineError,
): Promise<Answer> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (signal.aborted) throw stopped(signal);
      return await ask();
    } catch (error) {
      if (signal.aborted) throw stopped(signal);
      const known = errorOf(error);
      if (known.code !== "api_network" || !isFirst) throw known;
    }
  }
}

const digits = /^-?\d{1,19}(?:\.0+)?$/;
// Drivers return 64-bit numbers as text, so that none is rounded.
const whole = z
  .union([z.string().regex(digits, "must be a whole number"), z.number()], {
    error: ({ input }) => (input === null ? "must not be null" : "must be a whole number"),
  })
  .transform(Number)
  .pipe(z.number().int("must be a whole number").min(0, "must not be negative").max(Number.MAX_SAFE_INTEGER));

const deathsSchema = z.object({
  slug: z.string(),
  segment: whole,
  /** null: events without a type. */
  assetType: z.string().max(256, "is longer than 256 characters").nullable(),
  deaths: whole,
});
/** Deaths of one asset type in one segment of its slug. */
export type SegmentDeaths = Readonly<z.infer<typeof deathsSchema>>;

const firstSchema = z.object({
  slug: z.string(),
  atMs: z
    .union([z.string().regex(/^-?\d{1,19}(?:\.\d+)?$/, "must be a time"), z.number()])
    .transform((text) => Math.floor(Number(text)))
    .nullable(),
});

/** Returns the deaths, or the error of an invalid row, by slug. @throws api_invalid_response for a row without slug */
export function readDeaths(raw: readonly RawRow[]): ReadonlyMap<string, readonly SegmentDeaths[] | FlatlineError> {
  const bySlug = new Map<string, SegmentDeaths[] | FlatlineError>();
  for (const one of raw) {
    const read = readWith(deathsSchema, one);
    if (read.kind === "data") {
      const known = bySlug.get(read.data.slug);
      if (known === undefined) bySlug.set(read.data.slug, [read.data]);
      else if (Array.isArray(known)) known.push(read.data);
      continue;
    }
    const issues = issueMessages(read.problems);
    const message = `the source returned an invalid row: ${issues.join(", ")}`;
    const problem = new FlatlineError("api_invalid_response", message, { issues });
    if (typeof one["slug"] !== "string") throw problem;
    bySlug.set(one["slug"], problem);
  }
  return bySlug;
}

/** Returns the instants by slug, without invalid rows. */
export function readFirstEvents(raw: readonly RawRow[]): ReadonlyMap<string, number | null> {
  return new Map(
    raw.flatMap((one) => {
      const read = readWith(firstSchema, one);
      return read.kind === "data" ? [[read.data.slug, read.data.atMs]] : [];
    }),
  );
}
