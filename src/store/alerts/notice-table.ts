import { sql, type Generated, type Selectable } from "kysely";

import type { CheckName } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import type { AlertKind } from "./alerts.ts";
import { engineOf } from "../engine/engine.ts";
import type { AlertChange, ChangeEvent, FleetState, NoticeStore, ReceiverState, SentState } from "./notices.ts";
import type { Db } from "../schema.ts";

/** Tables of migration 0003. */
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
export function createNoticeStore(db: Db): NoticeStore {
  return {
    takeTurn: async () => {
      // SQLite's transactions exclude each other. Not an advisory lock: the statement that takes it would fix what the
      // transaction sees before the lock is had; LOCK does not (PostgreSQL, 13.2.2 and LOCK).
      if (engineOf(db) === "postgres") await sql`lock table notifier_turns in exclusive mode`.execute(db);
    },
    appendChange: async ({ alertId, check, slug, kind, atMs, event, severity, reason, snapshot }) => {
      const row = { alert_id: alertId, check_name: check, slug, kind, at_ms: atMs, event, severity, reason, snapshot };
      await db.insertInto("alert_changes").values(row).execute();
    },
    changes: async () => {
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
    snapshots: async (seqs) => {
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
    lastSnapshot: async (alertId) => {
      const changes = db.selectFrom("alert_changes").select("snapshot").where("alert_id", "=", alertId);
      return (await changes.orderBy("seq", "desc").limit(1).executeTakeFirst())?.snapshot ?? null;
    },
    settle: async (alertIds) => {
      for (const slice of slices(alertIds)) {
        await db.updateTable("alert_changes").set({ is_settled: 1 }).where("alert_id", "in", slice).execute();
        const changes = db.selectFrom("alert_changes").where("alert_id", "in", slice).groupBy("alert_id");
        const last = changes.select(({ fn }) => fn.max("seq").as("seq"));
        await db.deleteFrom("alert_changes").where("alert_id", "in", slice).where("seq", "not in", last).execute();
      }
    },
    appendAct: async ({ slug, atMs, body }) => {
      await db.insertInto("act_notices").values({ slug, at_ms: atMs, body }).execute();
    },
    acts: async () => {
      const rows = await db.selectFrom("act_notices").selectAll().orderBy("seq").execute();
      return rows.map(({ seq, slug, at_ms: atMs, body }) => ({ seq, slug, atMs, body }));
    },
    forgetActs: async (seqs) => {
      for (const slice of slices(seqs)) await db.deleteFrom("act_notices").where("seq", "in", slice).execute();
    },
    sent: async () => (await db.selectFrom("alert_sent").selectAll().execute()).map(sentOf),
    isSent: async (receiver, alertId) => {
      const row = db
        .selectFrom("alert_sent")
        .select("seq")
        .where("receiver", "=", receiver)
        .where("alert_id", "=", alertId);
      return (await row.executeTakeFirst()) !== undefined;
    },
    saveSent: async (sent) => {
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
    forgetAlerts: async (alertIds) => {
      for (const slice of slices(alertIds)) {
        await db.deleteFrom("alert_changes").where("alert_id", "in", slice).execute();
        await db.deleteFrom("alert_sent").where("alert_id", "in", slice).execute();
      }
    },
    forgetReceiversExcept: async (receivers) => {
      // An empty list would be "not in ()", which not every database takes.
      const kept = receivers.length === 0 ? [""] : [...receivers];
      await db.deleteFrom("alert_sent").where("receiver", "not in", kept).execute();
      await db.deleteFrom("receiver_states").where("receiver", "not in", kept).execute();
    },
    receiverStates: async () =>
      (await db.selectFrom("receiver_states").selectAll().execute()).map((row): ReceiverState => ({
        receiver: row.receiver,
        lastNewAtMs: row.last_new_at_ms,
        sentFleetId: row.sent_fleet_id,
        lastFleetAtMs: row.last_fleet_at_ms,
      })),
    saveReceiverState: async ({ receiver, lastNewAtMs, sentFleetId, lastFleetAtMs }) => {
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
    liveFleet: async (check) => {
      const live = db.selectFrom("fleets").selectAll().where("check_name", "=", check).where("ends_at_ms", "is", null);
      const row = await live.executeTakeFirst();
      return row === undefined ? null : fleetOf(row);
    },
    saveFleet: async ({ id, check, startsAtMs, endsAtMs, peakSpiking, organizations }) => {
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
    fleets: async (limit) =>
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
