import { z } from "zod";

import type { CheckName } from "../../contract/report.ts";
import { type Severity, severities } from "../../contract/severity.ts";
import type { PruneLimits, Pruned } from "../prune-limits.ts";
import type { Db, RowId } from "../tables.ts";
import type { AlertKind, PastQuery } from "./alerts.ts";

/** One line of an alert's life, as it is kept. */
export interface AlertHistoryEntry {
  readonly alertId: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly atMs: number;
  readonly event: string;
  readonly severity: Severity;
  readonly reason: string;
}

export interface AlertHistoryTables {
  readonly alert_history: Omit<AlertHistoryEntry, "check"> & {
    readonly entryId: RowId;
    readonly checkName: CheckName;
  };
}

const storedHistory = z.object({
  alertId: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: z.enum(["verdict", "unknown"]),
  atMs: z.number(),
  event: z.string(),
  severity: z.enum(severities),
  reason: z.string(),
}) satisfies z.ZodType<AlertHistoryEntry>;
/** The columns of the history, which a change that waits for receivers has, too. */
export const historyColumns = [
  "alertId",
  "checkName as check",
  "slug",
  "kind",
  "atMs",
  "event",
  "severity",
  "reason",
] as const;

/** The history of alerts over the table `alert_history`. */
export function createAlertHistoryStore(db: Db) {
  return {
    append: async (entry: AlertHistoryEntry): Promise<void> => {
      const { alertId, check, slug, kind, atMs, event, severity, reason } = entry;
      await db
        .insertInto("alert_history")
        .values({ alertId, checkName: check, slug, kind, atMs, event, severity, reason })
        .execute();
    },
    /** Returns the entries of one check from an instant on, oldest first; when there are too many, the newest. */
    since: async ({ check, slug, fromMs, limit }: PastQuery): Promise<readonly AlertHistoryEntry[]> => {
      const rows = await db
        .selectFrom("alert_history")
        .select(historyColumns)
        .where("checkName", "=", check)
        .where("slug", "=", slug)
        .where("atMs", ">=", fromMs)
        .orderBy("atMs", "desc")
        .orderBy("entryId", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => storedHistory.parse(row)).toReversed();
    },
    /** Deletes history at or before `beforeMs` but that of the gate's failures, at most `maxRows` at a time. */
    prune: async ({ beforeMs, maxRows }: PruneLimits): Promise<Pruned> => {
      const failures = db.selectFrom("gate_failures").select("alertId");
      const old = db
        .selectFrom("alert_history")
        .select("entryId")
        .where("atMs", "<=", beforeMs)
        .where("alertId", "not in", failures)
        .limit(maxRows);
      const { numDeletedRows } = await db.deleteFrom("alert_history").where("entryId", "in", old).executeTakeFirst();
      return { hasMore: numDeletedRows >= BigInt(maxRows) };
    },
  };
}
