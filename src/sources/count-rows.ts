import { z } from "zod";
import { FlatlineError } from "../base/errors.ts";
import { issueMessages, readWith } from "../contract/issues.ts";
import type { RawRow } from "./count-reader.ts";

/** Deaths of one asset type in one segment of its slug. */
export interface SegmentDeaths {
  readonly segment: number;
  /** null: events without a type. */
  readonly assetType: string | null;
  readonly deaths: number;
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
  assetType: z.string().max(256, "is longer than 256 characters").nullable(),
  deaths: whole,
});

const firstSchema = z.object({
  slug: z.string(),
  atMs: z
    .union([z.string().regex(/^-?\d{1,19}(?:\.\d+)?$/, "must be a time"), z.number()])
    .transform((text) => Math.floor(Number(text)))
    .nullable(),
});

/** Rows by slug; an invalid row fails only the answer of its slug. */
export interface RowsBySlug<Row> {
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly problems: ReadonlyMap<string, FlatlineError>;
}

/** Validates rows of deaths. @throws api_invalid_response for a row without a slug */
export function readDeaths(raw: readonly RawRow[]): RowsBySlug<SegmentDeaths> {
  return readRows(raw, deathsSchema);
}

/** Validates rows of first events. @throws api_invalid_response for a row without a slug */
export function readFirstEvents(raw: readonly RawRow[]): RowsBySlug<{ readonly atMs: number | null }> {
  return readRows(raw, firstSchema);
}

function readRows<Row extends { readonly slug: string }>(
  raw: readonly RawRow[],
  schema: z.ZodType<Row>,
): RowsBySlug<Row> {
  const rows = new Map<string, Row[]>();
  const problems = new Map<string, FlatlineError>();
  for (const one of raw) {
    const read = readWith(schema, one);
    if (read.kind === "data") {
      const ofSlug = rows.get(read.data.slug);
      if (ofSlug === undefined) rows.set(read.data.slug, [read.data]);
      else ofSlug.push(read.data);
      continue;
    }
    const problem = invalidRow(issueMessages(read.problems));
    const { slug } = one;
    if (typeof slug !== "string") throw problem;
    problems.set(slug, problem);
  }
  return { rows, problems };
}

function invalidRow(issues: readonly string[]): FlatlineError {
  return new FlatlineError("api_invalid_response", `the source returned an invalid row: ${issues.join(", ")}`, {
    issues,
  });
}
