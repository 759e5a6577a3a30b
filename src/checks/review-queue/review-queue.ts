import { z } from "zod";

import { formatCount } from "../../base/numbers.ts";
import { builtIn, type Whole } from "../../base/schema/section.ts";
import { cronPattern, duration } from "../../base/schema/values.ts";
import { dayMs, secondMs } from "../../base/time.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { walkReports } from "../../contract/report-pages.ts";
import type { CheckedOrganization, CheckKind, CheckSettings, Evaluated } from "../kind.ts";
import { scheduleOf, type AnyTarget } from "../target.ts";
import { evaluateReviewQueue, queuedReport, type QueuedReport } from "./evaluate.ts";

const longMs = 365 * dayMs;

/** `reviewQueue` in the configuration. */
const reviewQueueSettings = {
  key: "reviewQueue",
  needs: "hasReports",
  switchedBy: "enabled",
  description: "The watcher of the queue of proposals that wait for the customer's review.",
  shape: {
    enabled: builtIn(z.boolean(), false).describe("Whether the check `review-queue` runs."),
    schedule: builtIn(cronPattern(), "*/10 * * * *").describe("Its cron pattern, in the organization's timezone."),
    warnAfter: builtIn(duration({ maxMs: longMs }), "4h").describe(
      "`warn` when the oldest report in the queue is older.",
    ),
    failAfter: builtIn(duration({ maxMs: longMs }), "24h").describe(
      "`fail` when the oldest report in the queue is older.",
    ),
  },
} as const satisfies CheckSettings;
type ReviewQueueSettings = Whole<typeof reviewQueueSettings.shape>;
export type ReviewQueueThresholds = Omit<ReviewQueueSettings, "enabled" | "schedule">;
type ReviewQueueOrganization = CheckedOrganization & { readonly reviewQueue: ReviewQueueSettings };

export interface ReviewQueueTarget extends AnyTarget {
  readonly check: "review-queue";
  readonly thresholds: ReviewQueueThresholds;
}

/** Reports that wait too long for the customer's review. */
export const reviewQueue = {
  holdsGate: false,
  isSaidByFinding: false,
  isClosedFinding: () => true,
  // The platform lists the queue of now only.
  canLookBack: false,
  alertName: "FlatlineReviewQueue",
  back: "the queue is back under the threshold",
  summaryOf: ({ result }, durationText) => {
    const { queued, oldestAgeSeconds } = result?.observed ?? {};
    const count = typeof queued === "number" ? `${formatCount(queued)} wait for review` : "review queue";
    if (typeof oldestAgeSeconds !== "number") return count;
    return `${count}, the oldest for ${durationText(oldestAgeSeconds * secondMs)}`;
  },
  settings: reviewQueueSettings,
  targetsOf: ({
    reviewQueue: { enabled, schedule, ...thresholds },
    ...organization
  }: ReviewQueueOrganization): ReviewQueueTarget[] =>
    enabled
      ? [{ check: "review-queue", slug: organization.slug, schedule: scheduleOf(organization, schedule), thresholds }]
      : [],
  run: async ({ slug, thresholds }: ReviewQueueTarget, { api, nowMs, appUrl, signal }): Promise<Evaluated> => {
    const reports = await listQueue(api(), slug, signal);
    return { result: evaluateReviewQueue({ slug, nowMs, thresholds, reports, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Reads all reports that wait for the customer's review, each id once. */
async function listQueue(api: PlatformApi, slug: string, signal: AbortSignal): Promise<QueuedReport[]> {
  const reports: QueuedReport[] = [];
  const refs = new Set<string>();
  for await (const report of walkReports(api, { slug, needsCustomerReview: true }, { signal })) {
    const queued = queuedReport(report);
    if (queued.ref !== null && refs.has(queued.ref)) continue;
    if (queued.ref !== null) refs.add(queued.ref);
    reports.push(queued);
  }
  return reports;
}
