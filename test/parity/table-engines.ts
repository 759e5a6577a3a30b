import { Client } from "pg";

import { Secret } from "../../src/base/secret.ts";
import { createSystemClock } from "../../src/base/time.ts";
import type { LivenessCounts } from "../../src/contract/liveness-counts.ts";
import type { TableSource, TimeUnit } from "../../src/contract/table-source.ts";
import { createTableCounts, type AnyTableSource } from "../../src/sources/table-counts.ts";
import { clickhouse, startClickhouse } from "../support/far-side/clickhouse.ts";
import { createDatabase } from "../support/postgres/postgres.ts";
import type { TableEvent } from "../support/store/record-events.ts";
import { isTested } from "../support/tier.ts";

/** A real database with a table of liveness events under names that are not flatline's. */
export interface TableEngine {
  readonly name: "postgres" | "clickhouse";
  /** Replaces what the table holds. */
  replace(events: readonly TableEvent[]): Promise<void>;
  /** Runs a statement of the database's owner. */
  run(statement: string): Promise<void>;
  /** Counts over the table, or as `change` has it; `codes` gets the outcome of each query. */
  counts(change?: SourceChange, codes?: string[]): LivenessCounts & { close(): Promise<void> };
  source(change?: SourceChange): AnyTableSource;
  close(): Promise<void>;
}

/** What differs from the mapping of all columns. */
export interface SourceChange extends Partial<TableSource> {
  readonly url?: Secret;
  readonly username?: string;
  readonly password?: Secret | null;
  readonly database?: string;
}

/** The table as its owner made it: names with capitals, blanks and quotes in need of quoting. */
export const ownNames = {
  kind: "table",
  table: "Checks.live events",
  columns: { slug: "Org", at: "checked at", assetType: "kind", status: "Status", count: "n" },
  deadStatuses: ["DETECTED_AS_DEAD"],
} as const satisfies TableSource["events"];

/** The same table with times as whole numbers, one column for each unit. */
export const epochColumns: Readonly<Record<Exclude<TimeUnit, "timestamp">, string>> = {
  seconds: "at_s",
  milliseconds: "at_ms",
  microseconds: "at_us",
};

const shared = {
  events: ownNames,
  timeUnit: "timestamp",
  timeoutMs: 20_000,
} as const;

function open(source: AnyTableSource, codes: string[]): ReturnType<TableEngine["counts"]> {
  const onRequest = ({ operation, code }: { operation: string; code: string }): void =>
    void codes.push(`${operation} ${code}`);
  return createTableCounts(source, { clock: createSystemClock(), onRequest });
}

/** PostgreSQL, with the index that the documentation recommends. */
export async function startPostgresEngine(): Promise<TableEngine> {
  const database = await createDatabase("empty");
  const owner = new Client({ connectionString: database.url.reveal() });
  await owner.connect();
  await owner.query(`
    create schema "Checks";
    create type status_name as enum ('DETECTED_AS_DEAD', 'DETECTED_AS_ALIVE');
    create table "Checks"."live events" ("Org" text not null, "checked at" timestamptz not null, local timestamp not null,
      at_s integer not null, at_ms bigint not null, at_us bigint not null, kind text, "Status" status_name not null, n int);
    create index on "Checks"."live events" ("Org", "checked at")`);
  const source = (change: SourceChange = {}): AnyTableSource => ({
    type: "postgres",
    url: database.url,
    ...shared,
    ...change,
  });
  return {
    name: "postgres",
    replace: async (events) => {
      await owner.query(`truncate "Checks"."live events"`);
      await owner.query(
        `insert into "Checks"."live events"
         select slug, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0) at time zone 'UTC', floor(ms / 1000.0), ms, ms * 1000,
           kind, status::status_name, n
         from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[]) as e(slug, ms, kind, status, n)`,
        [
          events.map(({ slug }) => slug),
          events.map(({ atMs }) => atMs),
          events.map(({ assetType }) => assetType),
          events.map(({ status }) => status),
          events.map(({ count }) => count),
        ],
      );
      // As autovacuum does it in a table that lives.
      await owner.query(`analyze "Checks"."live events"`);
    },
    run: async (statement) => {
      await owner.query(statement);
    },
    counts: (change, codes = []) => open(source(change), codes),
    source,
    close: async () => {
      await owner.end();
      await database.drop();
    },
  };
}

/** ClickHouse, ordered as the documentation recommends. */
export async function startClickhouseEngine(): Promise<TableEngine> {
  const server = await startClickhouse();
  await server.run("CREATE DATABASE Checks");
  await server.run(
    "CREATE TABLE Checks.`live events` (Org LowCardinality(String), `checked at` DateTime64(3, 'Asia/Tokyo'), " +
      "local DateTime64(6), at_s UInt32, at_ms Int64, at_us UInt64, kind Nullable(String), " +
      "Status Enum8('DETECTED_AS_DEAD' = 1, 'DETECTED_AS_ALIVE' = 2), n Nullable(UInt32)) ENGINE = MergeTree ORDER BY (Org, `checked at`)",
  );
  const source = (change: SourceChange = {}): AnyTableSource => ({
    type: "clickhouse",
    url: new Secret(server.url),
    username: "default",
    password: null,
    database: "default",
    ...shared,
    ...change,
  });
  return {
    name: "clickhouse",
    replace: async (events) => {
      await server.run("TRUNCATE TABLE Checks.`live events`");
      const rows = events.map(({ slug, atMs, assetType, status, count }) => ({
        Org: slug,
        "checked at": (atMs / 1_000).toFixed(3),
        local: (atMs / 1_000).toFixed(3),
        at_s: Math.floor(atMs / 1_000),
        at_ms: String(atMs),
        at_us: String(BigInt(atMs) * 1_000n),
        kind: assetType,
        Status: status,
        n: count,
      }));
      for (let from = 0; from < rows.length; from += 20_000)
        await server.insert("Checks.`live events`", rows.slice(from, from + 20_000));
    },
    run: (statement) => server.run(statement),
    counts: (change, codes = []) => open(source(change), codes),
    source,
    close: () => server.stop(),
  };
}

/** The databases that this tier of the tests is about, as rows of a table of tests. */
export const tableEngines = [
  { name: "postgres" as const, engine: "PostgreSQL" as const, start: startPostgresEngine, isMissing: false, note: "" },
  { name: "clickhouse" as const, engine: "ClickHouse" as const, start: startClickhouseEngine, ...clickhouse },
].filter(({ engine }) => isTested(engine));
