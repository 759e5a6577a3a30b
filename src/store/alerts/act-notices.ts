import { sql } from "kysely";

import { dialectOf, isAmong } from "../engine/dialect.ts";
import type { Db, RowId } from "../tables.ts";

/** What an act means for one alert; receivers with `sendActs` are told of it. */
export interface ActNotice {
  /** The same for all alerts of the act. */
  readonly actId: string;
  /** The organization of the alert. */
  readonly slug: string;
  readonly atMs: number;
  /** The ActEntry (alerting/notify/act-news.ts) as JSON. */
  readonly body: string;
}

export interface ActNoticeTables {
  readonly act_notices: ActNotice & { readonly seq: RowId };
}

/** Acts that no receiver was told of yet, over the table `act_notices`. */
export function createActNoticeStore(db: Db<ActNoticeTables>) {
  return {
    /** Written in the transaction of the act. */
    append: async (
      { actId, atMs }: Pick<ActNotice, "actId" | "atMs">,
      notices: readonly Pick<ActNotice, "slug" | "body">[],
    ): Promise<void> => {
      const cells = notices.map(({ slug, body }) => [slug, body]);
      await sql`insert into act_notices (act_id, at_ms, slug, body)
        select ${actId}, ${atMs}, value ->> 0, value ->> 1 from ${dialectOf(db).cells(cells)}`.execute(db);
    },
    /** In the order of the acts. */
    all: (): Promise<readonly ActNotice[]> =>
      db.selectFrom("act_notices").select(["actId", "slug", "atMs", "body"]).orderBy("seq").execute(),
    forget: async (actIds: readonly string[]): Promise<void> => {
      await db
        .deleteFrom("act_notices")
        .where(isAmong(db, "act_id", actIds))
        .execute();
    },
  };
}
