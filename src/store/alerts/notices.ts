import { sql, type Generated } from "kysely";

import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertKind } from "./alerts.ts";
import { chunksOf, inChunks } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import type { Db } from "../schema.ts";

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
  /** What was done to which alerts (alerting/acts/act-notice.ts), as JSON. */
  readonly body: string;
}

/** What one receiver has been notified of about one alert; no row: nothing. */
export interface SentState {
  readonly receiver: string;
  readonly alertId: string;
  /** The last change that was sent; later ones wait. */
  readonly seq: number;
  readonly severity: Severity;
  /** When the last notification about it was formed; reminders count from here. */
  readonly sentAtMs: number;
  /** The resolved or recovered went out too; the row stays until every receiver is through. */
  readonly isEnded: boolean;
}

/** What the grouping keeps of one receiver and incident. */
export interface ReceiverIncident {
  readonly receiver: string;
  readonly incident: number;
  /** When it was last notified of a new alert of it; under a fleet verdict and of one that is unreachable, of anything. */
  readonly lastAtMs: number;
  /** Alerts that it had of the incident then, those that it was not notified of included. */
  readonly members: number;
  /** It was notified of the fleet verdict. */
  readonly knowsVerdict: boolean;
  /** It was notified that the excess has stopped. */
  readonly knowsStop: boolean;
  /** The instant of the outgrown acknowledgement that it was last notified of; null: of none. */
  readonly outgrownAtMs: number | null;
}

/** Tables of what receivers are to be notified of, and of what they were notified. */
export interface NoticeTables {
  alert_changes: {
    seq: Generated<number>;
    alert_id: string;
    check_name: CheckName;
    slug: string;
    kind: AlertKind;
    at_ms: number;
    event: ChangeEvent;
    severity: Severity;
    reason: string;
    incident_number: number | null;
    is_settled: Generated<number>;
    snapshot: string;
  };
  act_notices: { seq: Generated<number>; slug: string; at_ms: number; body: string };
  alert_sent: {
    alert_id: string;
    receiver: string;
    seq: number;
    severity: Severity;
    sent_at_ms: number;
    is_ended: number;
  };
  receiver_incidents: {
    receiver: string;
    incident_number: number;
    last_at_ms: number;
    members: number;
    knows_verdict: number;
    knows_stop: number;
    outgrown_at_ms: number | null;
  };
}

/** Creates the notices' part of the store over a connection or a transaction. */
export function createNoticeStore(db: Db) {
  return {
    /**
     * Waits until no other transaction forms notifications, in any process, and holds that until this one ends; the first thing
     * that a transaction does, so that it sees what the one before did.
     */
    takeTurn: async (): Promise<void> => {
      // Not an advisory lock: the statement that takes it would fix what the transaction sees before the lock is had; LOCK does
      // not (PostgreSQL, 13.2.2 and LOCK).
      if (dialectOf(db).hasConcurrentWriters) await sql`lock table notifier_turns in exclusive mode`.execute(db);
    },
    appendChange: async ({
      alertId,
      check,
      slug,
      kind,
      atMs,
      event,
      severity,
      reason,
      incident,
      snapshot,
    }: NewAlertChange): Promise<void> => {
      const change = { alert_id: alertId, check_name: check, slug, kind, at_ms: atMs, event, severity, reason };
      const row = { ...change, incident_number: incident, snapshot };
      await db.insertInto("alert_changes").values(row).execute();
    },
    /** All changes of which a receiver may have to be notified, in order. */
    changes: async (): Promise<readonly AlertChange[]> => {
      const columns = [
        "seq",
        "alert_id",
        "check_name",
        "slug",
        "kind",
        "at_ms",
        "event",
        "severity",
        "reason",
        "incident_number",
      ] as const;
      const rows = await db
        .selectFrom("alert_changes")
        .select(columns)
        // Not a parameter: with one, the partial index is chosen again at each look (SQLite), or not at all (PostgreSQL).
        .where("is_settled", "=", sql.lit(0))
        .orderBy("seq")
        .execute();
      return rows.map((row): AlertChange => ({
        seq: row.seq,
        alertId: row.alert_id,
        check: row.check_name,
        slug: row.slug,
        kind: row.kind,
        atMs: row.at_ms,
        event: row.event,
        severity: row.severity,
        reason: row.reason,
        incident: row.incident_number ?? 0,
      }));
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
      const changes = db.selectFrom("alert_changes").select("snapshot").where("alert_id", "=", alertId);
      return (await changes.orderBy("seq", "desc").limit(1).executeTakeFirst())?.snapshot ?? null;
    },
    /** No receiver waits for the changes of these alerts: all are deleted but each one's last, which is kept for its snapshot. */
    settle: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of chunksOf(alertIds)) {
        await db.updateTable("alert_changes").set({ is_settled: 1 }).where("alert_id", "in", slice).execute();
        const changes = db.selectFrom("alert_changes").where("alert_id", "in", slice).groupBy("alert_id");
        const last = changes.select(({ fn }) => fn.max("seq").as("seq"));
        await db.deleteFrom("alert_changes").where("alert_id", "in", slice).where("seq", "not in", last).execute();
      }
    },
    /** Written in the transaction of the act. */
    appendAct: async ({ slug, atMs, body }: Omit<ActNotice, "seq">): Promise<void> => {
      await db.insertInto("act_notices").values({ slug, at_ms: atMs, body }).execute();
    },
    /** Acts of which no receiver was notified yet, in order. */
    acts: async (): Promise<readonly ActNotice[]> => {
      const rows = await db.selectFrom("act_notices").selectAll().orderBy("seq").execute();
      return rows.map(({ seq, slug, at_ms: atMs, body }) => ({ seq, slug, atMs, body }));
    },
    forgetActs: async (seqs: readonly number[]): Promise<void> => {
      for (const slice of chunksOf(seqs)) await db.deleteFrom("act_notices").where("seq", "in", slice).execute();
    },
    sent: async (): Promise<readonly SentState[]> =>
      (await db.selectFrom("alert_sent").selectAll().execute()).map(sentOf),
    /** Returns whether a receiver has been notified of an alert that has not been forgotten yet. */
    isSent: async (receiver: string, alertId: string): Promise<boolean> => {
      const row = db
        .selectFrom("alert_sent")
        .select("seq")
        .where("receiver", "=", receiver)
        .where("alert_id", "=", alertId);
      return (await row.executeTakeFirst()) !== undefined;
    },
    saveSent: async (sent: readonly SentState[]): Promise<void> => {
      for (const slice of chunksOf(sent)) {
        await db
          .insertInto("alert_sent")
          .values(slice.map(sentRow))
          .onConflict((conflict) =>
            conflict.columns(["alert_id", "receiver"]).doUpdateSet((row) => ({
              seq: row.ref("excluded.seq"),
              severity: row.ref("excluded.severity"),
              sent_at_ms: row.ref("excluded.sent_at_ms"),
              is_ended: row.ref("excluded.is_ended"),
            })),
          )
          .execute();
      }
    },
    /** These ended, and every receiver is through with them. */
    forgetAlerts: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of chunksOf(alertIds)) {
        await db.deleteFrom("alert_changes").where("alert_id", "in", slice).execute();
        await db.deleteFrom("alert_sent").where("alert_id", "in", slice).execute();
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
      (await db.selectFrom("receiver_incidents").selectAll().execute()).map((row) => ({
        receiver: row.receiver,
        incident: row.incident_number,
        lastAtMs: row.last_at_ms,
        members: row.members,
        knowsVerdict: row.knows_verdict === 1,
        knowsStop: row.knows_stop === 1,
        outgrownAtMs: row.outgrown_at_ms,
      })),
    saveReceiverIncident: async (known: ReceiverIncident): Promise<void> => {
      const { receiver, incident, lastAtMs, members, knowsVerdict, knowsStop, outgrownAtMs } = known;
      const row = {
        receiver,
        incident_number: incident,
        last_at_ms: lastAtMs,
        members,
        knows_verdict: knowsVerdict ? 1 : 0,
        knows_stop: knowsStop ? 1 : 0,
        outgrown_at_ms: outgrownAtMs,
      };
      await db
        .insertInto("receiver_incidents")
        .values(row)
        .onConflict((conflict) => conflict.columns(["receiver", "incident_number"]).doUpdateSet(row))
        .execute();
    },
    /** Forgets what receivers know of incidents that have ended, and of which no change waits. */
    forgetEndedIncidents: async (): Promise<void> => {
      const waiting = db
        .selectFrom("alert_changes")
        .select("incident_number")
        .where("is_settled", "=", sql.lit(0))
        .where("incident_number", "is not", null);
      await db
        .deleteFrom("receiver_incidents")
        .where(
          "incident_number",
          "not in",
          db.selectFrom("incidents").select("number").where("ended_at_ms", "is", null),
        )
        .where("incident_number", "not in", waiting)
        .execute();
    },
  };
}

function sentRow({ receiver, alertId, seq, severity, sentAtMs, isEnded }: SentState): NoticeTables["alert_sent"] {
  return { alert_id: alertId, receiver, seq, severity, sent_at_ms: sentAtMs, is_ended: isEnded ? 1 : 0 };
}

function sentOf(row: NoticeTables["alert_sent"]): SentState {
  return {
    receiver: row.receiver,
    alertId: row.alert_id,
    seq: row.seq,
    severity: row.severity,
    sentAtMs: row.sent_at_ms,
    isEnded: row.is_ended === 1,
  };
}
