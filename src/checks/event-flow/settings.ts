import { z } from "zod";

import { formatDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { cronPattern, duration, strictObject } from "../../base/schema/values.ts";
import { dayMs, minuteMs } from "../../base/time.ts";
import type { CheckSettings, ScheduleOf } from "../settings.ts";
import type { Schedule } from "../target.ts";
import type { EventFlowThresholds } from "./evaluate.ts";

export interface EventFlowSettings extends EventFlowThresholds {
  readonly enabled: boolean;
  readonly schedule: Schedule;
}

const builtin = { enabled: false, schedule: "*/5 * * * *", maxSilence: dayMs, maxCoverageDrop: 0.5 } as const;

const schema = strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe("Whether the check `event-flow` runs; then the spike check of a silent stream is `unknown`, never ok.")
    .meta({ default: builtin.enabled }),
  schedule: cronPattern()
    .optional()
    .describe("The check's cron pattern, in the organization's timezone.")
    .meta({ default: builtin.schedule }),
  maxSilence: duration({ minMs: minuteMs, maxMs: 365 * dayMs })
    .optional()
    .describe("`fail` when no liveness event of any status came for longer.")
    .meta({ default: formatDuration(builtin.maxSilence) }),
  maxCoverageDrop: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe(
      "`warn` when fewer assets were checked in the last 24 h than usual (the median of the 7 days before, where it is at least 20) by more than this share; 1: never.",
    )
    .meta({ default: builtin.maxCoverageDrop }),
}).describe("The check `event-flow`: whether the liveness checker still looks. Stored events only.");

/** `eventFlow` in the configuration. */
export const eventFlowSettings = {
  key: "eventFlow",
  needs: "holdsEvents",
  schema,
  switchOf: ({ enabled }: { readonly enabled?: unknown }) => (enabled === true ? ["enabled"] : null),
  resolve: (layers: readonly (z.output<typeof schema> | undefined)[], scheduleOf: ScheduleOf): EventFlowSettings => {
    const { enabled, schedule, maxSilence, maxCoverageDrop } = layered(builtin, ...layers);
    return { enabled, schedule: scheduleOf(schedule), maxSilenceMs: maxSilence, maxCoverageDrop };
  },
  describe: ({ enabled, schedule, maxSilenceMs, maxCoverageDrop }: EventFlowSettings) => ({
    enabled,
    schedule: schedule.pattern,
    maxSilence: formatDuration(maxSilenceMs),
    maxCoverageDrop,
  }),
} as const satisfies CheckSettings;
