import type { RecordRequest, Recorded } from "../alerting/record.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { CheckReport } from "../contract/report.ts";
import type { CheckState, ClaimedRun, ScheduleStore } from "../store/runs/schedule.ts";
import { createRunPlanner, type RunPlan } from "./due-times.ts";
import type { RoundTarget } from "./run-round.ts";
import type { CheckTarget } from "./target.ts";

/** How checks are done together that take microseconds each; for a store that no other daemon shares. */
export interface RoundOptions {
  /** What each gave, in order; null for one that has to be run on its own. Rejects when the source cannot be asked. */
  readonly run: (targets: readonly RoundTarget[]) => Promise<readonly (CheckReport | null)[]>;
  /** Makes them durable together (alerting/record.ts), or none of them. */
  readonly record: (requests: readonly RecordRequest[]) => Promise<readonly Pick<Recorded, "state">[]>;
  /** Called after they were recorded, with the states as they are stored now. */
  readonly onRecorded: (states: readonly CheckState[]) => void;
}

export interface RoundsOptions extends RoundOptions {
  readonly store: Pick<ScheduleStore, "due">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly targetOf: (run: ClaimedRun) => CheckTarget | undefined;
  /** Whether nothing speaks against running it in a round, as its last verdict would. */
  readonly isFit: (target: CheckTarget) => boolean;
  readonly onRun: (
    report: CheckReport,
    plan: RunPlan & { readonly lagMs: number; readonly durationMs: number },
  ) => void;
}

/** What a round did: `left` of those that it found are to be run on their own. */
export interface RoundDone {
  readonly done: number;
  readonly left: number;
  readonly isMoreDue: boolean;
}

// One transaction: some 10 ms, after which the event loop and other writers have their turn.
const mostRuns = 500;

/**
 * One round: what is due is looked at, run and recorded without a lease. Nobody waits for a process that dies amid it: its
 * checks are still due. When somebody else runs one of them meanwhile, only the first of both is recorded.
 */
export async function runRound(options: RoundsOptions): Promise<RoundDone> {
  const { clock, logger } = options;
  const nowMs = clock.nowMs();
  const due = await options.store.due({ nowMs, limit: mostRuns });
  const fit = due.flatMap((run) => {
    const target = options.targetOf(run);
    const isOfRound = target?.check === "dead-asset-spike" && target.maxSilenceMs === undefined;
    return isOfRound && options.isFit(target) ? [{ run, target }] : [];
  });
  const isMoreDue = due.length === mostRuns;
  if (fit.length === 0) return { done: 0, left: due.length, isMoreDue };
  const startedAtMs = clock.monotonicMs();
  try {
    const reports = await options.run(fit.map(({ target }) => target));
    const durationMs = (clock.monotonicMs() - startedAtMs) / fit.length;
    const plan = createRunPlanner();
    const ended = fit.flatMap(({ run, target: { schedule, slug } }, index) => {
      const report = reports[index] ?? null;
      if (report === null) return [];
      const { startedAtMs, finishedAtMs } = report;
      const planned = plan({ schedule, slug, dueAtMs: run.dueAtMs, startedAtMs, finishedAtMs, isScheduled: true });
      return [{ planned, request: { run, owner: null, report, nextDueAtMs: planned.nextDueAtMs } }];
    });
    if (ended.length === 0) return { done: 0, left: due.length, isMoreDue };
    const recorded = await options.record(ended.map(({ request }) => request));
    const states: CheckState[] = [];
    for (const [index, { planned, request }] of ended.entries()) {
      const state = recorded[index]?.state ?? null;
      if (state === null) continue;
      states.push(state);
      options.onRun(request.report, { ...planned, lagMs: Math.max(0, nowMs - request.run.dueAtMs), durationMs });
    }
    options.onRecorded(states);
    return { done: states.length, left: due.length - ended.length, isMoreDue };
  } catch (error) {
    logger.warn({ err: error, runs: fit.length }, "checks could not be run together, running each on its own");
    return { done: 0, left: due.length, isMoreDue };
  }
}
