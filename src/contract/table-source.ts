import type { Secret } from "../base/secret.ts";

/** What the numbers of a time column count; `timestamp`: it is no number. */
export const timeUnits = ["timestamp", "seconds", "milliseconds", "microseconds"] as const;
/** One of {@link timeUnits}. */
export type TimeUnit = (typeof timeUnits)[number];

/** The user's table, column by column. */
export interface TableMapping {
  readonly kind: "table";
  /** `name` or `schema.name`. */
  readonly table: string;
  readonly columns: {
    readonly slug: string;
    readonly at: string;
    readonly assetType: string | null;
    readonly status: string | null;
    readonly count: string | null;
  };
  /** Which statuses are deaths; without a status column every row is one. */
  readonly deadStatuses: readonly string[];
}

/** The user's own query, which answers slug, assetType, bucket and count. */
export interface CountQueryText {
  readonly kind: "query";
  readonly query: string;
}

/** Where the deaths are, as the operator says it. */
export interface TableSource {
  readonly events: TableMapping | CountQueryText;
  readonly timeUnit: TimeUnit;
  /** Of one query, on the server; the client waits little longer. */
  readonly timeoutMs: number;
  readonly applicationName: string;
}

/** A table in PostgreSQL. */
export interface PostgresTableSource extends TableSource {
  /** With user, password and database. */
  readonly url: Secret;
}

/** A table in ClickHouse. */
export interface ClickhouseTableSource extends TableSource {
  /** Of its HTTP interface. */
  readonly url: Secret;
  readonly username: string;
  readonly password: Secret | null;
  readonly database: string;
}
