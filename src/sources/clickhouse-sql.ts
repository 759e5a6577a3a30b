import { typedParameters } from "../base/named-parameters.ts";
import { epochValue, outerBounds, type SegmentQuery } from "./count-reader.ts";
import type { CountQueryText, TableMapping, TableSource, TimeUnit } from "../contract/table-source.ts";

/** A query with typed parameters, which the server binds; the text contains no values. */
export interface ClickhouseStatement {
  readonly query: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Quotes an identifier in backticks, with escapes (ClickHouse manual, Syntax, Identifiers). */
function quoted(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

/** Quotes each part of `database.table`. */
function quotedTable(table: string): string {
  return table.split(".").map(quoted).join(".");
}

/**
 * Builds the query for deaths by slug, type and segment in one pass on each shard of a cluster. The segment is the
 * number of the slug's bounds before the event. There is no join, so shards send sums and not rows.
 */
export function countStatement(
  { events, timeUnit }: Pick<TableSource, "events" | "timeUnit">,
  queries: readonly SegmentQuery[],
): ClickhouseStatement {
  const { relation, slug, at, assetType, deaths, isMeant, parameters } =
    events.kind === "table" ? tableParts(events) : queryParts(events, timeUnit, queries);
  const item =
    `transform(toString(${slug}), {flatline_slugs:Array(String)}, ` +
    "arrayEnumerate({flatline_slugs:Array(String)}), 0)";
  const bound = timeExpression("flatline_bound", timeUnit);
  const value = (atMs: number): bigint => boundValue(atMs, timeUnit);
  const [fromMs, toMs] = outerBounds(queries);
  // ClickHouse compares times with numbers: milliseconds read as a time would lie in the far future and count nothing.
  // The last condition is always true, or fails (43) if the column does not match timeUnit.
  return {
    query: `select
  toString(${slug}) as flatline_slug,
  arrayCount(flatline_bound -> ${bound} < ${at}, {flatline_bounds:Array(Array(Int64))}[${item}]) as flatline_segment,
  nullIf(${assetType}, '') as flatline_assetType,
  toString(${deaths}) as flatline_deaths
from ${relation} as flatline_e
where ${isMeant}
  and ${at} > ${timeExpression("{flatline_from:Int64}", timeUnit)}
  and ${at} <= ${timeExpression("{flatline_to:Int64}", timeUnit)}
  and ignore(${timeUnit === "timestamp" ? "toYear" : "abs"}(${at})) = 0
group by flatline_slug, flatline_segment, flatline_assetType`,
    parameters: {
      ...parameters,
      flatline_slugs: queries.map((one) => one.slug),
      flatline_bounds: queries.map(({ boundsMs }) => boundsMs.map(value)),
      flatline_from: value(fromMs),
      flatline_to: value(toMs),
    },
  };
}

function tableParts({ table, columns, deadStatuses }: TableMapping) {
  const column = (name: string): string => `flatline_e.${quoted(name)}`;
  const slug = column(columns.slug);
  const isAsked = `${slug} in {flatline_slugs:Array(String)}`;
  const isDead =
    columns.status === null ? null : `toString(${column(columns.status)}) in {flatline_statuses:Array(String)}`;
  return {
    relation: quotedTable(table),
    slug,
    at: column(columns.at),
    assetType: columns.assetType === null ? "cast(null, 'Nullable(String)')" : `toString(${column(columns.assetType)})`,
    deaths: columns.count === null ? "count()" : `sum(coalesce(${column(columns.count)}, 1))`,
    isMeant: isDead === null ? isAsked : `${isAsked}\n  and ${isDead}`,
    parameters: isDead === null ? {} : { flatline_statuses: deadStatuses },
  };
}

/** A bucket counts at its start. */
function queryParts({ query }: CountQueryText, timeUnit: TimeUnit, queries: readonly SegmentQuery[]) {
  const [fromMs, toMs] = outerBounds(queries);
  const times: Readonly<Record<string, number>> = { from: fromMs, to: toMs };
  const own = typedParameters(query).flatMap(({ name, type }) => {
    const atMs = times[name];
    return atMs === undefined ? [] : [[name, typedTime(atMs, type, timeUnit)] as const];
  });
  return {
    relation: `(\n${query.trim().replace(/;\s*$/, "")}\n)`,
    slug: "flatline_e.slug",
    at: "flatline_e.bucket",
    assetType: "toString(flatline_e.assetType)",
    // A row without a number must not count as zero, as in postgres-sql.
    deaths: "if(count() = count(flatline_e.count), sum(flatline_e.count), null)",
    isMeant: "true",
    parameters: { slugs: queries.map(({ slug }) => slug), ...Object.fromEntries(own) },
  };
}

/** Builds the query for the first event of each slug. */
export function firstEventStatement(
  { table, columns }: TableMapping,
  timeUnit: TimeUnit,
  slugs: readonly string[],
): ClickhouseStatement {
  const slug = `flatline_e.${quoted(columns.slug)}`;
  const first = `min(flatline_e.${quoted(columns.at)})`;
  const inMs = {
    timestamp: `toUnixTimestamp64Milli(toDateTime64(${first}, 3))`,
    seconds: `toInt64(${first}) * 1000`,
    milliseconds: `toInt64(${first})`,
    microseconds: `intDiv(toInt64(${first}), 1000)`,
  }[timeUnit];
  return {
    query: `select toString(${slug}) as flatline_slug, toString(${inMs}) as flatline_atMs
from ${quotedTable(table)} as flatline_e
where ${slug} in {flatline_slugs:Array(String)}
group by flatline_slug`,
    parameters: { flatline_slugs: slugs },
  };
}

// The range of DateTime64(3): 1900-01-01 to 2299-12-31. No event of the platform is outside.
const earliestMs = -2_208_988_800_000;
const latestMs = 10_413_791_999_999;

function withinRange(atMs: number): number {
  return Math.min(Math.max(atMs, earliestMs), latestMs);
}

/**
 * Returns a bound as an Int64, because a string in an array is not converted: in the unit of the column, or in
 * milliseconds for a time column.
 */
function boundValue(atMs: number, timeUnit: TimeUnit): bigint {
  return timeUnit === "timestamp" ? BigInt(withinRange(atMs)) : epochValue(atMs, timeUnit);
}

function timeExpression(bound: string, timeUnit: TimeUnit): string {
  return timeUnit === "timestamp" ? `fromUnixTimestamp64Milli(${bound}, 'UTC')` : bound;
}

/** Formats a time for the type of a parameter. */
function typedTime(atMs: number, type: string, timeUnit: TimeUnit): string {
  if (/^DateTime64/i.test(type)) return (withinRange(atMs) / 1_000).toFixed(3);
  if (/^Date(?:Time)?(?!64)\b/i.test(type)) {
    // Unsigned 32-bit seconds.
    const seconds = Math.min(Math.max(Math.floor(atMs / 1_000), 0), 4_294_967_295);
    return /^Date(?!Time)/i.test(type) ? new Date(seconds * 1_000).toISOString().slice(0, 10) : String(seconds);
  }
  const value = boundValue(atMs, timeUnit);
  return /^UInt/i.test(type) && value < 0n ? "0" : String(value);
}
