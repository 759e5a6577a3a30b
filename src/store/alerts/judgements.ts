import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import { type KeptAlert, keptAlerts } from "./alerts.ts";
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
    readonly isStanding: number;
  };
}

/** Judgements over the table `judgements`. */
export function createJudgementStore(db: Db) {
  return {
    append: async ({ check, by, ...entry }: JudgementEntry): Promise<void> => {
      const standing = db.updateTable("judgements").set({ isStanding: 0 }).where("alertId", "=", entry.alertId);
      await standing.where("isStanding", "=", 1).execute();
      await db
        .insertInto("judgements")
        .values({ ...entry, checkName: check, author: by, isStanding: 1 })
        .execute();
    },
    /** Oldest first. */
    of: (alertId: string): Promise<readonly JudgementEntry[]> =>
      db.selectFrom("judgements").select(columns).where("alertId", "=", alertId).orderBy("judgementId").execute(),
    /** Returns every alert, live or ended, that is judged now, whatever the verdict. */
    judged: async (): Promise<readonly KeptAlert[]> =>
      (await judged(db).where("judgements.verdict", "is not", null).execute()).flatMap(keptAlerts),
    /** Returns every alert, live or ended, that is judged `checker` now, of one organization or of all. */
    judgedChecker: async (slug?: string): Promise<readonly KeptAlert[]> => {
      const checkers = judged(db).where("judgements.verdict", "=", "checker");
      const rows = await (slug === undefined ? checkers : checkers.where("judgements.slug", "=", slug)).execute();
      return rows.flatMap(keptAlerts);
    },
  };
}

/** What holds of each alert, with the alert. */
function judged(db: Db) {
  return db
    .selectFrom("judgements")
    .leftJoin("alerts", "alerts.id", "judgements.alertId")
    .leftJoin("ended_alerts", "ended_alerts.id", "judgements.alertId")
    .select(["alerts.body as liveBody", "ended_alerts.body as endedBody", "ended_alerts.endBody"])
    .where("judgements.isStanding", "=", 1);
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
