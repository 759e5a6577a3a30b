import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { Db, RowId } from "../tables.ts";

/** One judgement of an alert, or its withdrawal. */
export interface JudgementEntry {
  readonly alertId: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly atMs: number;
  /** null: withdrawn. */
  readonly verdict: JudgementVerdict | null;
  readonly comment: string | null;
  readonly by: string;
  /** What a request says of its author beside that. */
  readonly note: string | null;
}

export interface JudgementTables {
  readonly judgements: Omit<JudgementEntry, "check" | "by"> & {
    readonly judgementId: RowId;
    readonly checkName: CheckName;
    readonly author: string;
  };
}

/** Judgements over the table `judgements`. */
export function createJudgementStore(db: Db) {
  return {
    append: async ({ check, by, ...entry }: JudgementEntry): Promise<void> => {
      await db
        .insertInto("judgements")
        .values({ ...entry, checkName: check, author: by })
        .execute();
    },
    /** Oldest first. */
    of: (alertId: string): Promise<readonly JudgementEntry[]> =>
      db.selectFrom("judgements").select(columns).where("alertId", "=", alertId).orderBy("judgementId").execute(),
  };
}

const columns = [
  "alertId",
  "checkName as check",
  "slug",
  "atMs",
  "verdict",
  "comment",
  "author as by",
  "note",
] as const;
