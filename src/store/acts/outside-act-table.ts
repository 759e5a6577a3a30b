import type { OutsideActStore } from "./outside-acts.ts";
import type { Db } from "../schema.ts";

/** Acts from outside over the table `outside_acts`. */
export function createOutsideActStore(db: Db): OutsideActStore {
  return {
    note: async ({ id, via, alertId, occurredAtMs, atMs }) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto("outside_acts")
        .values({ id, via, alert_id: alertId, occurred_at_ms: occurredAtMs, at_ms: atMs })
        .onConflict((conflict) => conflict.columns(["via", "id"]).doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    isNoted: async (via, id) => {
      const noted = db.selectFrom("outside_acts").select("id").where("via", "=", via).where("id", "=", id);
      return (await noted.executeTakeFirst()) !== undefined;
    },
    lastOccurredAtMs: async (via, alertId) => {
      const row = await db
        .selectFrom("outside_acts")
        .select(({ fn }) => fn.max("occurred_at_ms").as("at_ms"))
        .where("via", "=", via)
        .where("alert_id", "=", alertId)
        .executeTakeFirst();
      return row?.at_ms ?? null;
    },
    prune: async (beforeMs) => {
      await db.deleteFrom("outside_acts").where("at_ms", "<", beforeMs).execute();
    },
  };
}
