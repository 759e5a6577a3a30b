import { z } from "zod";

import { minuteMs, secondMs } from "../../base/time.ts";
import { timeUnits } from "../../contract/table-source.ts";
import { secretText, section } from "./section.ts";
import { duration, nameText, wholeNumber } from "../../base/schema/values.ts";

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

function tableShape(engine: string, example: string) {
  return {
    url: secretText(`The address of ${engine}: \`${example}\`. A secret.`),
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
      ...tableShape("PostgreSQL", "postgres://flatline@db.example.com/platform"),
      ...shared,
    },
    " of a postgres source",
    notHere,
  );
}

/** `source.type: clickhouse`, but for the keys that every source has. */
export function clickhouseSourceSchema<Shape extends z.core.$ZodLooseShape>(shared: Shape) {
  return section(
    {
      type: z.literal("clickhouse").describe("Evaluates liveness events in a table of yours in ClickHouse."),
      ...tableShape("ClickHouse's HTTP interface", "https://clickhouse.example.com:8443"),
      username: nameText().default("default").describe("The user."),
      password: secretText("The user's password. A secret."),
      database: nameText().default("default").describe("The database that names without one are in."),
      ...shared,
    },
    " of a clickhouse source",
    notHere,
  );
}
