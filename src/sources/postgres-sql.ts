import { splitParameters } from "../base/named-parameters.ts";
import { epochValue, outerBounds, type SegmentQuery } from "./count-reader.ts";
import type { CountQueryText, TableMapping, TableSource, TimeUnit } from "../contract/table-source.ts";

/** A statement with its parameters; the text contains no values. */
export interface PostgresStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Quotes an identifier (PostgreSQL manual, 4.1.1), with quotes doubled. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes each part of `schema.table`. */
function quotedTable(table: string): string {
  return table.split(".").map(quoted).join(".");
}

/**
 * Builds the query for deaths by slug, type and segment in one pass. An index on slug and time serves each range; an
 * index on time alone serves the outer bounds.
 */
export function countStatement(
  { events, timeUnit }: Pick<TableSource, "events" | "timeUnit">,
  queries: readonly SegmentQuery[],
): PostgresStatement {
  const type = timeType(timeUnit);
  const time = (atMs: number): string => timeValue(atMs, timeUnit);
  const { relation, slug, at, assetType, deaths, isMeant, texts } =
    events.kind === "table" ? tableParts(events) : queryParts(events, timeUnit, queries);
  const segments = queries.flatMap(({ slug: of, boundsMs }) =>
    boundsMs.slice(1).map((untilMs, index) => ({ of, segment: index + 1, afterMs: boundsMs[index] ?? 0, untilMs })),
  );
  return {
    text: `select q.slug as "slug", q.segment as "segment", nullif(${assetType}, '') as "assetType",
  (${deaths})::text as "deaths"
from unnest($4::text[], $5::int[], $6::${type}[], $7::${type}[]) as q(slug, segment, after_at, until_at)
join ${relation} as e on ${slug} = q.slug and ${at} > q.after_at and ${at} <= q.until_at
where ${at} > $1::${type} and ${at} <= $2::${type} and ${isMeant}
group by 1, 2, 3`,
    values: [
      ...outerBounds(queries).map(time),
      texts,
      segments.map(({ of }) => of),
      segments.map(({ segment }) => segment),
      segments.map(({ afterMs }) => time(afterMs)),
      segments.map(({ untilMs }) => time(untilMs)),
    ],
  };
}

function tableParts({ table, columns, deadStatuses }: TableMapping) {
  const column = (name: string): string => `e.${quoted(name)}`;
  const isDead = columns.status === null ? null : `${column(columns.status)}::text = any($3::text[])`;
  return {
    relation: quotedTable(table),
    slug: column(columns.slug),
    at: column(columns.at),
    assetType: columns.assetType === null ? "null::text" : `${column(columns.assetType)}::text`,
    deaths: columns.count === null ? "count(*)" : `sum(coalesce(${column(columns.count)}, 1))`,
    // A parameter that is not used would have no type.
    isMeant: isDead ?? "$3::text[] is null",
    texts: isDead === null ? null : deadStatuses,
  };
}

/** A bucket counts at its start. */
function queryParts(source: CountQueryText, timeUnit: TimeUnit, queries: readonly SegmentQuery[]) {
  const isQuoted = source.query.includes('"assetType"');
  return {
    relation: `(\n${boundQuery(source, timeUnit)}\n)`,
    slug: "e.slug::text",
    at: "e.bucket",
    // PostgreSQL folds an unquoted name to lower case.
    assetType: `e.${isQuoted ? '"assetType"' : "assettype"}::text`,
    // A row without a number must not count as zero.
    deaths: "case when count(*) = count(e.count) then sum(e.count) end",
    isMeant: "true",
    texts: queries.map(({ slug }) => slug),
  };
}

/** Builds the query for the first event of each slug: one descent each in an index on slug and time. */
export function firstEventStatement(
  { table, columns }: TableMapping,
  timeUnit: TimeUnit,
  slugs: readonly string[],
): PostgresStatement {
  const at = `e.${quoted(columns.at)}`;
  // Some tables use an infinite time for "always" or "never": it is in no window and is no start.
  const finite = timeUnit === "timestamp" ? ` and ${at} > '-infinity' and ${at} < 'infinity'` : "";
  const first = `(select min(${at}) from ${quotedTable(table)} as e where e.${quoted(columns.slug)} = q.slug${finite})`;
  const inMs = {
    timestamp: `floor(extract(epoch from ${first}) * 1000)`,
    // Seconds are often a 4-byte integer, which overflows in milliseconds.
    seconds: `(${first} * 1000::bigint)`,
    milliseconds: first,
    microseconds: `floor(${first} / 1000.0)`,
  }[timeUnit];
  return {
    text: `select q.slug as "slug", ${inMs}::text as "atMs" from unnest($1::text[]) as q(slug)`,
    values: [slugs],
  };
}

/** Returns the operator's query with the parameters of {@link countStatement}. */
function boundQuery({ query }: CountQueryText, timeUnit: TimeUnit): string {
  const { texts, names } = splitParameters(query.trim().replace(/;\s*$/, ""));
  const type = timeType(timeUnit);
  const forms: Readonly<Record<string, string>> = { from: `$1::${type}`, to: `$2::${type}`, slugs: "$3::text[]" };
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
