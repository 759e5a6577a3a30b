import { sql, type Generated } from "kysely";

import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertKind } from "./alerts.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import type { Db, RowId } from "../tables.ts";

/** What can happen to an alert once it fires. */
export type ChangeEvent = "firing" | "escalated" | "deescalated" | "resolved" | "unknown" | "recovered";

/** One change of an alert of which a receiver has yet to be notified; written with the alert's state. */
export interface AlertChange {
  /** Grows with every change of every alert. */
  readonly seq: number;
  readonly alertId: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  readonly atMs: number;
  readonly event: ChangeEvent;
  readonly severity: Severity;
  readonly reason: string;
  /** Number of the alert's incident. */
  readonly incident: number;
}

/** A change to be stored. */
export interface NewAlertChange extends Omit<AlertChange, "seq"> {
  /** The alert as it was then (alerting/notify/snapshot.ts), as JSON. */
  readonly snapshot: string;
}

/** An act, or its consequence, of which receivers with `sendActs` are notified. */
export interface ActNotice {
  /** Grows with every act. */
  readonly seq: number;
  readonly slug: string;
  readonly atMs: number;
  /** The act and its alerts (alerting/acts/act-notice.ts), as JSON. */
  readonly body: string;
}

/** The state of notifying one receiver of one alert; no row: it was not notified. */
export interface SentState {
  readonly receiver: string;
  readonly alertId: string;
  /** The last change that was sent; later ones wait. */
  readonly seq: number;
  readonly severity: Severity;
  /** Instant of the last notification about it; reminders count from here. */
  readonly sentAtMs: number;
  /** The resolved or recovered went out too; the row stays until every receiver is through. */
  readonly isEnded: boolean;
}

/** What the grouping keeps of one receiver and incident. */
export interface ReceiverIncident {
  readonly receiver: string;
  readonly incident: number;
  /**
   * Instant at which it was last notified of a new alert of it; of anything, when a fleet verdict holds or the service is
   * unreachable.
   */
  readonly lastAtMs: number;
  /** Alerts that it had of the incident then, those that it was not notified of included. */
  readonly members: number;
  /** Whether it was notified of the fleet verdict. */
  readonly knowsVerdict: boolean;
  /** Whether it was notified that the excess has stopped. */
  readonly knowsStop: boolean;
  /** The last look of flatline's own that it was notified of; 0: none. */
  readonly knownLook: number;
  /** How many acknowledgements of the incident had ended by themselves at the one that it knows; null: it knows of none. */
  readonly acknowledgedKey: number | null;
}

/** Tables of what receivers are to be notified of, and of what they were notified. */
export interface NoticeTables {
  readonly alert_changes: Omit<NewAlertChange, "check" | "incident"> & {
    readonly seq: RowId;
    readonly checkName: CheckName;
    readonly incidentNumber: number | null;
    readonly isSettled: Generated<number>;
  };
  readonly act_notices: Omit<ActNotice, "seq"> & { readonly seq: RowId };
  readonly alert_sent: Omit<SentState, "isEnded"> & { readonly isEnded: number };
  readonly receiver_incidents: Omit<ReceiverIncident, "incident" | "knowsVerdict" | "knowsStop"> & {
    readonly incidentNumber: number;
    readonly knowsVerdict: number;
    readonly knowsStop: number;
  };
}

const changeColumns = [
  "seq",
  "alertId",
  "checkName as check",
  "slug",
  "kind",
  "atMs",
  "event",
  "severity",
  "reason",
  "incidentNumber as incident",
] as const;

/** Creates the notices' part of the store over a connection or a transaction. */
export function createNoticeStore(db: Db) {
  return {
    appendChange: async ({ check, incident, ...change }: NewAlertChange): Promise<void> => {
      await db
        .insertInto("alert_changes")
        .values({ ...change, checkName: check, incidentNumber: incident })
        .execute();
    },
    /** Returns all changes of which a receiver may have to be notified, in order. */
    changes: async (): Promise<readonly AlertChange[]> => {
      const rows = await db
        .selectFrom("alert_changes")
        .select(changeColumns)
        // A literal, because with a parameter the partial index is chosen again at each look (SQLite), or not at all
        // (PostgreSQL).
        .where("isSettled", "=", sql.lit(0))
        .orderBy("seq")
        .execute();
      return rows.map((row) => ({ ...row, incident: row.incident ?? 0 }));
    },
    /** The snapshots of these changes by seq; those that are gone are absent. */
    snapshots: async (seqs: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      const rows = await inChunks(seqs, (some) =>
        db.selectFrom("alert_changes").select(["seq", "snapshot"]).where("seq", "in", some).execute(),
      );
      return new Map(rows.map(({ seq, snapshot }) => [seq, snapshot]));
    },
    /** The snapshot of the alert's last change, settled or not; null when it never changed. */
    lastSnapshot: async (alertId: string): Promise<string | null> => {
      const changes = db.selectFrom("alert_changes").select("snapshot").where("alertId", "=", alertId);
      return (await changes.orderBy("seq", "desc").limit(1).executeTakeFirst())?.snapshot ?? null;
    },
    /** Deletes the changes of these alerts, for which no receiver waits, but the last one of each, which its snapshot needs. */
    settle: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of chunksOf(alertIds)) {
        await db.updateTable("alert_changes").set({ isSettled: 1 }).where("alertId", "in", slice).execute();
        const changes = db.selectFrom("alert_changes").where("alertId", "in", slice).groupBy("alertId");
        const last = changes.select(({ fn }) => fn.max("seq").as("seq"));
        await db.deleteFrom("alert_changes").where("alertId", "in", slice).where("seq", "not in", last).execute();
      }
    },
    /** Written in the transaction of the act. */
    appendAct: async (notice: Omit<ActNotice, "seq">): Promise<void> => {
      await db.insertInto("act_notices").values(notice).execute();
    },
    /** Acts of which no receiver was notified yet, in order. */
    acts: (): Promise<readonly ActNotice[]> => db.selectFrom("act_notices").selectAll().orderBy("seq").execute(),
    forgetActs: async (seqs: readonly number[]): Promise<void> => {
      for (const slice of chunksOf(seqs)) await db.deleteFrom("act_notices").where("seq", "in", slice).execute();
    },
    sent: async (): Promise<readonly SentState[]> =>
      (await db.selectFrom("alert_sent").selectAll().execute()).map((row) => ({ ...row, isEnded: row.isEnded === 1 })),
    /** Returns whether a receiver has been notified of an alert that has not been forgotten yet. */
    isSent: async (receiver: string, alertId: string): Promise<boolean> => {
      const row = db
        .selectFrom("alert_sent")
        .select("seq")
        .where("receiver", "=", receiver)
        .where("alertId", "=", alertId);
      return (await row.executeTakeFirst()) !== undefined;
    },
    saveSent: async (sent: readonly SentState[]): Promise<void> => {
      for (const slice of chunksOf(sent)) {
        await db
          .insertInto("alert_sent")
          .values(slice.map((state) => ({ ...state, isEnded: state.isEnded ? 1 : 0 })))
          .onConflict((conflict) =>
            conflict.columns(["alertId", "receiver"]).doUpdateSet((row) => ({
              seq: row.ref("excluded.seq"),
              severity: row.ref("excluded.severity"),
              sentAtMs: row.ref("excluded.sentAtMs"),
              isEnded: row.ref("excluded.isEnded"),
            })),
          )
          .execute();
      }
    },
    /** These ended, and every receiver is through with them. */
    forgetAlerts: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of chunksOf(alertIds)) {
        await db.deleteFrom("alert_changes").where("alertId", "in", slice).execute();
        await db.deleteFrom("alert_sent").where("alertId", "in", slice).execute();
      }
    },
    /** Receivers that a reload removed: their notices are void. */
    forgetReceiversExcept: async (receivers: readonly string[]): Promise<void> => {
      // An empty list would be "not in ()", which not every database takes.
      const kept = receivers.length === 0 ? [""] : [...receivers];
      await db.deleteFrom("alert_sent").where("receiver", "not in", kept).execute();
      await db.deleteFrom("receiver_incidents").where("receiver", "not in", kept).execute();
      await db.deleteFrom("receiver_messages").where("receiver", "not in", kept).execute();
    },
    receiverIncidents: async (): Promise<readonly ReceiverIncident[]> =>
      (await db.selectFrom("receiver_incidents").selectAll().execute()).map(({ incidentNumber: incident, ...row }) => ({
        ...row,
        incident,
        knowsVerdict: row.knowsVerdict === 1,
        knowsStop: row.knowsStop === 1,
      })),
    saveReceiverIncident: async ({ incident, ...known }: ReceiverIncident): Promise<void> => {
      const row = {
        ...known,
        incidentNumber: incident,
        knowsVerdict: known.knowsVerdict ? 1 : 0,
        knowsStop: known.knowsStop ? 1 : 0,
      };
      await db
        .insertInto("receiver_incidents")
        .values(row)
        .onConflict((conflict) => conflict.columns(["receiver", "incidentNumber"]).doUpdateSet(row))
        .execute();
    },
    /** Forgets what receivers know of incidents that have ended, and of which no change waits. */
    forgetEndedIncidents: async (): Promise<void> => {
      const waiting = db
        .selectFrom("alert_changes")
        .select("incidentNumber")
        .where("isSettled", "=", sql.lit(0))
        .where("incidentNumber", "is not", null);
      await db
        .deleteFrom("receiver_incidents")
        .where("incidentNumber", "not in", db.selectFrom("incidents").select("number").where("endedAtMs", "is", null))
        .where("incidentNumber", "not in", waiting)
        .execute();
    },
  };
}
