import type { Secret } from "../base/secret.ts";

/** Unit of a numeric time column; `timestamp`: the column is not a number. */
export const timeUnits = ["timestamp", "seconds", "milliseconds", "microseconds"] as const;
/** One of {@link timeUnits}. */
export type TimeUnit = (typeof timeUnits)[number];

/** The columns of the user's table. */
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
  /** Statuses that count as deaths; without a status column every row does. */
  readonly deadStatuses: readonly string[];
}

/** The user's own query, with the columns slug, assetType, bucket and count. */
export interface CountQueryText {
  readonly kind: "query";
  readonly query: string;
}

/** The configured place of the deaths. */
export interface TableSource {
  readonly events: TableMapping | CountQueryText;
  readonly timeUnit: TimeUnit;
  /** Timeout of one query on the server; the client waits slightly longer. */
  readonly timeoutMs: number;
}

/** A table in PostgreSQL. */
export interface PostgresTableSource extends TableSource {
  /** With user, password and database. */
  readonly url: Secret;
}

/** A table in ClickHouse. */
export interface ClickhouseTableSource extends TableSource {
  /** URL of the HTTP interface. */
  readonly url: Secret;
  readonly username: string;
  readonly password: Secret | null;
  readonly database: string;
}
