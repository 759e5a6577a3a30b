import type { SpikeRequest } from "../contract/platform-api.ts";
import type { EventFlowLimits } from "./event-flow/evaluate.ts";
import type { RegretLimits } from "./regret/evaluate.ts";
import type { ReviewQueueThresholds } from "./review-queue/evaluate.ts";

/** When an organization's check runs (CONTRACT 4: schedule, timezone, jitter). */
export interface Schedule {
  readonly pattern: string;
  readonly timezone: string;
  /** Start times are spread over [0, jitterMs), the same for one slug at each tick. */
  readonly jitterMs: number;
}

/** The five thresholds as the healthcheck's request carries them. */
export type SpikeThresholds = Omit<SpikeRequest, "slug">;

interface TargetBase {
  readonly slug: string;
  readonly schedule: Schedule;
}

/** A check over liveness events that are stored here. */
interface EventTarget extends TargetBase {
  /** What a run gives of an organization of which no event was ever stored; absent: not asked. */
  readonly whenNoEvents?: WhenNoEvents;
}

/** Of an organization of which no event was ever stored: nothing is known, or a stream of deaths only had none (CONTRACT 11). */
export type WhenNoEvents = "unknown" | "ok";

/** One check of one organization, with all that a run of it needs to know. */
export type CheckTarget =
  | (EventTarget & {
      readonly check: "dead-asset-spike";
      readonly thresholds: SpikeThresholds;
      /** Without an event of any status for longer there is no result; absent: not watched. */
      readonly maxSilenceMs?: EventFlowLimits["maxSilenceMs"];
    })
  | (TargetBase & { readonly check: "review-queue"; readonly thresholds: ReviewQueueThresholds })
  | (EventTarget & { readonly check: "sentinel"; readonly assets: readonly string[] })
  | (TargetBase & { readonly check: "event-flow"; readonly limits: EventFlowLimits })
  | (EventTarget & { readonly check: "regret"; readonly limits: RegretLimits });
