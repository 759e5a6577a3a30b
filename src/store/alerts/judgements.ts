import type { Selectable } from "kysely";

import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import { type KeptAlert, keptAlert } from "./alerts.ts";
import type { Db, JudgementRow } from "../schema.ts";

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

/** Judgements over the table `judgements`. */
export function createJudgementStore(db: Db) {
  return {
    append: async ({ alertId, check, slug, atMs, verdict, comment, by, note }: JudgementEntry): Promise<void> => {
      const standing = db.updateTable("judgements").set({ is_standing: 0 }).where("alert_id", "=", alertId);
      await standing.where("is_standing", "=", 1).execute();
      const row = { alert_id: alertId, check_name: check, slug, at_ms: atMs, verdict, comment, author: by, note };
      await db
        .insertInto("judgements")
        .values({ ...row, is_standing: 1 })
        .execute();
    },
    /** Oldest first. */
    of: async (alertId: string): Promise<readonly JudgementEntry[]> => {
      const rows = db.selectFrom("judgements").selectAll().where("alert_id", "=", alertId).orderBy("judgement_id");
      return (await rows.execute()).map(entryOf);
    },
    /** All that was said of the alerts of an organization, oldest first. */
    ofOrganization: async (slug: string): Promise<readonly JudgementEntry[]> => {
      const rows = db.selectFrom("judgements").selectAll().where("slug", "=", slug).orderBy("judgement_id");
      return (await rows.execute()).map(entryOf);
    },
    /** Every alert, live or ended, that is judged now, whatever the verdict. */
    judged: async (): Promise<readonly KeptAlert[]> =>
      (await judged(db).where("judgements.verdict", "is not", null).execute()).flatMap(keptOf),
    /** Every alert, live or ended, that is judged `checker` now; of one organization, or of all. */
    judgedChecker: async (slug?: string): Promise<readonly KeptAlert[]> => {
      const checkers = judged(db).where("judgements.verdict", "=", "checker");
      const rows = await (slug === undefined ? checkers : checkers.where("judgements.slug", "=", slug)).execute();
      return rows.flatMap(keptOf);
    },
  };
}

/** What holds of each alert, with the alert. */
function judged(db: Db) {
  return db
    .selectFrom("judgements")
    .leftJoin("alerts", "alerts.id", "judgements.alert_id")
    .leftJoin("ended_alerts", "ended_alerts.id", "judgements.alert_id")
    .select(["alerts.body as live_body", "ended_alerts.body as ended_body", "ended_alerts.end_body"])
    .where("judgements.is_standing", "=", 1);
}

function keptOf(row: {
  readonly live_body: string | null;
  readonly ended_body: string | null;
  readonly end_body: string | null;
}): KeptAlert[] {
  const { live_body, ended_body, end_body } = row;
  const body = live_body ?? ended_body;
  return body === null ? [] : [keptAlert({ body, end_body: live_body === null ? end_body : null })];
}

function entryOf(row: Selectable<JudgementRow>): JudgementEntry {
  return {
    alertId: row.alert_id,
    check: row.check_name,
    slug: row.slug,
    atMs: row.at_ms,
    verdict: row.verdict as JudgementVerdict | null,
    comment: row.comment,
    by: row.author,
    note: row.note,
  };
}
