import { chunksOf } from "../engine/chunks.ts";
import type { Db, RowId } from "../tables.ts";

/** An act, or its consequence, of which receivers with `sendActs` are told. */
export interface ActNotice {
  /** Grows with every act. */
  readonly seq: number;
  readonly slug: string;
  readonly atMs: number;
  /** The act and its alerts (alerting/acts/act-notice.ts), as JSON. */
  readonly body: string;
}

export interface ActNoticeTables {
  readonly act_notices: Omit<ActNotice, "seq"> & { readonly seq: RowId };
}

/** Acts of which no receiver was told yet, over the table `act_notices`. */
export function createActNoticeStore(db: Db<ActNoticeTables>) {
  return {
    /** Written in the transaction of the act. */
    append: async (notice: Omit<ActNotice, "seq">): Promise<void> => {
      await db.insertInto("act_notices").values(notice).execute();
    },
    /** In order. */
    all: (): Promise<readonly ActNotice[]> => db.selectFrom("act_notices").selectAll().orderBy("seq").execute(),
    forget: async (seqs: readonly number[]): Promise<void> => {
      for (const slice of chunksOf(seqs)) await db.deleteFrom("act_notices").where("seq", "in", slice).execute();
    },
  };
}
