import type { AlertingSettings } from "../../alerting/settings.ts";
import type { Clock } from "../../base/time.ts";
import type { JudgementVerdict } from "../../contract/judgement.ts";
import type { CheckName } from "../../contract/report.ts";
import type { Store } from "../../store/store.ts";

/** What runs, as far as the readings of the web need it beside the store. */
export interface Running {
  readonly store: Store;
  readonly clock: Clock;
  /** Those that hold now. */
  readonly settings: () => AlertingSettings;
  /** Ids, unique over all time. */
  readonly newId: () => string;
  /** Called after an act: receivers may have to be notified. */
  readonly onAct: () => void;
  /** Called for each alert that was judged. */
  readonly onJudged: (check: CheckName, verdict: JudgementVerdict) => void;
}
