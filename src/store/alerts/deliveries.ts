import { z } from "zod";

import { chunksOf, inChunks } from "../engine/chunks.ts";
import { inTransaction } from "../engine/in-transaction.ts";
import type { Db } from "../schema.ts";
import type { PruneLimits, Pruned } from "../prune-limits.ts";

/** One attempt to notify a receiver, and its answer. */
export interface DeliveryAttempt {
  readonly notificationId: string;
  readonly receiver: string;
  /** Who of its recipients it was for; null where the receiver is one. */
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

/** When a receiver, or one of its recipients, first accepted something. */
export interface FirstAcceptance {
  readonly receiver: string;
  readonly recipient: string | null;
  readonly atMs: number;
}

const storedAttempt = z.object({
  notification_id: z.string(),
  receiver: z.string(),
  recipient: z.string(),
  at_ms: z.number(),
  took_ms: z.number(),
  outcome: z.enum(["accepted", "retry", "refused"]),
  detail: z.string(),
  slugs: z.string(),
  fleet_id: z.string().nullable(),
});
const storedSlugs = z.array(z.string());

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Returns what receivers answered, over the tables `deliveries` and `delivery_slugs`. */
export function createDeliveryStore(db: Db) {
  const attempts = () => db.selectFrom("deliveries").selectAll("deliveries");
  const notified = (alertIds: readonly string[]) =>
    inChunks(alertIds, (ids) => db.selectFrom("alert_notified").selectAll().where("alert_id", "in", ids).execute());
  return {
    add: (attempts: readonly NewDeliveryAttempt[]): Promise<void> =>
      inTransaction(db, async (db) => {
        for (const {
          notificationId,
          receiver,
          recipient,
          atMs,
          tookMs,
          outcome,
          detail,
          slugs,
          fleetId,
          alertIds = [],
        } of attempts) {
          const key = { notification_id: notificationId, at_ms: atMs };
          const answer = { took_ms: tookMs, outcome, detail };
          const sent = { slugs: JSON.stringify(slugs), fleet_id: fleetId };
          const row = { ...key, receiver, recipient: recipient ?? "", ...answer, ...sent };
          // The same notification twice in one millisecond: the first says it all.
          const { numInsertedOrUpdatedRows } = await db
            .insertInto("deliveries")
            .values(row)
            .onConflict((conflict) => conflict.columns(["notification_id", "at_ms"]).doNothing())
            .executeTakeFirst();
          if (numInsertedOrUpdatedRows === 0n) continue;
          for (const chunk of chunksOf(slugs)) {
            const values = chunk.map((slug) => ({ ...key, slug }));
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
            .onRef("delivery_slugs.notification_id", "=", "deliveries.notification_id")
            .onRef("delivery_slugs.at_ms", "=", "deliveries.at_ms"),
        )
        .where("delivery_slugs.slug", "=", slug)
        .where("delivery_slugs.at_ms", ">=", fromMs)
        .orderBy("delivery_slugs.at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.map(attempt).toReversed();
    },
    /** The last attempt of a receiver that was accepted, or the last that was not; null without one. */
    last: async (receiver: string, isAccepted: boolean): Promise<DeliveryAttempt | null> => {
      const row = await attempts()
        .where("receiver", "=", receiver)
        .where("outcome", isAccepted ? "=" : "<>", "accepted")
        .orderBy("at_ms", "desc")
        .orderBy("notification_id")
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : attempt(row);
    },
    /** The latest attempts of one receiver, or of all (null), newest first. */
    latest: async ({
      receiver,
      limit,
    }: {
      readonly receiver: string | null;
      readonly limit: number;
    }): Promise<readonly DeliveryAttempt[]> => {
      const all = attempts().orderBy("at_ms", "desc").orderBy("notification_id").limit(limit);
      const rows = await (receiver === null ? all : all.where("receiver", "=", receiver)).execute();
      return rows.map(attempt);
    },
    /** When each receiver first accepted a message about any of these alerts, the first one first. */
    firstByReceiver: async (
      alertIds: readonly string[],
    ): Promise<readonly { readonly receiver: string; readonly atMs: number }[]> => {
      const found = new Map<string, number>();
      for (const { receiver, at_ms } of await notified(alertIds))
        found.set(receiver, Math.min(at_ms, found.get(receiver) ?? at_ms));
      const all = [...found].map(([receiver, atMs]) => ({ receiver, atMs }));
      return all.toSorted((left, right) => left.atMs - right.atMs || (left.receiver < right.receiver ? -1 : 1));
    },
    /** When any receiver first accepted a message about each of these alerts; those that none did are absent. */
    firstAccepted: async (alertIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const found = new Map<string, number>();
      for (const { alert_id, at_ms } of await notified(alertIds))
        found.set(alert_id, Math.min(at_ms, found.get(alert_id) ?? at_ms));
      return found;
    },
    /** The receivers that accepted a message about each of these alerts. */
    notifiedOf: async (alertIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
      const found = new Map<string, Set<string>>(alertIds.map((alertId) => [alertId, new Set()]));
      for (const { alert_id, receiver } of await notified(alertIds)) found.get(alert_id)?.add(receiver);
      return found;
    },
    /** Who accepted a notification of this fleet verdict, and when each first did, in this order. */
    acceptedOfFleet: async (fleetId: string): Promise<readonly FirstAcceptance[]> => {
      const rows = await db
        .selectFrom("deliveries")
        .select(["receiver", "recipient", ({ fn }) => fn.min("at_ms").as("at_ms")])
        .where("fleet_id", "=", fleetId)
        .where("outcome", "=", "accepted")
        .groupBy(["receiver", "recipient"])
        .orderBy("at_ms")
        .orderBy("receiver")
        .execute();
      return rows.map(({ receiver, recipient, at_ms }) => ({
        receiver,
        recipient: recipient === "" ? null : recipient,
        atMs: at_ms,
      }));
    },
    /** Deletes those at or before `beforeMs`, at most `maxRows` at a time. */
    prune: async ({ beforeMs, maxRows }: PruneLimits): Promise<Pruned> => {
      const old = db.selectFrom("deliveries").select("at_ms").where("at_ms", "<=", beforeMs).orderBy("at_ms");
      const last = await old.offset(maxRows).limit(1).executeTakeFirst();
      const untilMs = last === undefined ? beforeMs : last.at_ms;
      await db.deleteFrom("delivery_slugs").where("at_ms", "<=", untilMs).execute();
      await db.deleteFrom("deliveries").where("at_ms", "<=", untilMs).execute();
      const live = db.selectFrom("alerts").select("id");
      await db.deleteFrom("alert_notified").where("at_ms", "<=", untilMs).where("alert_id", "not in", live).execute();
      return { hasMore: last !== undefined && last.at_ms < beforeMs };
    },
  };
}

/** The earliest one stays: replicas store what they delivered in any order. */
async function noteNotified(db: Db, alertIds: readonly string[], receiver: string, atMs: number): Promise<void> {
  for (const ids of chunksOf(alertIds))
    await db
      .insertInto("alert_notified")
      .values(ids.map((alert_id) => ({ alert_id, receiver, at_ms: atMs })))
      .onConflict((conflict) =>
        conflict
          .columns(["alert_id", "receiver"])
          .doUpdateSet((row) => ({ at_ms: row.ref("excluded.at_ms") }))
          .where((row) => row("excluded.at_ms", "<", row.ref("alert_notified.at_ms"))),
      )
      .execute();
}

function attempt(row: unknown): DeliveryAttempt {
  const stored = storedAttempt.parse(row);
  return {
    notificationId: stored.notification_id,
    receiver: stored.receiver,
    recipient: stored.recipient === "" ? null : stored.recipient,
    atMs: stored.at_ms,
    tookMs: stored.took_ms,
    outcome: stored.outcome,
    detail: stored.detail,
    slugs: storedSlugs.parse(JSON.parse(stored.slugs)),
    fleetId: stored.fleet_id,
  };
}
