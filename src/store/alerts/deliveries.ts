import { chunksOf } from "../engine/chunks.ts";
import { inTransaction, isAmong } from "../engine/dialect.ts";
import type { Db, PruneLimits, Pruned } from "../tables.ts";
import type { AlertTables } from "./alerts.ts";
import { addressKey, type Address } from "./outbox.ts";

/** One attempt to notify a receiver, and its answer. It names no organization: those are with the incident. */
export interface DeliveryAttempt extends Address {
  readonly notificationId: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly outcome: "accepted" | "retry" | "refused";
  /** What the receiver answered, in words without its address. */
  readonly detail: string;
  /** The number of the incident that it was about; null: a test. */
  readonly incident: number | null;
  /** How many organizations the notification named. */
  readonly organizations: number;
}

/** An attempt to be stored. */
export interface NewDeliveryAttempt extends DeliveryAttempt {
  /** The alerts in the notification [none]. */
  readonly alertIds?: readonly string[];
}

export interface DeliveryTables {
  readonly deliveries: DeliveryAttempt;
  readonly alert_notified: {
    readonly alertId: string;
    readonly receiver: string;
    /** Empty: none. */
    readonly recipient: string;
    readonly atMs: number;
  };
}

/** What receivers answered, and which alerts each was told of, over the tables `deliveries` and `alert_notified`. */
export function createDeliveryStore(db: Db<DeliveryTables & AlertTables>) {
  const newest = () => db.selectFrom("deliveries").selectAll().orderBy("atMs", "desc").orderBy("notificationId");
  const told = (alertIds: readonly string[]) => db.selectFrom("alert_notified").where(isAmong(db, "alertId", alertIds));
  return {
    /** Written in the transaction that settles the deliveries. */
    add: (attempts: readonly NewDeliveryAttempt[]): Promise<void> =>
      inTransaction(db, async (db) => {
        for (const { alertIds = [], ...attempt } of attempts) {
          // If the same notification is there twice in a millisecond, the first row is enough.
          await db
            .insertInto("deliveries")
            .values(attempt)
            .onConflict((conflict) => conflict.columns(["notificationId", "atMs"]).doNothing())
            .execute();
          if (attempt.outcome === "accepted") await noteTold(db, alertIds, attempt);
        }
      }),
    /** The last attempt of a receiver that was accepted, or the last that was not; null without one. */
    last: async (receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null> => {
      const rows = newest()
        .where("receiver", "=", receiver)
        .where("outcome", isAccepted ? "=" : "<>", "accepted");
      return (await rows.limit(1).executeTakeFirst()) ?? null;
    },
    /** The latest attempts, newest first. */
    latest: (limit: number): Promise<readonly DeliveryAttempt[]> => newest().limit(limit).execute(),
    /** Returns when any receiver first accepted a message about an incident; null: none did. */
    firstOf: async (incident: { readonly number: number; readonly startedAtMs: number }): Promise<number | null> => {
      const accepted = db.selectFrom("deliveries").select("atMs").where("outcome", "=", "accepted");
      const own = accepted.where("atMs", ">=", incident.startedAtMs).where("incident", "=", incident.number);
      return (await own.orderBy("atMs").limit(1).executeTakeFirst())?.atMs ?? null;
    },
    /** Returns when each receiver first accepted a message about any of these alerts, the earliest first. */
    firstByReceiver: (alertIds: readonly string[]) => {
      const first = told(alertIds).select(({ fn }) => ["receiver", fn.min("atMs").as("atMs")]);
      return first.groupBy("receiver").orderBy("atMs").orderBy("receiver").execute();
    },
    /** Returns when any receiver first accepted a message about each of these alerts; absent: none did. */
    firstAccepted: async (alertIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const first = told(alertIds).select(({ fn }) => ["alertId", fn.min("atMs").as("atMs")]);
      return new Map((await first.groupBy("alertId").execute()).map((one) => [one.alertId, one.atMs]));
    },
    /** Returns the alerts of an incident that a receiver accepted a message about. */
    toldOf: async (receiver: string, incident: number): Promise<ReadonlySet<string>> => {
      const members = db.selectFrom("alerts").select("id").where("incidentNumber", "=", incident);
      const own = db.selectFrom("alert_notified").select("alertId").where("receiver", "=", receiver);
      return new Set((await own.where("alertId", "in", members).execute()).map(({ alertId }) => alertId));
    },
    /** Returns a function that says whether an address has accepted a message about one of these alerts. */
    toldOfEach: async (alertIds: readonly string[]): Promise<(alertId: string, address: Address) => boolean> => {
      const keyOf = (alertId: string, address: Address): string => `${alertId} ${addressKey(address)}`;
      const found = new Set(
        (await told(alertIds).selectAll().execute()).map(({ recipient, ...one }) => {
          return keyOf(one.alertId, { ...one, recipient: recipient || null });
        }),
      );
      return (alertId, address) => found.has(keyOf(alertId, address));
    },
    /** Deletes attempts at or before `beforeMs`, at most `maxRows` at a time, and what was told of deleted alerts. */
    prune: async ({ beforeMs, maxRows }: PruneLimits): Promise<Pruned> => {
      const old = db.selectFrom("deliveries").select("atMs").where("atMs", "<=", beforeMs).orderBy("atMs");
      const last = await old.offset(maxRows).limit(1).executeTakeFirst();
      const untilMs = last === undefined ? beforeMs : last.atMs;
      await db.deleteFrom("deliveries").where("atMs", "<=", untilMs).execute();
      const kept = db.selectFrom("alerts").select("id");
      await db.deleteFrom("alert_notified").where("atMs", "<=", untilMs).where("alertId", "not in", kept).execute();
      return { hasMore: last !== undefined && last.atMs < beforeMs };
    },
  };
}

/** Keeps the earliest instant. */
async function noteTold(
  db: Db<DeliveryTables & AlertTables>,
  alertIds: readonly string[],
  { receiver, recipient, atMs }: Pick<DeliveryAttempt, "receiver" | "recipient" | "atMs">,
): Promise<void> {
  for (const ids of chunksOf(alertIds))
    await db
      .insertInto("alert_notified")
      .values(ids.map((alertId) => ({ alertId, receiver, recipient: recipient ?? "", atMs })))
      .onConflict((conflict) =>
        conflict
          .columns(["alertId", "receiver", "recipient"])
          .doUpdateSet((row) => ({ atMs: row.ref("excluded.atMs") }))
          .where((row) => row("excluded.atMs", "<", row.ref("alert_notified.atMs"))),
      )
      .execute();
}
