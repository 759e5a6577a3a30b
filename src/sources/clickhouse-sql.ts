import { typedParameters } from "../base/named-parameters.ts";
import { epochValue, outerBounds, type SegmentQuery } from "./count-reader.ts";
import type { CountQueryText, TableMapping, TimeUnit } from "../contract/table-source.ts";

/** A query with typed parameters, which the server binds; the text contains no values. */
export interface ClickhouseStatement {
  readonly query: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Quotes an identifier in backticks, with escapes (ClickHouse manual, Syntax, Identifiers). */
export function quoteClickhouseName(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

/** Quotes each part of `database.table`. */
export function quoteClickhouseTable(table: string): string {
  return table.split(".").map(quoteClickhouseName).join(".");
}

/**
 * Builds the query for deaths by slug, type and segment over the operator's table, in one pass that each shard of a cluster
 * does itself.
 */
export function tableStatement(
  { table, columns, deadStatuses }: TableMapping,
  timeUnit: TimeUnit,
  queries: readonly SegmentQuery[],
): ClickhouseStatement {
  const column = (name: string): string => `flatline_e.${quoteClickhouseName(name)}`;
  const at = column(columns.at);
  const conditions = [
    `${column(columns.slug)} in {flatline_slugs:Array(String)}`,
    `${at} > ${timeExpression("{flatline_from:Int64}", timeUnit)}`,
    `${at} <= ${timeExpression("{flatline_to:Int64}", timeUnit)}`,
    ...(columns.status === null ? [] : [`toString(${column(columns.status)}) in {flatline_statuses:Array(String)}`]),
  ];
  return {
    query: countText({
      relation: `${quoteClickhouseTable(table)} as flatline_e`,
      slug: column(columns.slug),
      at,
      assetType:
        columns.assetType === null ? "cast(null, 'Nullable(String)')" : `toString(${column(columns.assetType)})`,
      deaths: columns.count === null ? "count()" : `sum(coalesce(${column(columns.count)}, 1))`,
      conditions,
      timeUnit,
    }),
    parameters: {
      ...segmentParameters(queries, timeUnit),
      ...(columns.status === null ? {} : { flatline_statuses: deadStatuses }),
    },
  };
}

/** Builds the same query over the operator's own query; a bucket counts at its start. */
export function queryStatement(
  { query }: CountQueryText,
  timeUnit: TimeUnit,
  queries: readonly SegmentQuery[],
): ClickhouseStatement {
  const at = "flatline_e.bucket";
  const { flatline_from, flatline_to, ...bounds } = segmentParameters(queries, timeUnit);
  const [fromMs, toMs] = outerBounds(queries);
  const own: Record<string, unknown> = { slugs: bounds.flatline_slugs };
  for (const { name, type } of typedParameters(query)) {
    if (name === "from") own["from"] = typedTime(fromMs, type, timeUnit);
    if (name === "to") own["to"] = typedTime(toMs, type, timeUnit);
  }
  return {
    query: countText({
      relation: `(\n${query.trim().replace(/;\s*$/, "")}\n) as flatline_e`,
      slug: "flatline_e.slug",
      at,
      assetType: "toString(flatline_e.assetType)",
      // A row without a number must not count as zero, as in postgres-sql.
      deaths: "if(count() = count(flatline_e.count), sum(flatline_e.count), null)",
      conditions: [
        `${at} > ${timeExpression("{flatline_from:Int64}", timeUnit)}`,
        `${at} <= ${timeExpression("{flatline_to:Int64}", timeUnit)}`,
      ],
      timeUnit,
    }),
    parameters: { ...own, ...bounds, flatline_from, flatline_to },
  };
}

/** Builds the query for the first event of each slug. */
export function firstEventStatement(
  { table, columns }: TableMapping,
  timeUnit: TimeUnit,
  slugs: readonly string[],
): ClickhouseStatement {
  const slug = `flatline_e.${quoteClickhouseName(columns.slug)}`;
  const first = `min(flatline_e.${quoteClickhouseName(columns.at)})`;
  return {
    query: `select toString(${slug}) as flatline_slug, toString(${milliseconds(first, timeUnit)}) as flatline_first
from ${quoteClickhouseTable(table)} as flatline_e
where ${slug} in {flatline_slugs:Array(String)}
group by flatline_slug`,
    parameters: { flatline_slugs: slugs },
  };
}

interface CountParts {
  readonly relation: string;
  readonly slug: string;
  readonly at: string;
  readonly assetType: string;
  readonly deaths: string;
  readonly conditions: readonly string[];
  readonly timeUnit: TimeUnit;
}

// The segment is the number of bounds of the slug before the event. Without a join, shards send sums and not rows.
function countText({ relation, slug, at, assetType, deaths, conditions, timeUnit }: CountParts): string {
  const item = `transform(toString(${slug}), {flatline_slugs:Array(String)}, arrayEnumerate({flatline_slugs:Array(String)}), 0)`;
  const bound = timeExpression("flatline_bound", timeUnit);
  return `select
  toString(${slug}) as flatline_slug,
  arrayCount(flatline_bound -> ${bound} < ${at}, {flatline_bounds:Array(Array(Int64))}[${item}]) as flatline_segment,
  nullIf(${assetType}, '') as flatline_type,
  toString(${deaths}) as flatline_deaths
from ${relation}
where ${[...conditions, typeGuard(at, timeUnit)].join("\n  and ")}
group by flatline_slug, flatline_segment, flatline_type`;
}

function segmentParameters(queries: readonly SegmentQuery[], timeUnit: TimeUnit) {
  const value = (atMs: number): bigint => boundValue(atMs, timeUnit);
  const [earliestMs, latestMs] = outerBounds(queries);
  return {
    flatline_slugs: queries.map(({ slug }) => slug),
    flatline_bounds: queries.map(({ boundsMs }) => boundsMs.map(value)),
    flatline_from: value(earliestMs),
    flatline_to: value(latestMs),
  };
}

// The range of DateTime64(3): 1900-01-01 to 2299-12-31. No event of the platform is outside.
const earliestMs = -2_208_988_800_000;
const latestMs = 10_413_791_999_999;

/**
 * Returns a bound as an Int64, because a string in an array is not converted: in the unit of the column, or in milliseconds
 * for a time column.
 */
function boundValue(atMs: number, timeUnit: TimeUnit): bigint {
  return timeUnit === "timestamp" ? BigInt(Math.min(Math.max(atMs, earliestMs), latestMs)) : epochValue(atMs, timeUnit);
}

/**
 * Returns a condition that is always true, or fails (43) if the column does not match `timeUnit`. ClickHouse compares times
 * with numbers: milliseconds read as a time would lie in the far future and count nothing.
 */
function typeGuard(at: string, timeUnit: TimeUnit): string {
  return `ignore(${timeUnit === "timestamp" ? "toYear" : "abs"}(${at})) = 0`;
}

function timeExpression(bound: string, timeUnit: TimeUnit): string {
  return timeUnit === "timestamp" ? `fromUnixTimestamp64Milli(${bound}, 'UTC')` : bound;
}

/** Formats a time for the type of a parameter. */
function typedTime(atMs: number, type: string, timeUnit: TimeUnit): string {
  const clampedMs = Math.min(Math.max(atMs, earliestMs), latestMs);
  if (/^DateTime64/i.test(type)) return (clampedMs / 1_000).toFixed(3);
  if (/^Date(?:Time)?(?!64)\b/i.test(type)) {
    // Unsigned 32-bit seconds.
    const seconds = Math.min(Math.max(Math.floor(atMs / 1_000), 0), 4_294_967_295);
    return /^Date(?!Time)/i.test(type) ? new Date(seconds * 1_000).toISOString().slice(0, 10) : String(seconds);
  }
  const value = boundValue(atMs, timeUnit);
  return /^UInt/i.test(type) && value < 0n ? "0" : String(value);
}

function milliseconds(expression: string, timeUnit: TimeUnit): string {
  const forms = {
    timestamp: `toUnixTimestamp64Milli(toDateTime64(${expression}, 3))`,
    seconds: `toInt64(${expression}) * 1000`,
    milliseconds: `toInt64(${expression})`,
    microseconds: `intDiv(toInt64(${expression}), 1000)`,
  };
  return forms[timeUnit];
}
