import type { Secret } from "../base/secret.ts";

/** The unit of a numeric time column; `timestamp`: the column is not a number. */
export const timeUnits = ["timestamp", "seconds", "milliseconds", "microseconds"] as const;
export type TimeUnit = (typeof timeUnits)[number];

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
  /** Every row counts as a death if there is no status column. */
  readonly deadStatuses: readonly string[];
}

/** The user's own query, with the columns slug, assetType, bucket and count. */
export interface CountQueryText {
  readonly kind: "query";
  readonly query: string;
}

export interface TableSource {
  readonly events: TableMapping | CountQueryText;
  readonly timeUnit: TimeUnit;
  /** The server's timeout for one query; the client waits slightly longer. */
  readonly timeoutMs: number;
}

export interface PostgresTableSource extends TableSource {
  /** It contains user, password and database. */
  readonly url: Secret;
}

export interface ClickhouseTableSource extends TableSource {
  /** The HTTP interface. */
  readonly url: Secret;
  readonly username: string;
  readonly password: Secret | null;
  readonly database: string;
}
