import type { Db } from "../tables.ts";

/** An act that came from outside under an id of its own: a link of a message, or an event of PagerDuty. */
export interface OutsideAct {
  readonly id: string;
  readonly via: "link" | "pagerduty";
  /** The incident that it is on. */
  readonly subject: string;
  /** The instant of the act by the clock of that side. */
  readonly occurredAtMs: number;
  readonly atMs: number;
}

/** Acts from outside over the table `outside_acts`. */
export function createOutsideActStore(db: Db<{ readonly outside_acts: OutsideAct }>) {
  return {
    /** Notes the act in the transaction that carries it out. */
    note: async (act: OutsideAct): Promise<void> => {
      await db.insertInto("outside_acts").values(act).execute();
    },
    isNoted: async (via: OutsideAct["via"], id: string): Promise<boolean> => {
      const noted = db.selectFrom("outside_acts").select("id").where("via", "=", via).where("id", "=", id);
      return (await noted.executeTakeFirst()) !== undefined;
    },
    /** Returns the instant of the last act on the incident that came this way, by that side's clock; null: none. */
    lastOccurredAtMs: async (via: OutsideAct["via"], subject: string): Promise<number | null> => {
      const row = await db
        .selectFrom("outside_acts")
        .select(({ fn }) => fn.max("occurredAtMs").as("atMs"))
        .where("via", "=", via)
        .where("subject", "=", subject)
        .executeTakeFirst();
      return row?.atMs ?? null;
    },
    /** Deletes those noted before `beforeMs`. */
    prune: async (beforeMs: number): Promise<void> => {
      await db.deleteFrom("outside_acts").where("atMs", "<", beforeMs).execute();
    },
  };
}
