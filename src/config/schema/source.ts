import { z } from "zod";

import { splitParameters, typedParameters } from "../../base/named-parameters.ts";
import { checkPostgresUrl } from "../../base/postgres-url.ts";
import { checkKey, optionalSecret, secret, secretOrNone } from "../../base/schema/secret-rules.ts";
import { builtIn, readAs, section } from "../../base/schema/section.ts";
import { checkHttpUrl, duration, filePath, nameText, wholeNumber, type KeyProblem } from "../../base/schema/values.ts";
import { suggest } from "../../base/suggestions.ts";
import { dayMs, minuteMs, secondMs } from "../../base/time.ts";
import { deadStatus } from "../../contract/liveness-status.ts";
import { timeUnits } from "../../contract/table-source.ts";

const observedKeysSchema = builtIn(
  section({
    currentCount: builtIn(nameText(), "currentCount").describe("The key of the deaths within the window."),
    baselineCount: builtIn(nameText(), "baselineCount").describe("The key of the deaths within the baseline."),
    expectedCount: builtIn(nameText(), "expectedCount").describe("The key of the expected deaths."),
    ratio: builtIn(nameText(), "ratio").describe("The key of the ratio of the two."),
  }),
  {},
).describe("Which keys of a result's `observed` carry the counts that pages, metrics and notifications show.");

const concurrencySchema = builtIn(wholeNumber(1, 1_000), 16).describe("How many checks run at once.");

const baseUrlText = z
  .string()
  .superRefine((text, context) => {
    const problem = checkHttpUrl(text);
    if (problem !== null) return context.addIssue(problem);
    const url = new URL(text);
    if (url.username !== "" || url.password !== "")
      context.addIssue("must not hold a user or password: the key is apiKey");
    if (url.search !== "" || url.hash !== "") context.addIssue("must not hold a query or a fragment");
  })
  .meta({ format: "uri" });
const baseUrlSchema = readAs(
  baseUrlText,
  (url) => url.replace(/\/+$/, ""),
  (url) => url,
);

const remoteSourceSchema = section(
  {
    type: z.literal("remote").optional().describe("Asks the API of a takedown platform.").meta({ default: "remote" }),
    baseUrl: baseUrlSchema.describe("The API's address, with its version: `https://security.example.com/api/v2`."),
    apiKey: optionalSecret(checkKey).describe("Sent as `X-API-KEY`, where an organization has no own. A secret."),
    timeout: builtIn(duration(1, 10 * minuteMs), "30s").describe("Of one attempt."),
    retries: builtIn(wholeNumber(0, 10), 2).describe("Extra attempts after network errors, 429 and 5xx."),
    concurrency: concurrencySchema,
    observedKeys: observedKeysSchema,
  },
  { where: " of a remote source" },
);

const preloadSchema = z.union([
  section({
    events: filePath.describe("A file of liveness events (CSV or NDJSON, `.gz` too)."),
    rebase: builtIn(z.union([z.boolean(), duration(0, dayMs)]), false).describe(
      "Shifts the events in time so that the newest is at the moment of import; a duration: this long after it.",
    ),
  }),
  section({
    fixture: filePath.describe("A fixture of organizations, keys, assets and reports."),
  }),
]);

const embeddedSourceSchema = section(
  {
    type: z.literal("embedded").describe("Evaluates liveness events in flatline's own store."),
    preload: builtIn(z.array(preloadSchema), []).describe("Imported in this order when the store is empty."),
    concurrency: concurrencySchema,
    observedKeys: observedKeysSchema,
  },
  { where: " of an embedded source" },
);

const quotesAndControls = /["`\\]|\p{Cc}/u;

/** The plain name of a table or column; flatline quotes it. */
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
      .meta({ default: [deadStatus] }),
    query: z
      .string()
      .optional()
      .describe("A query of your own that answers `slug, assetType, bucket, count`; see below."),
    timeUnit: builtIn(z.enum(timeUnits), "timestamp").describe(
      "What the column of times is: a `timestamp` of the database, or whole numbers since 1970 in this unit.",
    ),
    timeout: builtIn(duration(secondMs, 10 * minuteMs), "30s").describe("Of one query."),
    concurrency: builtIn(wholeNumber(1, 100_000), 10_000).describe("Checks at once; those due together share a query."),
    observedKeys: observedKeysSchema,
  };
}

type TableKeys = z.output<
  z.ZodObject<Pick<ReturnType<typeof tableShape>, "table" | "columns" | "deadStatuses" | "query">>
>;

/** Checks that a source has either a table with columns or a query. */
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

/** The parameters of a query, and the notation of one. */
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
  const problems = [...names].flatMap((name) =>
    parameterNames.includes(name)
      ? []
      : `has no parameter ${shown(name)}: there are slugs, from and to${suggest(name, parameterNames)}`,
  );
  if (missing.length === 0) return problems;
  return [`must use ${missing.join(", ")}: without it each check would read the whole table`, ...problems];
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

const postgresKeys = section(
  {
    type: z.literal("postgres").describe("Evaluates liveness events in a table of yours in PostgreSQL."),
    ...tableShape("PostgreSQL", "postgres://flatline@db.example.com/platform", checkPostgresUrl),
  },
  { where: " of a postgres source", check: (source) => checkTable(source, postgresNames) },
);
const clickhouseKeys = section(
  {
    type: z.literal("clickhouse").describe("Evaluates liveness events in a table of yours in ClickHouse."),
    ...tableShape("ClickHouse's HTTP interface", "https://clickhouse.example.com:8443", checkClickhouseUrl),
    username: builtIn(nameText(), "default").describe("The user."),
    password: secretOrNone(() => null).describe("The user's password. A secret."),
    database: builtIn(nameText(), "default").describe("The database that names without one are in."),
  },
  { where: " of a clickhouse source", check: (source) => checkTable(source, clickhouseNames) },
);

/** `source` (CONTRACT 4). */
export const sourceSchema = z
  .discriminatedUnion("type", [remoteSourceSchema, embeddedSourceSchema, postgresKeys, clickhouseKeys])
  .describe("Where verdicts come from.");

/**
 * The capabilities of sources by `source.type`; other code asks for them, not for the type. `isLocal`: flatline
 * evaluates, else the platform, which knows the mean only. `holdsEvents`: the liveness events are in flatline's own
 * store. `hasReports`: it lists reports and takes reviews of proposals.
 */
export const sourceKinds = {
  remote: { isLocal: false, holdsEvents: false, hasReports: true },
  embedded: { isLocal: true, holdsEvents: true, hasReports: true },
  postgres: { isLocal: true, holdsEvents: false, hasReports: false },
  clickhouse: { isLocal: true, holdsEvents: false, hasReports: false },
} as const;
export type SourceType = keyof typeof sourceKinds;

export const defaultSourceType = "remote" satisfies SourceType;
