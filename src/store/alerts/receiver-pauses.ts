import { leaseInstant, leaseNow, type LeaseClock } from "../engine/dialect.ts";
import type { Db } from "../tables.ts";

interface ReceiverPause {
  readonly receiver: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/** Pauses that receivers asked for, over the table `receiver_pauses`; while one lasts, nothing of its receiver is claimed. */
export function createReceiverPauses(db: Db, leaseClock: LeaseClock) {
  return {
    /** Pauses a receiver as it asked: none of its entries is claimed until then; a pause that lasts longer stays. */
    pause: async ({ receiver, nowMs, untilMs }: ReceiverPause): Promise<void> => {
      await db
        .insertInto("receiver_pauses")
        .values({ receiver, untilMs: leaseInstant(leaseClock, untilMs, nowMs) })
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
        .returning(["untilMs", leaseNow(leaseClock, nowMs).as("nowMs")])
        .executeTakeFirst();
      return ended !== undefined && ended.untilMs > ended.nowMs;
    },
    /** Returns the ends of the pauses by the caller's clock; a receiver without one is absent. */
    pauses: async (nowMs: number): Promise<ReadonlyMap<string, number>> => {
      const rows = await db
        .selectFrom("receiver_pauses")
        .select(["receiver", "untilMs", leaseNow(leaseClock, nowMs).as("nowMs")])
        .execute();
      const paused = rows.filter((row) => row.untilMs > row.nowMs);
      return new Map(paused.map((row) => [row.receiver, nowMs + (row.untilMs - row.nowMs)]));
    },
  };
}

/** Forgets the pauses of all receivers but these. */
export async function forgetPausesBut(db: Db, receivers: readonly string[]): Promise<void> {
  const pauses = db.deleteFrom("receiver_pauses");
  await (receivers.length === 0 ? pauses : pauses.where("receiver", "not in", receivers)).execute();
}
