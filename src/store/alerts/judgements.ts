import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { KeptAlert } from "./alerts.ts";

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

/** What people said of alerts: the last entry of an alert holds, all are kept as long as the alert. */
export interface JudgementStore {
  append(entry: JudgementEntry): Promise<void>;
  /** Oldest first. */
  of(alertId: string): Promise<readonly JudgementEntry[]>;
  /** All that was said of the alerts of an organization, oldest first. */
  ofOrganization(slug: string): Promise<readonly JudgementEntry[]>;
  /** Every alert, live or ended, that is judged now, whatever the verdict. */
  judged(): Promise<readonly KeptAlert[]>;
  /** Every alert, live or ended, that is judged `checker` now; of one organization, or of all. */
  judgedChecker(slug?: string): Promise<readonly KeptAlert[]>;
}
