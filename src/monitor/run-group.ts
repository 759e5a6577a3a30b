import type { Run } from "../alerting/finished-run.ts";
import type { Logger } from "../base/logger.ts";
import { secondMs, type Clock } from "../base/time.ts";
import type { DueGroup } from "./due-group.ts";
import { createRunPlanner } from "./due-times.ts";
import type { OwnChecks } from "./own-checks.ts";
import type { SchedulerOptions, TogetherOptions } from "./scheduler-options.ts";

export interface RunGroupOptions extends Pick<SchedulerOptions, "metrics"> {
  readonly own: OwnChecks;
  readonly repeat: TogetherOptions["repeat"];
  readonly journal: Run["journal"];
  /** Resolves when the checks that are evaluated beside it are about to be recorded. */
  readonly evaluated: Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called when the store would not take the runs. */
  readonly onUnrecorded: (error: unknown) => void;
}

/** Runs the checks of a group, whose reports hold: they are recorded with those that are evaluated beside them. */
export async function runGroup(group: DueGroup, options: RunGroupOptions): Promise<void> {
  const { own, journal, clock, metrics, logger } = options;
  const { checkIds, dueAtMs, target } = group;
  const { check, slug, schedule } = target;
  const atMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const times = { dueAtMs, startedAtMs: atMs, finishedAtMs: atMs };
  metrics.schedulerLag(Math.max(0, atMs - dueAtMs) / secondMs, checkIds.length);
  try {
    await options.evaluated;
    const isStored = await options.repeat({ ...times, checkIds, journal }, options.signal);
    // Another process runs the checks by now, or did for some time.
    if (!isStored) return own.dissolve(group, { nowMs: clock.nowMs() });
    const { nextDueAtMs, skipped } = createRunPlanner()({ schedule, slug, ...times, isScheduled: true });
    if (skipped.late > 0) metrics.runSkipped(check, "late", skipped.late * checkIds.length);
    metrics.checksRepeated(check, checkIds.length, (clock.monotonicMs() - startedMs) / checkIds.length / secondMs);
    logger.debug({ check, runs: checkIds.length, ...skipped }, "checks found the same as before");
    own.leaveGroup(group, nextDueAtMs, clock.nowMs());
  } catch (error) {
    options.onUnrecorded(error);
  }
}
