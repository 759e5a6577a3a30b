import type { SpikeRequest } from "../contract/platform-api.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckName } from "../contract/report.ts";
import type { EventFlowLimits } from "./event-flow.ts";
import type { ReviewQueueThresholds } from "./review-queue.ts";
import type { Schedule } from "./schedule.ts";

/** The five thresholds as the healthcheck's request carries them. */
export type SpikeThresholds = Omit<SpikeRequest, "slug">;

interface TargetBase {
  readonly slug: string;
  readonly schedule: Schedule;
}

/** One check of one organization, with all that a run of it needs to know. */
export type CheckTarget =
  | (TargetBase & {
      readonly check: "dead-asset-spike";
      readonly thresholds: SpikeThresholds;
      /** Without an event of any status for longer there is no result; absent: not watched. */
      readonly maxSilenceMs?: EventFlowLimits["maxSilenceMs"];
    })
  | (TargetBase & { readonly check: "review-queue"; readonly thresholds: ReviewQueueThresholds })
  | (TargetBase & { readonly check: "sentinel"; readonly assets: readonly string[] })
  | (TargetBase & { readonly check: "event-flow"; readonly limits: EventFlowLimits });

/** A target as one key of a map. */
export function targetKey(target: { readonly check: CheckName; readonly slug: string }): string {
  return checkKey(target.check, target.slug);
}
