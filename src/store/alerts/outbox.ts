import { sql, type RawBuilder } from "kysely";

import { inChunks } from "../engine/chunks.ts";
import { dialectOf } from "../engine/dialect.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import {
  deliveryName,
  entryColumns,
  waitingColumns,
  type LeasedEntry,
  type OutboxEntry,
  type WaitingEntry,
} from "./outbox-entry.ts";
import { createReceiverPauses, forgetPausesBut } from "./receiver-pauses.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { Db } from "../tables.ts";

/** A question for entries: the newest `limit` with this subject that were enqueued (or retried) at or after `fromMs`. */
export interface WaitingQuery {
  readonly subject: string;
  readonly fromMs: number;
  readonly limit: number;
}

/** The dead letters that are deleted: old ones, and the oldest while all of them take more bytes than this. */
export interface DeadLetterLimits {
  readonly beforeMs: number;
  readonly mostBytes: number;
  readonly maxRows: number;
}

/** What is put into the queue. */
export interface NewOutboxEntry {
  readonly id: string;
  readonly receiver: string;
  /** [none] */
  readonly recipient?: string | null;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  readonly subjects: readonly string[];
  /** The number of the incident that it is about [none]. */
  readonly incident?: number | null;
  readonly payload: string;
  /** It is under way from the beginning: its writer sends it at once [it waits to be claimed]. */
  readonly isUnderWay?: boolean;
}

/** What became of a retry; `followed`: a later notification of its incident was accepted, which it would contradict. */
export type OutboxRetry = "queued" | "under_way" | "followed" | "unknown";

/** The result of a delivery: accepted (the row is deleted), to be tried again, or dead-lettered. */
export type EndedDelivery =
  | { readonly kind: "delivered"; readonly id: string }
  | { readonly kind: "retry"; readonly id: string; readonly nextAttemptAtMs: number; readonly lastError: string }
  | { readonly kind: "dead"; readonly id: string; readonly lastError: string };

export interface OutboxTotals {
  readonly receiver: string;
  readonly pending: number;
  readonly deadLetters: number;
  readonly oldestCreatedAtMs: number | null;
}

/** A claim for entries of a receiver. */
export interface OutboxClaim {
  readonly receiver: string;
  readonly nowMs: number;
  readonly limit: number;
}

/** What is queued for a receiver. */
export interface Waiting {
  /** Whether some of it may be claimed now, unless an older entry with the same subject still waits. */
  readonly isDue: boolean;
  /** The time until the next retry, or the end of the pause; Infinity: neither. */
  readonly nextInMs: number;
}

/** The queue. */
export type OutboxStore = ReturnType<typeof createOutboxStore>;

/** Creates the queue of notifications over the tables `outbox` and `outbox_alerts`. */
export function createOutboxStore(db: Db) {
  /** Inserts in the order of the list, in which one statement numbers its rows. */
  async function insertAll(db: Db, entries: readonly NewOutboxEntry[]): Promise<void> {
    const rows = await insertEntries(
      db,
      entries.map(({ id, receiver, recipient, createdAtMs, notBeforeMs, incident, payload, isUnderWay = false }) => [
        id,
        receiver,
        recipient ?? "",
        isUnderWay ? "leased" : "queued",
        Number(isUnderWay),
        createdAtMs,
        notBeforeMs,
        incident ?? null,
        payload,
      ]),
    );
    const seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
    await insertAlerts(
      db,
      entries.flatMap(({ id, subjects }) => [...new Set(subjects)].map((subject) => [subject, seqs.get(id) ?? null])),
    );
  }

  // Text, not Kysely's builder: each turn of the outbox claims for each receiver, and the builder takes longer than SQLite.
  async function claimRows(db: Db, { receiver, nowMs, limit }: OutboxClaim): Promise<LeasedEntry[]> {
    const { rows } = await sql<ClaimedRow>`
      with due as (
        select candidate.seq from outbox as candidate
        where candidate.receiver = ${receiver} and candidate.state = 'queued'
        and candidate.next_attempt_at_ms <= ${nowMs}
        -- No older row of the same receiver and recipient that shares an alert still waits; dead ones hold nothing up.
        -- cross join: SQLite keeps this order, by the rows of the alert; else it would read all older rows of the receiver.
        and not exists (
          select 1 from outbox_alerts as mine
          cross join outbox_alerts as theirs
          cross join outbox as older
          where mine.seq = candidate.seq and theirs.alert_id = mine.alert_id and theirs.seq < mine.seq
            and older.seq = theirs.seq and older.state <> 'dead'
            and older.receiver = candidate.receiver and older.recipient = candidate.recipient)
        and not exists (select 1 from receiver_pauses where receiver = candidate.receiver and until_ms > ${nowMs})
        order by candidate.seq limit ${limit})
      update outbox set state = 'leased', attempts = attempts + 1
      where seq in (select seq from due)
      returning ${claimedColumns}`.execute(db);
    return rows.toSorted((left, right) => left.seq - right.seq).map(addressed);
  }

  async function withAlerts(db: Db): Promise<OutboxEntry[]> {
    const rows = await db
      .selectFrom("outbox")
      .select(["seq", ...entryColumns])
      .orderBy("seq")
      .execute();
    const seqs = rows.map(({ seq }) => seq);
    const alerts = await inChunks(seqs, (some) =>
      db.selectFrom("outbox_alerts").selectAll().where("seq", "in", some).orderBy("alertId").execute(),
    );
    const bySeq = Map.groupBy(alerts, ({ seq }) => seq);
    return rows.map(({ seq, ...row }) => ({
      ...addressed(row),
      subjects: (bySeq.get(seq) ?? []).map(({ alertId }) => alertId),
    }));
  }

  async function retryNow(db: Db, id: string, nowMs: number): Promise<OutboxRetry> {
    const queued = await db
      .updateTable("outbox")
      // created_at_ms is set too, so that maxAge begins again: otherwise the next failure would be the last.
      .set({ state: "queued", attempts: 0, nextAttemptAtMs: nowMs, createdAtMs: nowMs })
      .where("id", "=", id)
      .where("state", "<>", "leased")
      .where("isFollowed", "=", 0)
      .returning("receiver")
      .executeTakeFirst();
    if (queued !== undefined) {
      await db.deleteFrom("receiver_pauses").where("receiver", "=", queued.receiver).execute();
      return "queued";
    }
    const left = await db.selectFrom("outbox").select("state").where("id", "=", id).executeTakeFirst();
    if (left === undefined) return "unknown";
    return left.state === "leased" ? "under_way" : "followed";
  }

  return {
    ...createReceiverPauses(db),
    enqueue: (entry: NewOutboxEntry): Promise<void> => inTransaction(db, (db) => insertAll(db, [entry])),
    /** The same for many in one transaction; their order is that of the list. */
    enqueueAll: (entries: readonly NewOutboxEntry[]): Promise<void> =>
      inTransaction(db, (db) => insertAll(db, entries)),
    /** Returns those of the receivers for which anything is queued: what is not due needs no transaction. */
    waitingFor: (receivers: readonly string[], nowMs: number): Promise<ReadonlyMap<string, Waiting>> =>
      receiversWithSome(db, receivers, nowMs),
    /**
     * Leases up to `limit` due entries of each receiver, oldest first, leaving out those with a subject of which an older entry
     * of the same receiver and recipient is still queued or leased.
     */
    claim: (claims: readonly OutboxClaim[]): Promise<readonly LeasedEntry[]> =>
      inTransaction(db, async (db) => {
        const leased: LeasedEntry[] = [];
        for (const claim of claims) leased.push(...(await claimRows(db, claim)));
        return leased;
      }),
    /** Ends these deliveries. Returns the ids of those that were still under way; what was discarded meanwhile is not. */
    settle: (ended: readonly EndedDelivery[]): Promise<readonly string[]> =>
      inTransaction(db, async (db) => {
        const delivered = ended.flatMap(({ kind, id }) => (kind === "delivered" ? [id] : []));
        const ours = delivered.length === 0 ? [] : await remove(db, delivered);
        for (const end of ended) if (end.kind !== "delivered" && (await release(db, end))) ours.push(end.id);
        return ours;
      }),
    /** Dead-letters everything that waits for receivers that are not in `receivers` (a reload removed them); their pauses go. */
    deadLetterUnknownReceivers: async (receivers: readonly string[], reason: string): Promise<number> => {
      const waiting = db.updateTable("outbox").set({ state: "dead", lastError: reason }).where("state", "<>", "dead");
      const gone = receivers.length === 0 ? waiting : waiting.where("receiver", "not in", receivers);
      const { numUpdatedRows } = await gone.executeTakeFirst();
      await forgetPausesBut(db, receivers);
      return Number(numUpdatedRows);
    },
    /** Queues what is under way, but for these: nobody delivers it. */
    requeueBut: async (ids: readonly string[]): Promise<void> => {
      await sql`update outbox set state = 'queued' where state = 'leased' and not (${isAmong(db, ids)})`.execute(db);
    },
    /** Oldest first, without what they say. */
    waitingWith: async ({ subject, fromMs, limit }: WaitingQuery): Promise<readonly WaitingEntry[]> => {
      const rows = await db
        .selectFrom("outbox_alerts")
        .innerJoin("outbox", "outbox.seq", "outbox_alerts.seq")
        .leftJoin("receiver_pauses", "receiver_pauses.receiver", "outbox.receiver")
        .select([...waitingColumns, "receiver_pauses.untilMs"])
        .where("outbox_alerts.alertId", "=", subject)
        .where("outbox.createdAtMs", ">=", fromMs)
        .orderBy("outbox_alerts.seq", "desc")
        .limit(limit)
        .execute();
      return rows.toReversed().map(({ untilMs, ...row }) => notBefore(addressed(row), untilMs));
    },
    /** Returns all entries, oldest first, without their payloads, which may be gigabytes. */
    list: async (): Promise<readonly OutboxEntry[]> => {
      const entries = await withAlerts(db);
      const pauses = await db.selectFrom("receiver_pauses").selectAll().execute();
      const ends = new Map(pauses.map(({ receiver, untilMs }) => [receiver, untilMs]));
      return entries.map((entry) => notBefore(entry, ends.get(entry.receiver) ?? null));
    },
    /** The event of the first alert in each of these notifications. */
    eventsOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      // json() is a function of SQLite, and a cast in PostgreSQL.
      const { rows } = await sql<{ id: string; event: string | null }>`
        select id, json(payload) -> 'alerts' -> 0 ->> 'event' as event from outbox where ${isAmong(db, ids)}`.execute(
        db,
      );
      return new Map(rows.flatMap((row) => (row.event === null ? [] : [[row.id, row.event]])));
    },
    totals: (): Promise<readonly OutboxTotals[]> =>
      db
        .selectFrom("outbox")
        .select([
          "receiver",
          sql<number>`sum(case when state = 'dead' then 0 else 1 end)`.as("pending"),
          sql<number>`sum(case when state = 'dead' then 1 else 0 end)`.as("deadLetters"),
          sql<number | null>`min(case when state = 'dead' then null else created_at_ms end)`.as("oldestCreatedAtMs"),
        ])
        .groupBy("receiver")
        .orderBy("receiver")
        .execute(),
    /** The name of the delivery (`deliveryName`); null: no such entry. */
    addresseeOf: async (id: string): Promise<string | null> => {
      const [row] = await db.selectFrom("outbox").select(["receiver", "recipient"]).where("id", "=", id).execute();
      return row === undefined ? null : deliveryName(row.receiver, row.recipient === "" ? null : row.recipient);
    },
    /**
     * Queued or dead → queued and due now, attempts and maxAge from 0, and the pause of its receiver ends; else it is left as it
     * is.
     */
    retry: (id: string, nowMs: number): Promise<OutboxRetry> => inTransaction(db, (db) => retryNow(db, id, nowMs)),
    /** Deletes it; one in flight may still arrive. False: no such entry. */
    discard: async (id: string): Promise<boolean> => {
      const { numDeletedRows } = await db.deleteFrom("outbox").where("id", "=", id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    /**
     * Deletes dead letters that were enqueued (or retried) at or before `beforeMs`, or that are beyond `mostBytes` in all; at
     * most `maxRows` at a time of each. `crowdedOut` is how many of the latter.
     */
    pruneDeadLetters: async ({
      beforeMs,
      mostBytes,
      maxRows,
    }: DeadLetterLimits): Promise<{ readonly hasMore: boolean; readonly crowdedOut: number }> => {
      const isDead = sql`state = 'dead'`;
      // The size of a text is known without reading it.
      const crowded = sql`
        select seq from (
          select seq, sum(octet_length(payload)) over (order by seq desc) as bytes from outbox where ${isDead}
        ) as newest where bytes > ${mostBytes} order by seq limit ${maxRows}`;
      const old = sql`select seq from outbox where ${isDead} and created_at_ms <= ${beforeMs} limit ${maxRows}`;
      const deleteThose = async (seqs: RawBuilder<unknown>): Promise<number> => {
        const { numAffectedRows = 0n } = await sql`delete from outbox where seq in (${seqs})`.execute(db);
        return Number(numAffectedRows);
      };
      const forgotten = await deleteThose(old);
      const crowdedOut = await deleteThose(crowded);
      return { hasMore: Math.max(forgotten, crowdedOut) >= maxRows, crowdedOut };
    },
  };
}

const insertEntries = rowStatement<{ readonly seq: number; readonly id: string }>(
  ["text", "text", "text", "text", "bigint", "bigint", "bigint", "bigint", "text"],
  (
    values,
  ) => `insert into outbox (id, receiver, recipient, state, attempts, created_at_ms, next_attempt_at_ms, incident_number, payload) ${values}
    returning seq, id`,
);
const insertAlerts = rowStatement(
  ["text", "bigint"],
  (values) => `insert into outbox_alerts (alert_id, seq) ${values}`,
);

async function receiversWithSome(
  db: Db,
  receivers: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, Waiting>> {
  const { rows } = await sql<{ receiver: string; isDue: unknown; nextInMs: number | null }>`
    select asked.value as receiver,
    not exists (select 1 from receiver_pauses where receiver = asked.value and until_ms > ${now}) and (
      exists (select 1 from outbox
        where receiver = asked.value and state = 'queued' and next_attempt_at_ms <= ${now})) as is_due,
    (select min(at_ms) from (
      select min(next_attempt_at_ms) as at_ms from outbox
        where receiver = asked.value and state = 'queued' and next_attempt_at_ms > ${now}
      union all select until_ms from receiver_pauses
        where receiver = asked.value and until_ms > ${now}) as later) - ${now} as next_in_ms
    from ${dialectOf(db).texts(receivers)} as asked where exists (
      select 1 from outbox where receiver = asked.value and state = 'queued')`.execute(db);
  return new Map(
    rows.map(({ receiver, isDue, nextInMs }) => [receiver, { isDue: Boolean(isDue), nextInMs: nextInMs ?? Infinity }]),
  );
}

function isAmong(db: Db, ids: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`id in (select value from ${dialectOf(db).texts(ids)} as asked)`;
}

/** Queues or gives up what is under way; returns false if it no longer is. */
async function release(db: Db, end: Exclude<EndedDelivery, { readonly kind: "delivered" }>): Promise<boolean> {
  const change =
    end.kind === "dead"
      ? ({ state: "dead" } as const)
      : ({ state: "queued", nextAttemptAtMs: end.nextAttemptAtMs } as const);
  const { numUpdatedRows } = await db
    .updateTable("outbox")
    .set({ ...change, lastError: end.lastError })
    .where("id", "=", end.id)
    .where("state", "=", "leased")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes what is under way, and answers which that was. */
async function remove(db: Db, ids: readonly string[]): Promise<string[]> {
  await sql`
    update outbox set is_followed = 1 where seq in (
      select older.seq from outbox as accepted join outbox as older on older.incident_number = accepted.incident_number
        and older.receiver = accepted.receiver and older.recipient = accepted.recipient and older.seq < accepted.seq
      where accepted.${isAmong(db, ids)} and accepted.state = 'leased')`.execute(db);
  const { rows } = await sql<{ readonly id: string }>`
    delete from outbox where ${isAmong(db, ids)} and state = 'leased' returning id`.execute(db);
  return rows.map(({ id }) => id);
}

const claimedColumns = sql.join(["seq", ...entryColumns, "payload"].map((column) => sql.ref(column)));

type ClaimedRow = Omit<LeasedEntry, "recipient"> & { readonly recipient: string };

function addressed<Row extends { readonly recipient: string }>(row: Row) {
  return { ...row, recipient: row.recipient === "" ? null : row.recipient };
}

/** Returns the entry with the end of its receiver's pause, if it waits for that. */
function notBefore<Entry extends { readonly nextAttemptAtMs: number }>(
  entry: Entry,
  pauseEndsMs: number | null,
): Entry {
  return { ...entry, nextAttemptAtMs: Math.max(entry.nextAttemptAtMs, pauseEndsMs ?? 0) };
}
