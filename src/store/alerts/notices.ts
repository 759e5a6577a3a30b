import { sql, type Generated, type Selectable } from "kysely";

import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertKind } from "./alerts.ts";
import { engineOf } from "../engine/engine.ts";
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

/** What the grouping keeps of one receiver. */
export interface ReceiverState {
  readonly receiver: string;
  /** When it was last notified of a new alert; null: never. */
  readonly lastNewAtMs: number | null;
  /** The fleet verdict that was last sent to it. */
  readonly sentFleetId: string | null;
  readonly lastFleetAtMs: number | null;
}

/** The fleet verdict: an alert of its own, over many organizations (CONTRACT 7). */
export interface FleetState {
  readonly id: string;
  readonly check: CheckName;
  readonly startsAtMs: number;
  readonly endsAtMs: number | null;
  readonly peakSpiking: number;
  /** Organizations with a result when the peak was seen. */
  readonly organizations: number;
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
  receiver_states: {
    receiver: string;
    last_new_at_ms: number | null;
    sent_fleet_id: string | null;
    last_fleet_at_ms: number | null;
  };
  fleets: {
    id: string;
    check_name: CheckName;
    starts_at_ms: number;
    ends_at_ms: number | null;
    peak_spiking: number;
    organizations: number;
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
      // SQLite's transactions exclude each other. Not an advisory lock: the statement that takes it would fix what the
      // transaction sees before the lock is had; LOCK does not (PostgreSQL, 13.2.2 and LOCK).
      if (engineOf(db) === "postgres") await sql`lock table notifier_turns in exclusive mode`.execute(db);
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
      snapshot,
    }: NewAlertChange): Promise<void> => {
      const row = { alert_id: alertId, check_name: check, slug, kind, at_ms: atMs, event, severity, reason, snapshot };
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
      }));
    },
    /** The snapshots of these changes by seq; those that are gone are absent. */
    snapshots: async (seqs: readonly number[]): Promise<ReadonlyMap<number, string>> => {
      const found = new Map<number, string>();
      for (const slice of slices(seqs)) {
        const rows = await db
          .selectFrom("alert_changes")
          .select(["seq", "snapshot"])
          .where("seq", "in", slice)
          .execute();
        for (const { seq, snapshot } of rows) found.set(seq, snapshot);
      }
      return found;
    },
    /** The snapshot of the alert's last change, settled or not; null when it never changed. */
    lastSnapshot: async (alertId: string): Promise<string | null> => {
      const changes = db.selectFrom("alert_changes").select("snapshot").where("alert_id", "=", alertId);
      return (await changes.orderBy("seq", "desc").limit(1).executeTakeFirst())?.snapshot ?? null;
    },
    /** No receiver waits for the changes of these alerts: all are deleted but each one's last, which is kept for its snapshot. */
    settle: async (alertIds: readonly string[]): Promise<void> => {
      for (const slice of slices(alertIds)) {
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
      for (const slice of slices(seqs)) await db.deleteFrom("act_notices").where("seq", "in", slice).execute();
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
      for (const slice of slices(sent)) {
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
      for (const slice of slices(alertIds)) {
        await db.deleteFrom("alert_changes").where("alert_id", "in", slice).execute();
        await db.deleteFrom("alert_sent").where("alert_id", "in", slice).execute();
      }
    },
    /** Receivers that a reload removed: their notices are void. */
    forgetReceiversExcept: async (receivers: readonly string[]): Promise<void> => {
      // An empty list would be "not in ()", which not every database takes.
      const kept = receivers.length === 0 ? [""] : [...receivers];
      await db.deleteFrom("alert_sent").where("receiver", "not in", kept).execute();
      await db.deleteFrom("receiver_states").where("receiver", "not in", kept).execute();
    },
    receiverStates: async (): Promise<readonly ReceiverState[]> =>
      (await db.selectFrom("receiver_states").selectAll().execute()).map((row): ReceiverState => ({
        receiver: row.receiver,
        lastNewAtMs: row.last_new_at_ms,
        sentFleetId: row.sent_fleet_id,
        lastFleetAtMs: row.last_fleet_at_ms,
      })),
    saveReceiverState: async ({ receiver, lastNewAtMs, sentFleetId, lastFleetAtMs }: ReceiverState): Promise<void> => {
      const row = {
        receiver,
        last_new_at_ms: lastNewAtMs,
        sent_fleet_id: sentFleetId,
        last_fleet_at_ms: lastFleetAtMs,
      };
      await db
        .insertInto("receiver_states")
        .values(row)
        .onConflict((conflict) => conflict.column("receiver").doUpdateSet(row))
        .execute();
    },
    /** The fleet verdict that lasts; at most one a check. */
    liveFleet: async (check: CheckName): Promise<FleetState | null> => {
      const live = db.selectFrom("fleets").selectAll().where("check_name", "=", check).where("ends_at_ms", "is", null);
      const row = await live.executeTakeFirst();
      return row === undefined ? null : fleetOf(row);
    },
    saveFleet: async ({ id, check, startsAtMs, endsAtMs, peakSpiking, organizations }: FleetState): Promise<void> => {
      const ends_at_ms = endsAtMs;
      const row = {
        id,
        check_name: check,
        starts_at_ms: startsAtMs,
        ends_at_ms,
        peak_spiking: peakSpiking,
        organizations,
      };
      await db
        .insertInto("fleets")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
    },
    /** The latest ones, newest first. */
    fleets: async (limit: number): Promise<readonly FleetState[]> =>
      (await db.selectFrom("fleets").selectAll().orderBy("starts_at_ms", "desc").limit(limit).execute()).map(fleetOf),
  };
}

// One statement a slice: an engine bounds the number of its parameters.
const rowsPerStatement = 500;

function slices<Row>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    parts.push(rows.slice(start, start + rowsPerStatement));
  return parts;
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

function fleetOf(row: Selectable<NoticeTables["fleets"]>): FleetState {
  return {
    id: row.id,
    check: row.check_name,
    startsAtMs: row.starts_at_ms,
    endsAtMs: row.ends_at_ms,
    peakSpiking: row.peak_spiking,
    organizations: row.organizations,
  };
}
