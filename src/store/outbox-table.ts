import { sql } from "kysely";
import type { OutboxEntry, OutboxStore } from "./outbox.ts";
import type { Db } from "./schema.ts";

/** The queue of notifications over the tables `outbox` and `outbox_alerts`. */
export function createOutboxStore(db: Db): OutboxStore {
  /** Ends a lease with `change`; false when it was lost. */
  async function finish(
    id: string,
    owner: string,
    change: { state: "queued" | "dead"; next_attempt_at_ms?: number; last_error: string },
  ): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable("outbox")
      .set({ ...change, lease_owner: null, lease_until_ms: 0 })
      .where("id", "=", id)
      .where("state", "=", "leased")
      .where("lease_owner", "=", owner)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async function withAlerts(rows: readonly OutboxEntryRow[]): Promise<OutboxEntry[]> {
    if (rows.length === 0) return [];
    const alerts = await db
      .selectFrom("outbox_alerts")
      .selectAll()
      .where(
        "seq",
        "in",
        rows.map(({ seq }) => seq),
      )
      .orderBy("alert_id")
      .execute();
    const bySeq = Map.groupBy(alerts, ({ seq }) => seq);
    return rows.map((row) =>
      outboxEntry(
        row,
        (bySeq.get(row.seq) ?? []).map(({ alert_id }) => alert_id),
      ),
    );
  }

  return {
    enqueue: async ({ id, receiver, createdAtMs, notBeforeMs, alertIds, payload }) => {
      const { seq } = await db
        .insertInto("outbox")
        .values({
          id,
          receiver,
          state: "queued",
          created_at_ms: createdAtMs,
          next_attempt_at_ms: notBeforeMs,
          payload,
        })
        .returning("seq")
        .executeTakeFirstOrThrow();
      const unique = [...new Set(alertIds)];
      // One statement a slice: an engine bounds the number of its parameters.
      for (let start = 0; start < unique.length; start += rowsPerStatement) {
        const values = unique.slice(start, start + rowsPerStatement).map((alert_id) => ({ alert_id, seq }));
        await db.insertInto("outbox_alerts").values(values).execute();
      }
    },
    claim: async ({ receiver, nowMs, owner, leaseUntilMs, limit }) => {
      // A lease that ran out is as good as queued.
      const rows = await db
        .updateTable("outbox")
        .set({
          state: "leased",
          lease_owner: owner,
          lease_until_ms: leaseUntilMs,
          attempts: sql<number>`attempts + 1`,
        })
        .where("seq", "in", claimable(db, receiver, nowMs, limit))
        .returning(entryColumns)
        .execute();
      return withAlerts(rows.toSorted((left, right) => left.seq - right.seq));
    },
    delivered: async (id, owner) => {
      const { numDeletedRows } = await db
        .deleteFrom("outbox")
        .where("id", "=", id)
        .where("state", "=", "leased")
        .where("lease_owner", "=", owner)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    retryLater: (id, owner, { nextAttemptAtMs, lastError }) =>
      finish(id, owner, { state: "queued", next_attempt_at_ms: nextAttemptAtMs, last_error: lastError }),
    deadLetter: (id, owner, lastError) => finish(id, owner, { state: "dead", last_error: lastError }),
    deadLetterUnknownReceivers: async (receivers, reason) => {
      const waiting = db
        .updateTable("outbox")
        .set({ state: "dead", last_error: reason, lease_owner: null, lease_until_ms: 0 })
        .where("state", "<>", "dead");
      const gone = receivers.length === 0 ? waiting : waiting.where("receiver", "not in", receivers);
      const { numUpdatedRows } = await gone.executeTakeFirst();
      return Number(numUpdatedRows);
    },
    releaseLeases: async (owner) => {
      await db
        .updateTable("outbox")
        .set({ state: "queued", lease_owner: null, lease_until_ms: 0 })
        .where("state", "=", "leased")
        .where("lease_owner", "=", owner)
        .execute();
    },
    nextAttempts: async () => {
      const rows = await db
        .selectFrom("outbox")
        .select([
          "receiver",
          sql<number>`min(case when state = 'leased' then lease_until_ms else next_attempt_at_ms end)`.as("at_ms"),
        ])
        .where("state", "<>", "dead")
        .groupBy("receiver")
        .execute();
      return new Map(rows.map((row) => [row.receiver, row.at_ms]));
    },
    list: async () => withAlerts(await db.selectFrom("outbox").select(entryColumns).orderBy("seq").execute()),
    totals: async () => {
      const rows = await db
        .selectFrom("outbox")
        .select([
          "receiver",
          sql<number>`sum(case when state = 'dead' then 0 else 1 end)`.as("pending"),
          sql<number>`sum(case when state = 'dead' then 1 else 0 end)`.as("dead"),
          sql<number | null>`min(case when state = 'dead' then null else created_at_ms end)`.as("oldest"),
        ])
        .groupBy("receiver")
        .orderBy("receiver")
        .execute();
      return rows.map((row) => ({
        receiver: row.receiver,
        pending: row.pending,
        deadLetters: row.dead,
        oldestCreatedAtMs: row.oldest,
      }));
    },
    retry: async (id, nowMs) => {
      const { numUpdatedRows } = await db
        .updateTable("outbox")
        .set({ state: "queued", attempts: 0, next_attempt_at_ms: nowMs, created_at_ms: nowMs })
        .where("id", "=", id)
        .where("state", "<>", "leased")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    discard: async (id) => {
      const { numDeletedRows } = await db
        .deleteFrom("outbox")
        .where("id", "=", id)
        .where("state", "<>", "leased")
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

const rowsPerStatement = 500;

const entryColumns = [
  "seq",
  "id",
  "receiver",
  "state",
  "attempts",
  "created_at_ms",
  "next_attempt_at_ms",
  "last_error",
  "payload",
] as const;

interface OutboxEntryRow {
  readonly seq: number;
  readonly id: string;
  readonly receiver: string;
  readonly state: string;
  readonly attempts: number;
  readonly created_at_ms: number;
  readonly next_attempt_at_ms: number;
  readonly last_error: string | null;
  readonly payload: string;
}

/** Rows of the receiver that may go now: due, and with no alert of which an older row of the same receiver still waits. */
function claimable(db: Db, receiver: string, nowMs: number, limit: number) {
  return db
    .selectFrom("outbox as candidate")
    .select("candidate.seq")
    .where("candidate.receiver", "=", receiver)
    .where((where) =>
      where.or([
        where.and([where("candidate.state", "=", "queued"), where("candidate.next_attempt_at_ms", "<=", nowMs)]),
        where.and([where("candidate.state", "=", "leased"), where("candidate.lease_until_ms", "<=", nowMs)]),
      ]),
    )
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("outbox_alerts as mine")
            .innerJoin("outbox_alerts as theirs", "theirs.alert_id", "mine.alert_id")
            .innerJoin("outbox as older", "older.seq", "theirs.seq")
            .select("older.seq")
            .whereRef("mine.seq", "=", "candidate.seq")
            .whereRef("older.seq", "<", "candidate.seq")
            .where("older.receiver", "=", receiver)
            .where("older.state", "<>", "dead"),
        ),
      ),
    )
    .orderBy("candidate.seq")
    .limit(limit);
}

function outboxEntry(row: OutboxEntryRow, alertIds: readonly string[]): OutboxEntry {
  return {
    id: row.id,
    receiver: row.receiver,
    state: row.state === "dead" || row.state === "leased" ? row.state : "queued",
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms,
    lastError: row.last_error,
    alertIds,
    payload: row.payload,
  };
}
