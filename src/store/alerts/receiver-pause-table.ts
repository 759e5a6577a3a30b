import { leaseInstant, leaseNow, type LeaseClock } from "../engine/dialect.ts";
import type { Db } from "../schema.ts";

interface ReceiverPause {
  readonly receiver: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/** Pauses that receivers asked for, over the table `receiver_pauses`; while one lasts, nothing of its receiver is claimed. */
export function createReceiverPauses(db: Db, leaseClock: LeaseClock) {
  return {
    /** Nothing of the receiver is claimed until then, as it asked; a pause that lasts longer stays. */
    pause: async ({ receiver, nowMs, untilMs }: ReceiverPause): Promise<void> => {
      await db
        .insertInto("receiver_pauses")
        .values({ receiver, until_ms: leaseInstant(leaseClock, untilMs, nowMs) })
        .onConflict((conflict) =>
          conflict
            .column("receiver")
            .doUpdateSet({ until_ms: (row) => row.ref("excluded.until_ms") })
            .whereRef("excluded.until_ms", ">", "receiver_pauses.until_ms"),
        )
        .execute();
    },
    /** What waits for the receiver is due as without the pause. False: it was not paused. */
    endPause: async (receiver: string, nowMs: number): Promise<boolean> => {
      const ended = await db
        .deleteFrom("receiver_pauses")
        .where("receiver", "=", receiver)
        .returning(["until_ms", leaseNow(leaseClock, nowMs).as("now_ms")])
        .executeTakeFirst();
      return ended !== undefined && ended.until_ms > ended.now_ms;
    },
    /** Until when receivers are paused, by the caller's clock; those that are not are absent. */
    pauses: async (nowMs: number): Promise<ReadonlyMap<string, number>> => {
      const rows = await db
        .selectFrom("receiver_pauses")
        .select(["receiver", "until_ms", leaseNow(leaseClock, nowMs).as("now_ms")])
        .execute();
      const paused = rows.filter((row) => row.until_ms > row.now_ms);
      return new Map(paused.map((row) => [row.receiver, nowMs + (row.until_ms - row.now_ms)]));
    },
  };
}

/** Forgets the pauses of all receivers but these. */
export async function forgetPausesBut(db: Db, receivers: readonly string[]): Promise<void> {
  const pauses = db.deleteFrom("receiver_pauses");
  await (receivers.length === 0 ? pauses : pauses.where("receiver", "not in", receivers)).execute();
}
