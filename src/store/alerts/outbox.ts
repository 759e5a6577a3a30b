import { sql, type Generated, type RawBuilder } from "kysely";

import { inTransaction, isAmong, rowStatement } from "../engine/dialect.ts";
import type { Db, PruneLimits, RowId } from "../tables.ts";

/** The address of deliveries: a receiver, or one of its recipients. */
export interface Address {
  readonly receiver: string;
  /** null: the receiver itself. */
  readonly recipient: string | null;
}

/** Returns a text that is the same for the same address. */
export function addressKey({ receiver, recipient }: Address): string {
  return JSON.stringify([receiver, recipient]);
}

/** A notification that its receiver has not accepted yet (CONTRACT 7). */
export interface OutboxEntry extends Address {
  /** The notification's `id`, also the `webhook-id`: stable over every retry. */
  readonly id: string;
  /** The number of the incident that it is about: order is kept by receiver, recipient and incident. null: of none. */
  readonly incident: number | null;
  /** queued: waits for its next attempt; leased: being delivered; dead: dead-lettered. */
  readonly state: "queued" | "leased" | "dead";
  /** Begun so far: a claim counts as one. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /** In a listing never before the end of the receiver's pause. */
  readonly nextAttemptAtMs: number;
  readonly lastError: string | null;
}

/** An entry that is being delivered. */
export interface LeasedEntry extends OutboxEntry {
  /** Grows with every entry. */
  readonly seq: number;
  /** The facts of the notification (alerting/notify/notification.ts) as JSON. */
  readonly payload: string;
}

export interface NewOutboxEntry extends Pick<OutboxEntry, "id" | "receiver" | "createdAtMs"> {
  /** [none] */
  readonly recipient?: string | null;
  /** [none] */
  readonly incident?: number | null;
  /** Whether it only repeats what is known: it replaces a waiting reminder of its incident [false]. */
  readonly isReminder?: boolean;
  readonly payload: string;
}

/** The result of a delivery. `dropped`: not worth sending any more; its row is deleted, and that of `delivered`. */
export type EndedDelivery =
  | { readonly kind: "delivered" | "dropped"; readonly id: string }
  | { readonly kind: "retry"; readonly id: string; readonly nextAttemptAtMs: number; readonly lastError: string }
  | { readonly kind: "dead"; readonly id: string; readonly lastError: string };

/** The result of a retry; `followed`: a later notification of its incident was accepted, which it would contradict. */
export type OutboxRetry =
  { readonly kind: "queued"; readonly payload: string } | { readonly kind: "under_way" | "followed" | "unknown" };

/** A claim for entries of a receiver. */
export interface OutboxClaim {
  readonly receiver: string;
  readonly nowMs: number;
  readonly limit: number;
}

export interface OutboxTables {
  readonly outbox: Omit<LeasedEntry, "seq" | "recipient" | "attempts"> & {
    readonly seq: RowId;
    /** Empty: none. */
    readonly recipient: string;
    readonly attempts: Generated<number>;
    readonly isReminder: number;
    /** Whether its receiver has accepted a later one of its incident. */
    readonly isFollowed: Generated<number>;
  };
  readonly receiver_pauses: { readonly receiver: string; readonly untilMs: number };
}

export type OutboxStore = ReturnType<typeof createOutboxStore>;

/** The queue of notifications (table `outbox`), and the pauses that receivers asked for (`receiver_pauses`). */
export function createOutboxStore(db: Db<OutboxTables>) {
  const listed = () =>
    db
      .selectFrom("outbox")
      .leftJoin("receiver_pauses", "receiver_pauses.receiver", "outbox.receiver")
      .select(entryColumns.map((column) => `outbox.${column}` as const))
      .select("receiver_pauses.untilMs");
  /** An entry waits for the end of its receiver's pause, too. */
  const read = async (entries: ReturnType<typeof listed>): Promise<OutboxEntry[]> =>
    (await entries.execute()).map(({ untilMs, nextAttemptAtMs, ...row }) => {
      return { ...entryOf(row), nextAttemptAtMs: Math.max(nextAttemptAtMs, untilMs ?? 0) };
    });
  return {
    /** Queues them in the order of the list. A reminder replaces the waiting reminders of its incident. */
    enqueue: (entries: readonly NewOutboxEntry[]): Promise<void> =>
      inTransaction(db, async (db) => {
        for (const { receiver, recipient, incident } of entries.filter(({ isReminder }) => isReminder === true))
          await db
            .deleteFrom("outbox")
            .where("receiver", "=", receiver)
            .where("recipient", "=", recipient ?? "")
            .where("incident", "=", incident ?? 0)
            .where("state", "=", "queued")
            .where("isReminder", "=", 1)
            .execute();
        await insertEntries(
          db,
          entries.map(({ id, receiver, recipient, incident, createdAtMs, isReminder, payload }) => [
            id,
            receiver,
            recipient ?? "",
            incident ?? null,
            createdAtMs,
            createdAtMs,
            Number(isReminder === true),
            payload,
          ]),
        );
      }),
    /** Returns the next instant after `nowMs` at which an attempt is due or a pause ends; null: none. */
    nextDueAtMs: async (nowMs: number): Promise<number | null> => {
      const { rows } = await sql<{ readonly atMs: number | null }>`
        select min(at_ms) as at_ms from (
          select min(next_attempt_at_ms) as at_ms from outbox where state = 'queued' and next_attempt_at_ms > ${nowMs}
          union all select min(until_ms) from receiver_pauses where until_ms > ${nowMs}) as later`.execute(db);
      return rows[0]?.atMs ?? null;
    },
    /** Leases up to `limit` due entries of each receiver, oldest first; none behind an older one of its incident. */
    claim: (claims: readonly OutboxClaim[]): Promise<readonly LeasedEntry[]> =>
      inTransaction(db, async (db) => {
        const leased: LeasedEntry[] = [];
        for (const claim of claims) leased.push(...(await claimRows(db, claim)));
        return leased;
      }),
    /** Ends these deliveries. Returns the ids of those that were still under way: some may have been discarded. */
    settle: (ended: readonly EndedDelivery[]): Promise<ReadonlySet<string>> =>
      inTransaction(db, async (db) => {
        const ours: string[] = [];
        const ids = (kind: "delivered" | "dropped"): string[] =>
          ended.flatMap((end) => (end.kind === kind ? [end.id] : []));
        if (ids("delivered").length > 0) await noteFollowed(db, ids("delivered"));
        const gone = [...ids("delivered"), ...ids("dropped")];
        if (gone.length > 0) {
          const { rows } = await sql<{ readonly id: string }>`
            delete from outbox where ${isAmong(db, "id", gone)} and state = 'leased' returning id`.execute(db);
          ours.push(...rows.map(({ id }) => id));
        }
        for (const end of ended)
          if ((end.kind === "retry" || end.kind === "dead") && (await release(db, end))) ours.push(end.id);
        return new Set(ours);
      }),
    /** Dead-letters all entries of other receivers, and ends their pauses; returns the payloads. */
    deadLetterUnknownReceivers: async (receivers: readonly string[], reason: string): Promise<readonly string[]> => {
      // An empty list would be "not in ()", which not every database takes.
      const kept = receivers.length === 0 ? [""] : [...receivers];
      await db.deleteFrom("receiver_pauses").where("receiver", "not in", kept).execute();
      const waiting = db.updateTable("outbox").set({ state: "dead", lastError: reason }).where("state", "<>", "dead");
      const rows = await waiting.where("receiver", "not in", kept).returning("payload").execute();
      return rows.map(({ payload }) => payload);
    },
    /** Queues all entries under way except these: nobody delivers them. */
    requeueBut: async (ids: readonly string[]): Promise<void> => {
      await sql`update outbox set state = 'queued' where state = 'leased' and not (${isAmong(db, "id", ids)})`.execute(
        db,
      );
    },
    /** Returns all entries, oldest first, without their payloads, which may be gigabytes. */
    list: (): Promise<readonly OutboxEntry[]> => read(listed().orderBy("outbox.seq")),
    /** Returns the newest entries of an incident, in their order. */
    ofIncident: async (incident: number, limit: number): Promise<readonly OutboxEntry[]> =>
      (
        await read(listed().where("outbox.incident", "=", incident).orderBy("outbox.seq", "desc").limit(limit))
      ).toReversed(),
    /** The event of the first alert in each of these notifications. */
    eventsOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      // json() is a function of SQLite, and a cast in PostgreSQL.
      const { rows } = await sql<{ id: string; event: string | null }>`
        select id, json(payload) -> 'alerts' -> 0 ->> 'event' as event from outbox
        where ${isAmong(db, "id", ids)}`.execute(db);
      return new Map(rows.flatMap((row) => (row.event === null ? [] : [[row.id, row.event]])));
    },
    totals: () =>
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
    /** Makes a queued or dead entry due now, with attempts and maxAge from 0, and ends the pause of its receiver. */
    retry: (id: string, nowMs: number): Promise<OutboxRetry> =>
      inTransaction(db, async (db) => {
        const queued = await db
          .updateTable("outbox")
          // created_at_ms is set too, so that maxAge begins again: otherwise the next failure would be the last.
          .set({ state: "queued", attempts: 0, nextAttemptAtMs: nowMs, createdAtMs: nowMs })
          .where("id", "=", id)
          .where("state", "<>", "leased")
          .where("isFollowed", "=", 0)
          .returning(["receiver", "payload"])
          .executeTakeFirst();
        if (queued !== undefined) {
          await db.deleteFrom("receiver_pauses").where("receiver", "=", queued.receiver).execute();
          return { kind: "queued", payload: queued.payload };
        }
        const left = await db.selectFrom("outbox").select("state").where("id", "=", id).executeTakeFirst();
        return { kind: left === undefined ? "unknown" : left.state === "leased" ? "under_way" : "followed" };
      }),
    /** Deletes an entry and returns its payload; one under way may still arrive. null: no such entry. */
    discard: async (id: string): Promise<string | null> =>
      (await db.deleteFrom("outbox").where("id", "=", id).returning("payload").executeTakeFirst())?.payload ?? null,
    /**
     * Deletes dead letters that were enqueued (or retried) at or before `beforeMs`, or that are beyond `mostBytes` in
     * all; at most `maxRows` at a time of each. `crowdedOut` is how many of the latter.
     */
    pruneDeadLetters: async ({ beforeMs, maxRows, mostBytes }: PruneLimits & { readonly mostBytes: number }) => {
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
    /** Pauses a receiver as it asked: none of its entries is claimed until then; a pause that lasts longer stays. */
    pause: async (pause: { readonly receiver: string; readonly untilMs: number }): Promise<void> => {
      await db
        .insertInto("receiver_pauses")
        .values(pause)
        .onConflict((conflict) =>
          conflict
            .column("receiver")
            .doUpdateSet({ untilMs: (row) => row.ref("excluded.untilMs") })
            .whereRef("excluded.untilMs", ">", "receiver_pauses.untilMs"),
        )
        .execute();
    },
    /** Ends the pause of a receiver: its entries are due as without it. False: it was not paused. */
    endPause: async (receiver: string, nowMs: number): Promise<boolean> => {
      const ended = db.deleteFrom("receiver_pauses").where("receiver", "=", receiver).returning("untilMs");
      return ((await ended.executeTakeFirst())?.untilMs ?? 0) > nowMs;
    },
    /** Returns the ends of the pauses; a receiver without one is absent. */
    pauses: async (nowMs: number): Promise<ReadonlyMap<string, number>> => {
      const rows = await db.selectFrom("receiver_pauses").selectAll().where("untilMs", ">", nowMs).execute();
      return new Map(rows.map(({ receiver, untilMs }) => [receiver, untilMs]));
    },
  };
}

/** Returns how a delivery is called where people read: `ops`, `mail to ops@example.com`. */
export function deliveryName(receiver: string, recipient: string | null): string {
  return recipient === null ? receiver : `${receiver} to ${recipient}`;
}

const entryColumns = [
  "id",
  "receiver",
  "recipient",
  "incident",
  "state",
  "attempts",
  "createdAtMs",
  "nextAttemptAtMs",
  "lastError",
] as const;
const claimedColumns = sql.join(["seq", ...entryColumns, "payload"].map((column) => sql.ref(column)));

const insertEntries = rowStatement(
  ["text", "text", "text", "bigint", "bigint", "bigint", "bigint", "text"],
  (values) => `insert into outbox
    (id, receiver, recipient, incident, created_at_ms, next_attempt_at_ms, is_reminder, payload) ${values}`,
);

// SQL as text: each turn of the outbox claims for each receiver, and Kysely's builder takes longer than SQLite.
async function claimRows(db: Db<OutboxTables>, { receiver, nowMs, limit }: OutboxClaim): Promise<LeasedEntry[]> {
  const { rows } = await sql<ClaimedRow>`
    with due as (
      select candidate.seq from outbox as candidate
      where candidate.receiver = ${receiver} and candidate.state = 'queued'
      and candidate.next_attempt_at_ms <= ${nowMs}
      -- Dead ones hold nothing up, and what is about no incident (null) holds up nothing either.
      and not exists (
        select 1 from outbox as older
        where older.receiver = candidate.receiver and older.recipient = candidate.recipient
          and older.incident = candidate.incident and older.seq < candidate.seq and older.state <> 'dead')
      and not exists (select 1 from receiver_pauses where receiver = candidate.receiver and until_ms > ${nowMs})
      order by candidate.seq limit ${limit})
    update outbox set state = 'leased', attempts = attempts + 1
    where seq in (select seq from due)
    returning ${claimedColumns}`.execute(db);
  return rows.toSorted((left, right) => left.seq - right.seq).map(entryOf);
}

/** Notes that these were accepted: older entries of their incident cannot be retried any more. */
async function noteFollowed(db: Db<OutboxTables>, ids: readonly string[]): Promise<void> {
  await sql`
    update outbox set is_followed = 1 where seq in (
      select older.seq from outbox as accepted join outbox as older on older.incident = accepted.incident
        and older.receiver = accepted.receiver and older.recipient = accepted.recipient and older.seq < accepted.seq
      where ${isAmong(db, "accepted.id", ids)} and accepted.state = 'leased')`.execute(db);
}

/** Queues or gives up what is under way; returns false if it no longer is. */
async function release(
  db: Db<OutboxTables>,
  end: Extract<EndedDelivery, { readonly lastError: string }>,
): Promise<boolean> {
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

type ClaimedRow = Omit<LeasedEntry, "recipient"> & { readonly recipient: string };

function entryOf<Row extends { readonly recipient: string }>({ recipient, ...row }: Row) {
  return { ...row, recipient: recipient === "" ? null : recipient };
}
