import { z } from "zod";

import { formatDuration, parseDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { cronPattern, duration, strictObject } from "../../base/schema/values.ts";
import { dayMs } from "../../base/time.ts";
import type { CheckSettings, ScheduleOf } from "../settings.ts";
import type { Schedule } from "../target.ts";
import type { ReviewQueueThresholds } from "./evaluate.ts";

export interface ReviewQueueSettings extends ReviewQueueThresholds {
  readonly enabled: boolean;
  readonly schedule: Schedule;
}

const builtin = { enabled: false, schedule: "*/10 * * * *", warnAfter: "4h", failAfter: "24h" };
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
    .meta({ default: builtin.warnAfter }),
  failAfter: duration({ maxMs: longMs })
    .optional()
    .describe("`fail` when the oldest report in the queue is older.")
    .meta({ default: builtin.failAfter }),
}).describe("The watcher of the queue of proposals that wait for the customer's review.");

/** `reviewQueue` in the configuration. */
export const reviewQueueSettings = {
  key: "reviewQueue",
  needs: "hasReports",
  schema,
  switchOf: ({ enabled }: { readonly enabled?: unknown }) => (enabled === true ? ["enabled"] : null),
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[], scheduleOf: ScheduleOf): ReviewQueueSettings => {
    const { enabled, schedule, warnAfter, failAfter } = layered(builtin, ...layers);
    return {
      enabled,
      schedule: scheduleOf(schedule),
      warnAfterMs: parseDuration(warnAfter) ?? 0,
      failAfterMs: parseDuration(failAfter) ?? 0,
    };
  },
  describe: ({ enabled, schedule, warnAfterMs, failAfterMs }: ReviewQueueSettings) => ({
    enabled,
    schedule: schedule.pattern,
    warnAfter: formatDuration(warnAfterMs),
    failAfter: formatDuration(failAfterMs),
  }),
} as const satisfies CheckSettings;
