import { z } from "zod";

import { chunksOf, inChunks } from "../engine/chunks.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import type { Db } from "../tables.ts";
import type { PruneLimits, Pruned } from "../prune-limits.ts";

/** One attempt to notify a receiver, and its answer. */
export interface DeliveryAttempt {
  readonly notificationId: string;
  readonly receiver: string;
  /** The recipient; null: the receiver has none. */
  readonly recipient: string | null;
  readonly atMs: number;
  readonly tookMs: number;
  readonly outcome: "accepted" | "retry" | "refused";
  /** What the receiver answered, in words without its address. */
  readonly detail: string;
  /** The organizations in the notification. */
  readonly slugs: readonly string[];
  /** The fleet verdict in the notification; null: none. */
  readonly fleetId: string | null;
}

/** An attempt to be stored. */
export interface NewDeliveryAttempt extends DeliveryAttempt {
  /** The alerts in the notification [none]. */
  readonly alertIds?: readonly string[];
}

/** The first acceptance by a receiver or one of its recipients. */
export interface FirstAcceptance {
  readonly receiver: string;
  readonly recipient: string | null;
  readonly atMs: number;
}

export interface DeliveryTables {
  readonly deliveries: Omit<DeliveryAttempt, "recipient" | "slugs"> & {
    /** Empty: none. */
    readonly recipient: string;
    /** A JSON array. */
    readonly slugs: string;
  };
  readonly alert_notified: { readonly alertId: string; readonly receiver: string; readonly atMs: number };
  readonly delivery_slugs: { readonly slug: string; readonly atMs: number; readonly notificationId: string };
}

const storedAttempt = z.object({
  notificationId: z.string(),
  receiver: z.string(),
  recipient: z.string().transform((recipient) => (recipient === "" ? null : recipient)),
  atMs: z.number(),
  tookMs: z.number(),
  outcome: z.enum(["accepted", "retry", "refused"]),
  detail: z.string(),
  slugs: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
  fleetId: z.string().nullable(),
});

/** Returns what receivers answered, over the tables `deliveries` and `delivery_slugs`. */
export function createDeliveryStore(db: Db) {
  const attempts = () => db.selectFrom("deliveries").selectAll("deliveries");
  const notified = (alertIds: readonly string[]) =>
    inChunks(alertIds, (ids) => db.selectFrom("alert_notified").selectAll().where("alertId", "in", ids).execute());
  return {
    add: (attempts: readonly NewDeliveryAttempt[]): Promise<void> =>
      inTransaction(db, async (db) => {
        for (const { recipient, slugs, alertIds = [], ...attempt } of attempts) {
          const { notificationId, receiver, atMs, outcome } = attempt;
          const row = { ...attempt, recipient: recipient ?? "", slugs: JSON.stringify(slugs) };
          // When the same notification is there twice in a millisecond, the first row says it all.
          const { numInsertedOrUpdatedRows } = await db
            .insertInto("deliveries")
            .values(row)
            .onConflict((conflict) => conflict.columns(["notificationId", "atMs"]).doNothing())
            .executeTakeFirst();
          if (numInsertedOrUpdatedRows === 0n) continue;
          for (const chunk of chunksOf(slugs)) {
            const values = chunk.map((slug) => ({ notificationId, atMs, slug }));
            await db.insertInto("delivery_slugs").values(values).execute();
          }
          if (outcome === "accepted") await noteNotified(db, alertIds, receiver, atMs);
        }
      }),
    /** The latest attempts of one organization since `fromMs`, oldest first. */
    ofOrganization: async (query: {
      readonly slug: string;
      readonly fromMs: number;
      readonly limit: number;
    }): Promise<readonly DeliveryAttempt[]> => {
      const { slug, fromMs, limit } = query;
      const rows = await attempts()
        .innerJoin("delivery_slugs", (join) =>
          join
            .onRef("delivery_slugs.notificationId", "=", "deliveries.notificationId")
            .onRef("delivery_slugs.atMs", "=", "deliveries.atMs"),
        )
        .where("delivery_slugs.slug", "=", slug)
        .where("delivery_slugs.atMs", ">=", fromMs)
        .orderBy("delivery_slugs.atMs", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => storedAttempt.parse(row)).toReversed();
    },
    /** The last attempt of a receiver that was accepted, or the last that was not; null without one. */
    last: async (receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null> => {
      const row = await attempts()
        .where("receiver", "=", receiver)
        .where("outcome", isAccepted ? "=" : "<>", "accepted")
        .orderBy("atMs", "desc")
        .orderBy("notificationId")
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : storedAttempt.parse(row);
    },
    /** The latest attempts of one receiver, or of all (null), newest first. */
    latest: async ({
      receiver,
      limit,
    }: {
      readonly receiver: string | null;
      readonly limit: number;
    }): Promise<readonly DeliveryAttempt[]> => {
      const all = attempts().orderBy("atMs", "desc").orderBy("notificationId").limit(limit);
      const rows = await (receiver === null ? all : all.where("receiver", "=", receiver)).execute();
      return rows.map((row) => storedAttempt.parse(row));
    },
    /** Returns when each receiver first accepted a message about any of these alerts, the earliest first. */
    firstByReceiver: async (
      alertIds: readonly string[],
    ): Promise<readonly { readonly receiver: string; readonly atMs: number }[]> => {
      const found = new Map<string, number>();
      for (const { receiver, atMs } of await notified(alertIds))
        found.set(receiver, Math.min(atMs, found.get(receiver) ?? atMs));
      const all = [...found].map(([receiver, atMs]) => ({ receiver, atMs }));
      return all.toSorted((left, right) => left.atMs - right.atMs || (left.receiver < right.receiver ? -1 : 1));
    },
    /** Returns when any receiver first accepted a message about each of these alerts; an alert without one is absent. */
    firstAccepted: async (alertIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const found = new Map<string, number>();
      for (const { alertId, atMs } of await notified(alertIds))
        found.set(alertId, Math.min(atMs, found.get(alertId) ?? atMs));
      return found;
    },
    /** The receivers that accepted a message about each of these alerts. */
    notifiedOf: async (alertIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
      const found = new Map<string, Set<string>>(alertIds.map((alertId) => [alertId, new Set()]));
      for (const { alertId, receiver } of await notified(alertIds)) found.get(alertId)?.add(receiver);
      return found;
    },
    /** Returns who accepted a notification of this fleet verdict, and when each first did, in this order. */
    acceptedOfFleet: async (fleetId: string): Promise<readonly FirstAcceptance[]> => {
      const rows = await db
        .selectFrom("deliveries")
        .select(["receiver", "recipient", ({ fn }) => fn.min("atMs").as("atMs")])
        .where("fleetId", "=", fleetId)
        .where("outcome", "=", "accepted")
        .groupBy(["receiver", "recipient"])
        .orderBy("atMs")
        .orderBy("receiver")
        .execute();
      return rows.map((row) => ({ ...row, recipient: row.recipient === "" ? null : row.recipient }));
    },
    /** Deletes those at or before `beforeMs`, at most `maxRows` at a time. */
    prune: async ({ beforeMs, maxRows }: PruneLimits): Promise<Pruned> => {
      const old = db.selectFrom("deliveries").select("atMs").where("atMs", "<=", beforeMs).orderBy("atMs");
      const last = await old.offset(maxRows).limit(1).executeTakeFirst();
      const untilMs = last === undefined ? beforeMs : last.atMs;
      await db.deleteFrom("delivery_slugs").where("atMs", "<=", untilMs).execute();
      await db.deleteFrom("deliveries").where("atMs", "<=", untilMs).execute();
      const live = db.selectFrom("alerts").select("id");
      await db.deleteFrom("alert_notified").where("atMs", "<=", untilMs).where("alertId", "not in", live).execute();
      return { hasMore: last !== undefined && last.atMs < beforeMs };
    },
  };
}

/** The earliest one stays. */
async function noteNotified(db: Db, alertIds: readonly string[], receiver: string, atMs: number): Promise<void> {
  for (const ids of chunksOf(alertIds))
    await db
      .insertInto("alert_notified")
      .values(ids.map((alertId) => ({ alertId, receiver, atMs })))
      .onConflict((conflict) =>
        conflict
          .columns(["alertId", "receiver"])
          .doUpdateSet((row) => ({ atMs: row.ref("excluded.atMs") }))
          .where((row) => row("excluded.atMs", "<", row.ref("alert_notified.atMs"))),
      )
      .execute();
}
