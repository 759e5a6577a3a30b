import { z } from "zod";

import { formatCount } from "../../base/numbers.ts";
import { dayMs, hourMs, secondMs } from "../../base/time.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { walkReports } from "../../contract/report-pages.ts";
import type { CheckedOrganization, CheckKind, Evaluated, SaidNumbers, CheckSettings, ScheduleOf } from "../kind.ts";
import type { AnyTarget, Schedule } from "../target.ts";
import { evaluateReviewQueue, queuedReport, type QueuedReport, type ReviewQueueThresholds } from "./evaluate.ts";
import { formatDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { cronPattern, duration, strictObject } from "../../base/schema/values.ts";

interface ReviewQueueSettings extends ReviewQueueThresholds {
  readonly enabled: boolean;
  readonly schedule: Schedule;
}

const builtin = { enabled: false, schedule: "*/10 * * * *", warnAfter: 4 * hourMs, failAfter: dayMs };
const longMs = 365 * dayMs;

const schema = strictObject({
  enabled: z.boolean().optional().describe("Whether the check `review-queue` runs.").meta({ default: builtin.enabled }),
  schedule: cronPattern()
    .optional()
    .describe("Its cron pattern, in the organization's timezone.")
    .meta({ default: builtin.schedule }),
  warnAfter: duration({ maxMs: longMs })
    .optional()
    .describe("`warn` when the oldest report in the queue is older.")
    .meta({ default: formatDuration(builtin.warnAfter) }),
  failAfter: duration({ maxMs: longMs })
    .optional()
    .describe("`fail` when the oldest report in the queue is older.")
    .meta({ default: formatDuration(builtin.failAfter) }),
}).describe("The watcher of the queue of proposals that wait for the customer's review.");

/** `reviewQueue` in the configuration. */
const reviewQueueSettings = {
  key: "reviewQueue",
  needs: "hasReports",
  schema,
  switchOf: ({ enabled }: { readonly enabled?: unknown }) => (enabled === true ? ["enabled"] : null),
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[], scheduleOf: ScheduleOf): ReviewQueueSettings => {
    const { enabled, schedule, warnAfter, failAfter } = layered(builtin, ...layers);
    return { enabled, schedule: scheduleOf(schedule), warnAfterMs: warnAfter, failAfterMs: failAfter };
  },
  describe: ({ enabled, schedule, warnAfterMs, failAfterMs }: ReviewQueueSettings) => ({
    enabled,
    schedule: schedule.pattern,
    warnAfter: formatDuration(warnAfterMs),
    failAfter: formatDuration(failAfterMs),
  }),
} as const satisfies CheckSettings;

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
  summaryOf: (said, durationText) => {
    const queued = queuedOf(said);
    const ageMs = oldestAgeMsOf(said);
    const count = queued === null ? "review queue" : `${formatCount(queued)} wait for review`;
    return ageMs === null ? count : `${count}, the oldest for ${durationText(ageMs)}`;
  },
  settings: reviewQueueSettings,
  targetsOf: ({
    slug,
    reviewQueue: { enabled, schedule, warnAfterMs, failAfterMs },
  }: CheckedOrganization & { readonly reviewQueue: ReviewQueueSettings }): ReviewQueueTarget[] =>
    enabled ? [{ check: "review-queue", slug, schedule, thresholds: { warnAfterMs, failAfterMs } }] : [],
  run: async ({ slug, thresholds }: ReviewQueueTarget, { api, nowMs, appUrl, signal }): Promise<Evaluated> => {
    const reports = await listQueue(api(), slug, signal);
    return { result: evaluateReviewQueue({ slug, nowMs, thresholds, reports, appUrl }), baselineCoverage: null };
  },
} as const satisfies CheckKind;

function queuedOf({ result }: SaidNumbers): number | null {
  const queued = result?.observed["queued"];
  return typeof queued === "number" ? queued : null;
}

function oldestAgeMsOf({ result }: SaidNumbers): number | null {
  const ageSeconds = result?.observed["oldestAgeSeconds"];
  return typeof ageSeconds === "number" ? ageSeconds * secondMs : null;
}

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
