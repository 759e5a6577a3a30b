import { dayMs, minuteMs } from "../../base/time.ts";
import type { CheckedOrganization, CheckKind, Evaluated, StoredEvents, CheckSettings, ScheduleOf } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget, Schedule } from "../target.ts";
import { coverageIntervals, evaluateEventFlow, type EventFlowThresholds } from "./evaluate.ts";
import { z } from "zod";
import { formatDuration } from "../../base/durations.ts";
import { layered } from "../../base/layers.ts";
import { cronPattern, duration, strictObject } from "../../base/schema/values.ts";

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
const eventFlowSettings = {
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

export interface EventFlowTarget extends EventTarget {
  readonly check: "event-flow";
  readonly limits: EventFlowThresholds;
}

type EventFlowOrganization = CheckedOrganization & { readonly eventFlow: EventFlowSettings };

/** Whether the liveness checker still looks. */
export const eventFlow = {
  holdsGate: true,
  isSaidByFinding: true,
  canLookBack: true,
  alertName: "FlatlineEventFlow",
  back: "liveness events flow again",
  settings: eventFlowSettings,
  targetsOf: ({
    slug,
    whenNoEvents,
    eventFlow: { enabled, schedule, maxSilenceMs, maxCoverageDrop },
  }: EventFlowOrganization): EventFlowTarget[] =>
    enabled
      ? [
          {
            check: "event-flow",
            slug,
            schedule,
            limits: { maxSilenceMs, maxCoverageDrop },
            whenNoEvents,
          },
        ]
      : [],
  run: async (target: EventFlowTarget, run): Promise<Evaluated> => {
    const { check, slug, limits } = target;
    const { nowMs, appUrl } = run;
    const events = requireEvents(run, check);
    const { liveness } = events;
    const lastEventAtMs = await liveness.lastEventAtMs(slug, nowMs);
    // Most streams have begun: only for the others it is read whether they ever did.
    const first = lastEventAtMs === null ? await readFirstEvent(target, run) : undefined;
    const result = evaluateEventFlow({
      slug,
      nowMs,
      thresholds: limits,
      lastEventAtMs,
      hasBegun: first?.hasBegun !== false,
      checkedAssets: await liveness.distinctAssets(slug, { afterMs: nowMs - dayMs, untilMs: nowMs }),
      checkedAssetsByDay: await usualDaysOf(slug, nowMs, events),
      appUrl,
    });
    return { result, baselineCoverage: null };
  },
} as const satisfies CheckKind;

/** Returns the events of whole days after the first event: the day on which flatline was set up says nothing about what is usual. */
async function usualDaysOf(
  slug: string,
  nowMs: number,
  { liveness, events }: StoredEvents,
): Promise<readonly number[]> {
  const firstMs = await events.firstEventAtMs(slug);
  const byDay: number[] = [];
  for (const interval of coverageIntervals(nowMs).slice(1)) {
    if (firstMs === null || firstMs > interval.afterMs) break;
    byDay.push(await liveness.distinctAssets(slug, interval));
  }
  return byDay;
}
