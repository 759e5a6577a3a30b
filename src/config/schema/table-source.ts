import { z } from "zod";

import { minuteMs, secondMs } from "../../base/time.ts";
import { splitParameters, typedParameters } from "../../base/named-parameters.ts";
import { suggest } from "../../base/suggestions.ts";
import { timeUnits } from "../../contract/table-source.ts";
import { checkPostgresUrl } from "../../base/postgres-url.ts";
import { secret, secretOrNone } from "../../base/schema/secret-rules.ts";
import { section } from "../../base/schema/section.ts";
import { checkHttpUrl, duration, nameText, wholeNumber, type KeyProblem } from "../../base/schema/values.ts";

const quotesAndControls = /["`\\]|\p{Cc}/u;

/** A name of a table or column as the database has it; flatline quotes it. */
function databaseName(noun: string) {
  return nameText(128).superRefine((text, context) => {
    if (quotesAndControls.test(text))
      context.addIssue(`must be the plain name of a ${noun}: it is quoted for you, and holds no quotes of its own`);
  });
}

const tableName = databaseName("table").superRefine((text, context) => {
  const parts = text.split(".");
  if (parts.length > 2 || parts.some((part) => part.trim() === ""))
    context.addIssue("must be a table's name, or schema and name with a dot between: public.liveness_events");
});

const columnsSchema = section({
  slug: databaseName("column").describe("The column of text with the organization's slug."),
  at: databaseName("column").describe("The column with the time of the event."),
  assetType: databaseName("column").optional().describe("The column with the asset's type; findings then name types."),
  status: databaseName("column")
    .optional()
    .describe("The column with the status that the asset got. Without it every row is a death."),
  count: databaseName("column")
    .optional()
    .describe("The column that says for how many events a row stands. Without it each is one."),
});

const notHere: Readonly<Record<string, string>> = {
  preload: "does not go with a source of this type: the events stay in your table, and flatline only reads it",
  baseUrl: "does not go with a source of this type: its address is url",
  apiKey: "does not go with a source of this type: it asks a database, not the platform's API",
  retries: "does not go with a source of this type: a lost connection is tried once more, a refusal is not",
};

const longestConcurrency = 100_000;

function tableShape(engine: string, example: string, checkUrl: (text: string) => string | null) {
  return {
    url: secret(checkUrl).describe(`The address of ${engine}: \`${example}\`. A secret.`),
    table: tableName
      .optional()
      .describe("The table or view of liveness events; either this with `columns`, or `query`."),
    columns: columnsSchema.optional().describe("Which column of `table` holds what."),
    deadStatuses: z
      .array(nameText())
      .min(1)
      .optional()
      .describe("The statuses in `columns.status` that are deaths.")
      .meta({ default: ["DETECTED_AS_DEAD"] }),
    query: z
      .string()
      .optional()
      .describe("A query of your own that answers `slug, assetType, bucket, count`; see below."),
    timeUnit: z
      .enum(timeUnits)
      .default("timestamp")
      .describe(
        "What the column of times is: a `timestamp` of the database, or whole numbers since 1970 in this unit.",
      ),
    timeout: duration({ minMs: secondMs, maxMs: 10 * minuteMs })
      .prefault("30s")
      .describe("Of one query; the server cancels it then, too."),
    concurrency: wholeNumber({ min: 1, max: longestConcurrency })
      .default(10_000)
      .describe("How many checks run at once; those that are due together share one query."),
  };
}

/** `source.type: postgres`, but for the keys that every source has. */
export function postgresSourceSchema<Shape extends z.core.$ZodLooseShape>(shared: Shape) {
  return section(
    {
      type: z.literal("postgres").describe("Evaluates liveness events in a table of yours in PostgreSQL."),
      ...tableShape("PostgreSQL", "postgres://flatline@db.example.com/platform", checkPostgresUrl),
      ...shared,
    },
    {
      where: " of a postgres source",
      foreign: notHere,
      check: (source) => checkTable(source as TableKeys, postgresNames),
    },
  );
}

/** `source.type: clickhouse`, but for the keys that every source has. */
export function clickhouseSourceSchema<Shape extends z.core.$ZodLooseShape>(shared: Shape) {
  return section(
    {
      type: z.literal("clickhouse").describe("Evaluates liveness events in a table of yours in ClickHouse."),
      ...tableShape("ClickHouse's HTTP interface", "https://clickhouse.example.com:8443", checkClickhouseUrl),
      username: nameText().default("default").describe("The user."),
      password: secretOrNone(() => null).describe("The user's password. A secret."),
      database: nameText().default("default").describe("The database that names without one are in."),
      ...shared,
    },
    {
      where: " of a clickhouse source",
      foreign: notHere,
      check: (source) => checkTable(source as TableKeys, clickhouseNames),
    },
  );
}

interface TableKeys {
  readonly table?: unknown;
  readonly columns?: { readonly status: string | null } | undefined;
  readonly deadStatuses?: unknown;
  readonly query?: string | undefined;
}

/** Checks a source that reads a table: a mapping or a query, never both, and what neither can give. */
function checkTable({ table, columns, deadStatuses, query }: TableKeys, names: NamesOf): KeyProblem[] {
  if (query !== undefined) {
    const foreign = Object.entries({ table, columns, deadStatuses }).filter(([, value]) => value !== undefined);
    const message = "does not go with query: the query itself says what is counted";
    return [
      ...foreign.map(([key]) => ({ key, message, part: "key" as const })),
      ...queryProblems(query, names).map((problem) => ({ key: "query", message: problem })),
    ];
  }
  if (table === undefined)
    return [{ key: "table", message: "is required, with columns; or query, for a query of your own" }];
  if (columns === undefined)
    return [{ key: "columns", message: "is required with table: which column holds slug, at and the rest" }];
  if (deadStatuses === undefined || columns.status !== null) return [];
  const message = "goes with columns.status only: without it every row is a death";
  return [{ key: "deadStatuses", message, part: "key" }];
}

/** The parameters of a query, and how one is written. */
interface NamesOf {
  readonly of: (query: string) => readonly string[];
  readonly shown: (name: string) => string;
}

const postgresNames: NamesOf = { of: (query) => splitParameters(query).names, shown: (name) => `:${name}` };
const clickhouseNames: NamesOf = {
  of: (query) => typedParameters(query).map(({ name }) => name),
  shown: (name) => `{${name}:…}`,
};
const parameterNames: readonly string[] = ["slugs", "from", "to"];

function queryProblems(query: string, { of, shown }: NamesOf): string[] {
  if (query.trim() === "") return ["must not be empty"];
  const names = new Set(of(query));
  const missing = parameterNames.filter((name) => !names.has(name)).map(shown);
  const unknown = [...names].filter((name) => !parameterNames.includes(name));
  return [
    ...(missing.length === 0
      ? []
      : [`must use ${missing.join(", ")}: without it each check would read the whole table`]),
    ...unknown.map(
      (name) => `has no parameter ${shown(name)}: there are slugs, from and to${suggest(name, parameterNames)}`,
    ),
  ];
}

function checkClickhouseUrl(value: string): string | null {
  const problem = checkHttpUrl(value);
  if (problem !== null) return problem;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "")
    return "must not hold a user or password: they are username and password";
  if (url.search !== "" || url.hash !== "") return "must not hold a query or a fragment";
  return url.pathname === "/" ? null : "must not hold a path: the database is database";
}
