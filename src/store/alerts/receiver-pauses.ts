import type { Db } from "../tables.ts";

interface ReceiverPause {
  readonly receiver: string;
  readonly untilMs: number;
}

/** Pauses that receivers asked for, over the table `receiver_pauses`; while one lasts, nothing of its receiver is claimed. */
export function createReceiverPauses(db: Db) {
  return {
    /** Pauses a receiver as it asked: none of its entries is claimed until then; a pause that lasts longer stays. */
    pause: async ({ receiver, untilMs }: ReceiverPause): Promise<void> => {
      await db
        .insertInto("receiver_pauses")
        .values({ receiver, untilMs })
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
      const ended = await db
        .deleteFrom("receiver_pauses")
        .where("receiver", "=", receiver)
        .returning("untilMs")
        .executeTakeFirst();
      return ended !== undefined && ended.untilMs > nowMs;
    },
    /** Returns the ends of the pauses; a receiver without one is absent. */
    pauses: async (nowMs: number): Promise<ReadonlyMap<string, number>> => {
      const rows = await db.selectFrom("receiver_pauses").selectAll().where("untilMs", ">", nowMs).execute();
      return new Map(rows.map(({ receiver, untilMs }) => [receiver, untilMs]));
    },
  };
}

/** Forgets the pauses of all receivers but these. */
export async function forgetPausesBut(db: Db, receivers: readonly string[]): Promise<void> {
  const pauses = db.deleteFrom("receiver_pauses");
  await (receivers.length === 0 ? pauses : pauses.where("receiver", "not in", receivers)).execute();
}
