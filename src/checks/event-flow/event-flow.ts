import { dayMs } from "../../base/time.ts";
import type { EventReads } from "../event-reads.ts";
import type { CheckedOrganization, CheckKind, Evaluated } from "../kind.ts";
import { readFirstEvent, requireEvents } from "../stored-events.ts";
import type { EventTarget } from "../target.ts";
import { coverageIntervals, evaluateEventFlow, type EventFlowThresholds } from "./evaluate.ts";
import { eventFlowSettings, type EventFlowSettings } from "./settings.ts";

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
            ...(whenNoEvents === null ? {} : { whenNoEvents }),
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
  { liveness, firstEventAtMs }: EventReads,
): Promise<readonly number[]> {
  const firstMs = await firstEventAtMs(slug);
  const byDay: number[] = [];
  for (const interval of coverageIntervals(nowMs).slice(1)) {
    if (firstMs === null || firstMs > interval.afterMs) break;
    byDay.push(await liveness.distinctAssets(slug, interval));
  }
  return byDay;
}
