import { FlatlineError } from "../base/errors.ts";
import { splitParameters } from "../base/named-parameters.ts";
import { epochValue, outerBounds, type SegmentQuery } from "./count-reader.ts";
import type { CountQueryText, TableMapping, TimeUnit } from "../contract/table-source.ts";

/** A statement with its parameters; the text contains no values. */
export interface PostgresStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The column names of the operator's query. */
export interface AnsweredColumns {
  readonly slug: string;
  readonly assetType: string;
  readonly bucket: string;
  readonly count: string;
}

/** Quotes an identifier (PostgreSQL manual, 4.1.1), with quotes doubled. */
export function quotePostgresName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes each part of `schema.table`. */
export function quotePostgresTable(table: string): string {
  return table.split(".").map(quotePostgresName).join(".");
}

/**
 * Builds the query for deaths by slug, type and segment over the operator's table, in one pass. An index on slug and time
 * serves each range; an index on time alone serves the outer bounds.
 */
export function tableStatement(
  { table, columns, deadStatuses }: TableMapping,
  timeUnit: TimeUnit,
  queries: readonly SegmentQuery[],
): PostgresStatement {
  const column = (name: string): string => `e.${quotePostgresName(name)}`;
  const values = segmentValues(queries, timeUnit);
  const status = columns.status === null ? "" : `\n  and ${column(columns.status)}::text = any($8::text[])`;
  return {
    text: countText({
      relation: `${quotePostgresTable(table)} as e`,
      slug: column(columns.slug),
      at: column(columns.at),
      assetType: columns.assetType === null ? "null::text" : `${column(columns.assetType)}::text`,
      deaths: columns.count === null ? "count(*)" : `sum(coalesce(${column(columns.count)}, 1))`,
      firstParameter: 1,
      timeUnit,
      more: status,
    }),
    values: columns.status === null ? values : [...values, deadStatuses],
  };
}

/** Builds the same query over the operator's own query; a bucket counts at its start. */
export function queryStatement(
  source: CountQueryText,
  timeUnit: TimeUnit,
  columns: AnsweredColumns,
  queries: readonly SegmentQuery[],
): PostgresStatement {
  const column = (name: string): string => `e.${quotePostgresName(name)}`;
  const values = segmentValues(queries, timeUnit);
  const [, slugs, , , , from, to] = values;
  return {
    text: countText({
      relation: `(\n${boundQuery(source, timeUnit)}\n) as e`,
      slug: `${column(columns.slug)}::text`,
      at: column(columns.bucket),
      assetType: `${column(columns.assetType)}::text`,
      // A row without a number must not count as zero.
      deaths: `case when count(*) = count(${column(columns.count)}) then sum(${column(columns.count)}) end`,
      firstParameter: 4,
      timeUnit,
      more: "",
    }),
    values: [[...new Set(slugs)], from, to, ...values],
  };
}

/** Builds a query without rows, which returns the columns of the operator's query. */
export function describeStatement(source: CountQueryText, timeUnit: TimeUnit): PostgresStatement {
  const text = `select * from (\n${boundQuery(source, timeUnit)}\n) as e limit 0`;
  return { text, values: [[], timeValue(0, timeUnit), timeValue(0, timeUnit)] };
}

/** Maps the result columns; `assetType` is `assettype` if it was not quoted. @throws api_bad_request */
export function answeredColumns(names: readonly string[]): AnsweredColumns {
  const find = (wanted: string): string => {
    const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");
    const found = names.find((name) => name === wanted) ?? names.find((name) => plain(name) === plain(wanted));
    if (found !== undefined) return found;
    throw new FlatlineError(
      "api_bad_request",
      `source.query must return the columns slug, assetType, bucket and count: it has no ${wanted}, only ${names.join(", ")}`,
    );
  };
  return { slug: find("slug"), assetType: find("assetType"), bucket: find("bucket"), count: find("count") };
}

/** Builds the query for the first event of each slug: one descent each in an index on slug and time. */
export function firstEventStatement(
  { table, columns }: TableMapping,
  timeUnit: TimeUnit,
  slugs: readonly string[],
): PostgresStatement {
  const at = `e.${quotePostgresName(columns.at)}`;
  // Some tables use an infinite time for "always" or "never": it is in no window and is no start.
  const finite = timeUnit === "timestamp" ? ` and ${at} > '-infinity' and ${at} < 'infinity'` : "";
  const first = `(select min(${at}) from ${quotePostgresTable(table)} as e where e.${quotePostgresName(columns.slug)} = q.slug${finite})`;
  return {
    text: `select q.slug as "slug", ${milliseconds(first, timeUnit)}::text as "atMs" from unnest($1::text[]) as q(slug)`,
    values: [slugs],
  };
}

interface CountParts {
  readonly relation: string;
  readonly slug: string;
  readonly at: string;
  readonly assetType: string;
  readonly deaths: string;
  readonly firstParameter: number;
  readonly timeUnit: TimeUnit;
  readonly more: string;
}

function countText(parts: CountParts): string {
  const { relation, slug, at, assetType, deaths, firstParameter, timeUnit, more } = parts;
  const type = timeType(timeUnit);
  const parameter = (index: number): string => `$${firstParameter + index}`;
  return `select q.slug as "slug", q.segment as "segment", nullif(${assetType}, '') as "assetType", (${deaths})::text as "deaths"
from unnest(${parameter(0)}::int[], ${parameter(1)}::text[], ${parameter(2)}::int[], ${parameter(3)}::${type}[], ${parameter(4)}::${type}[])
  as q(item, slug, segment, after_at, until_at)
join ${relation} on ${slug} = q.slug and ${at} > q.after_at and ${at} <= q.until_at
where ${at} > ${parameter(5)}::${type} and ${at} <= ${parameter(6)}::${type}${more}
group by 1, 2, 3`;
}

/** Returns item, slug, segment, start and end of each segment, then the outer bounds. */
function segmentValues(queries: readonly SegmentQuery[], timeUnit: TimeUnit) {
  const segments = queries.flatMap(({ slug, boundsMs }, item) =>
    boundsMs
      .slice(1)
      .map((untilMs, index) => ({ item, slug, afterMs: boundsMs[index] ?? 0, untilMs, segment: index + 1 })),
  );
  const time = (atMs: number): string => timeValue(atMs, timeUnit);
  const [earliestMs, latestMs] = outerBounds(queries);
  return [
    segments.map(({ item }) => item),
    segments.map(({ slug }) => slug),
    segments.map(({ segment }) => segment),
    segments.map(({ afterMs }) => time(afterMs)),
    segments.map(({ untilMs }) => time(untilMs)),
    time(earliestMs),
    time(latestMs),
  ] as const;
}

function boundQuery({ query }: CountQueryText, timeUnit: TimeUnit): string {
  const { texts, names } = splitParameters(query.trim().replace(/;\s*$/, ""));
  const type = timeType(timeUnit);
  const forms: Readonly<Record<string, string>> = { slugs: "$1::text[]", from: `$2::${type}`, to: `$3::${type}` };
  return texts.map((text, index) => text + (forms[names[index] ?? ""] ?? "")).join("");
}

function timeType(timeUnit: TimeUnit): "timestamptz" | "bigint" {
  return timeUnit === "timestamp" ? "timestamptz" : "bigint";
}

// 0001-01-01: earlier ISO dates have a sign, which PostgreSQL does not parse.
const firstYearMs = -62_135_596_800_000;

function timeValue(atMs: number, timeUnit: TimeUnit): string {
  if (timeUnit !== "timestamp") return String(epochValue(atMs, timeUnit));
  return atMs < firstYearMs ? "-infinity" : new Date(atMs).toISOString();
}

function milliseconds(expression: string, timeUnit: TimeUnit): string {
  const forms = {
    timestamp: `floor(extract(epoch from ${expression}) * 1000)`,
    // Seconds are often a 4-byte integer, which overflows in milliseconds.
    seconds: `(${expression} * 1000::bigint)`,
    milliseconds: expression,
    microseconds: `floor(${expression} / 1000.0)`,
  };
  return forms[timeUnit];
}
