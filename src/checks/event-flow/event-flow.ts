import { z } from "zod";

import { builtIn, type Whole } from "../../base/schema/section.ts";
import { cronPattern, duration } from "../../base/schema/values.ts";
import { dayMs, minuteMs } from "../../base/time.ts";
import type { CheckedOrganization, CheckKind, CheckSettings, Evaluated, StoredEvents } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import { scheduleOf, type EventTarget } from "../target.ts";
import { evaluateEventFlow } from "./evaluate.ts";

// How many days before the last 24 hours say what is usual.
const usualDays = 7;

/** `eventFlow` in the configuration. */
const eventFlowSettings = {
  key: "eventFlow",
  needs: "holdsEvents",
  switchedBy: "enabled",
  description: "The check `event-flow`: whether the liveness checker still looks. Stored events only.",
  shape: {
    enabled: builtIn(z.boolean(), false).describe(
      "Whether the check `event-flow` runs; then the spike check of a silent stream is `unknown`, never ok.",
    ),
    schedule: builtIn(cronPattern(), "*/5 * * * *").describe(
      "The check's cron pattern, in the organization's timezone.",
    ),
    maxSilence: builtIn(duration({ minMs: minuteMs, maxMs: 365 * dayMs }), "24h").describe(
      "`fail` when no liveness event of any status came for longer.",
    ),
    maxCoverageDrop: builtIn(z.number().gt(0).max(1), 0.5).describe(
      "`warn` when fewer assets were checked in the last 24 h than usual (the median of the 7 days before, where it is at least 20) by more than this share; 1: never.",
    ),
  },
} as const satisfies CheckSettings;
export type EventFlowSettings = Whole<typeof eventFlowSettings.shape>;
export type EventFlowLimits = Omit<EventFlowSettings, "enabled" | "schedule">;

export interface EventFlowTarget extends EventTarget {
  readonly check: "event-flow";
  readonly limits: EventFlowLimits;
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
    eventFlow: { enabled, schedule, ...limits },
    ...organization
  }: EventFlowOrganization): EventFlowTarget[] => {
    const { slug, whenNoEvents } = organization;
    if (!enabled) return [];
    return [{ check: "event-flow", slug, schedule: scheduleOf(organization, schedule), limits, whenNoEvents }];
  },
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
      limits,
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
  for (let day = 1; day <= usualDays; day++) {
    const untilMs = nowMs - day * dayMs;
    const interval = { afterMs: untilMs - dayMs, untilMs };
    if (firstMs === null || firstMs > interval.afterMs) break;
    byDay.push(await liveness.distinctAssets(slug, interval));
  }
  return byDay;
}
