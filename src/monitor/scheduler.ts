import { AsyncLocalStorage } from "node:async_hooks";

import type { Run } from "../alerting/finished-run.ts";
import type { Recorded } from "../alerting/record.ts";
import { FlatlineError } from "../base/errors.ts";
import { drain, endsWithin } from "../base/lifecycle.ts";
import { createLoop } from "../base/loop.ts";
import { eventLoopTurn, minuteMs, secondMs } from "../base/time.ts";
import { countingOf } from "../contract/death-counts.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import { firstDueAtMs } from "./due-times.ts";
import { nextDueAtMs } from "./schedule.ts";
import { OwnChecks, planRun, type EndedRun, type OwnCheck, type PlannedRun } from "./own-checks.ts";
import { Places } from "./places.ts";
import type { OpenRun } from "./run-check.ts";
import type { RoundOptions, Scheduler, SchedulerOptions } from "./scheduler-options.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckTarget } from "../checks/checks.ts";

export type { RoundOptions, Scheduler, SchedulerOptions } from "./scheduler-options.ts";

// The due times, and everything that changes them, are known: only the wall clock may be set meanwhile, or the machine
// suspended.
const defaultPollMs = 10 * secondMs;
// Whether a run may begin is uncertain for a moment only.
const uncertainLookMs = secondMs;
const stalledMs = 30 * secondMs;
// The store had this long for the run: trying again at once would be a loop.
const unrecordedMs = 10 * secondMs;
// Runs that jitter spreads are run and stored together: a commit costs as much as fifty runs.
const gatherMs = 250;

/** Runs checks when they are due: the schedule is in memory, and follows from the last run of each. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { canBegin, clock, metrics } = options;
  const logger = options.logger.child({ room: "monitor" });
  const pollMs = options.pollMs ?? defaultPollMs;

  let targets = new Map<string, CheckTarget>();
  let { runTimeoutMs } = options;
  const places = new Places(options.concurrency);
  const besides = new Places(1);
  const own = new OwnChecks(options.board);

  const loop = createLoop({ clock, everyMs: pollMs, runOnce, onError: noteFailure });
  // A run does not belong to the trace of the run whose place it takes.
  const inOwnContext = AsyncLocalStorage.snapshot();
  /** Aborts the runs that have not ended when the drain is over. */
  const abandoned = new AbortController();
  /** What kept a run from being recorded while it stops. */
  let unrecorded: unknown = null;
  let lastLookAtMs = clock.monotonicMs();
  let latestNowMs = clock.nowMs();
  let roundAtMs = -Infinity;

  function arrange(): void {
    own.arrange(targets, clock.nowMs());
    loop.wake();
  }

  function followClock(nowMs: number): void {
    if (nowMs < latestNowMs - minuteMs) {
      logger.warn({ backMs: latestNowMs - nowMs }, "clock was set back, computing the due times again");
      latestNowMs = nowMs;
      own.setBack(nowMs);
    }
    latestNowMs = Math.max(latestNowMs, nowMs);
  }

  /** Starts what is due; answers how long there is nothing more to do. */
  async function runOnce(): Promise<number> {
    const nowMs = clock.nowMs();
    followClock(nowMs);
    if (!canBegin()) return uncertainLookMs;
    lastLookAtMs = clock.monotonicMs();
    const { round } = options;
    if (round === undefined) return beginAlone();
    if (clock.monotonicMs() - roundAtMs < gatherMs) return untilNextLook();
    if ((own.nextAtMs() ?? Infinity) > nowMs) return untilNextLook();
    const taken = own.takeDue(nowMs, round.most);
    const due = withoutImporting(taken, nowMs);
    if (due.length > 0) await beginRound(due, round, nowMs);
    // The loop takes all due checks before it waits for more to join.
    if (taken.length < round.most) roundAtMs = clock.monotonicMs();
    return untilNextLook();
  }

  /** Starts as many due checks as there are free places, each on its own; answers how long there is nothing more to do. */
  function beginAlone(): number {
    if (loop.signal.aborted || !canBegin()) return pollMs;
    const nowMs = clock.nowMs();
    for (const one of withoutImporting(own.takeDue(nowMs, places.free), nowMs))
      begin(one, scheduledRun(one, nowMs), aloneOf(one)).catch(ignore);
    return untilNextLook();
  }

  /** Leaves out what counts a part of its events for now: it is due again with its next tick. */
  function withoutImporting(due: readonly OwnCheck[], nowMs: number): readonly OwnCheck[] {
    const { isImporting } = options;
    if (isImporting === undefined) return due;
    return due.filter((one) => {
      if (!isImporting(one.target)) return true;
      const { check, slug, schedule } = one.target;
      metrics.runSkipped(check, "import", 1);
      own.leave(one, nextDueAtMs(schedule, slug, nowMs));
      return false;
    });
  }

  function untilNextLook(): number {
    const dueAtMs = own.nextAtMs();
    const isRound = options.round !== undefined;
    if (dueAtMs === null || (!isRound && places.free <= 0)) return pollMs;
    const gatheredInMs = isRound ? roundAtMs + gatherMs - clock.monotonicMs() : 0;
    return Math.max(0, Math.min(pollMs, Math.max(dueAtMs - clock.nowMs(), gatheredInMs)));
  }

  /** Resolves when all are counted, or after a moment: a slow source must not hold up what is due meanwhile. */
  async function beginRound(due: readonly OwnCheck[], round: RoundOptions, nowMs: number): Promise<void> {
    const runs = due.map((one) => ({ one, run: scheduledRun(one, nowMs) }));
    const startedMs = clock.monotonicMs();
    const deadline = clock.deadline(runTimeoutMs, abandoned.signal);
    const counted = round
      .run(
        due.map(({ target }) => target),
        deadline.signal,
      )
      .finally(() => deadline.release());
    const ended = counted.then((given) => {
      const durationMs = (clock.monotonicMs() - startedMs) / due.length;
      const reported: EndedRun[] = [];
      for (const [index, { one, run }] of runs.entries()) {
        const report = given[index] ?? aloneOf(one);
        if (typeof report === "function") begin(one, run, report).catch(ignore);
        else reported.push({ one, run, durationMs, report });
      }
      return reported.length === 0 ? [] : recordEnded(reported);
    });
    for (const one of due) one.underWay = ended;
    ended.catch(ignore);
    await endsWithin(clock, counted.then(eventLoopTurn), gatherMs);
  }

  function scheduledRun({ target, dueAtMs }: OwnCheck, nowMs: number): Run {
    metrics.schedulerLag(Math.max(0, nowMs - dueAtMs) / secondMs);
    return { check: target.check, slug: target.slug, dueAtMs, isAsked: false };
  }

  const aloneOf =
    ({ target }: OwnCheck): OpenRun =>
    (signal) =>
      options.run(target, signal);

  function begin(one: OwnCheck, run: Run, work: OpenRun, place: PlaceWanted = {}): Promise<CheckReport> {
    const ended = runToEnd(one, run, work, place);
    one.underWay = ended;
    return ended;
  }

  async function runToEnd(one: OwnCheck, run: Run, work: OpenRun, place: PlaceWanted): Promise<CheckReport> {
    let report: CheckReport;
    let durationMs: number;
    try {
      ({ report, durationMs } = await inPlace(work, place));
    } catch (error) {
      own.leaveUnrecorded(one, run.dueAtMs, { nowMs: clock.nowMs() });
      loop.wake(untilNextLook());
      throw error;
    }
    const [recorded] = await recordEnded([{ one, run, report, durationMs }]);
    if (recorded?.status === "rejected") throw recorded.reason;
    return report;
  }

  /** Records runs that ended together, and says when their checks are due again. */
  async function recordEnded(ended: readonly EndedRun[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    const planned = planRuns(ended);
    const recorded = await options.record(planned, abandoned.signal);
    for (const [index, run] of planned.entries()) {
      const outcome = recorded[index];
      if (outcome?.status === "fulfilled") noteRecorded(run, outcome.value);
      else noteUnrecorded(run, outcome?.reason);
    }
    loop.wake(untilNextLook());
    return recorded;
  }

  function planRuns(ended: readonly EndedRun[]): PlannedRun[] {
    try {
      return ended.map(planRun);
    } catch (error) {
      for (const run of ended) noteUnrecorded(run, error);
      throw error;
    }
  }

  function noteRecorded(
    { one, report, durationMs, schedule, nextDueAtMs, skipped }: PlannedRun,
    { state, previousSeverity }: Pick<Recorded, "state" | "previousSeverity">,
  ): void {
    const isSame = one.target.schedule === schedule;
    own.leave(one, isSame ? nextDueAtMs : firstDueAtMs(one.target, state, clock.nowMs()));
    const { check, slug, severity } = report;
    const durationSeconds = durationMs / secondMs;
    if (skipped.late > 0) metrics.runSkipped(check, "late", skipped.late);
    if (skipped.overlap > 0) metrics.runSkipped(check, "overlap", skipped.overlap);
    metrics.checkRan(report, durationSeconds);
    const facts = factsOf(report);
    logger.debug({ check, slug, severity, durationSeconds, ...skipped, ...facts }, "check ran");
    if (previousSeverity !== severity)
      logger.info({ check, slug, severity, previousSeverity, ...facts }, "severity changed");
  }

  function noteUnrecorded({ one, run, durationMs }: EndedRun, error: unknown): void {
    options.onUnrecorded?.(run, durationMs / secondMs);
    const { check, slug } = run;
    noteError(error, { check, slug }, "run was not recorded, will be run again");
    own.leaveUnrecorded(one, run.dueAtMs, againLater());
  }

  const againLater = () => ({ nowMs: clock.nowMs(), notBeforeMs: clock.nowMs() + unrecordedMs });

  function noteError(error: unknown, facts: object, message: string): void {
    if (abandoned.signal.aborted) return;
    if (loop.signal.aborted) unrecorded = error;
    logger.error({ err: error, ...facts }, message);
  }

  async function inPlace(
    work: OpenRun,
    { isFirst = false, signal }: PlaceWanted,
  ): Promise<{ readonly report: CheckReport; readonly durationMs: number }> {
    await places.take(isFirst, signal).catch(() => {
      throw startTimeout();
    });
    try {
      if (loop.signal.aborted) throw stopped();
      const startedMs = clock.monotonicMs();
      const deadline = clock.deadline(runTimeoutMs, abandoned.signal);
      const report = await work(deadline.signal);
      deadline.release();
      if (abandoned.signal.aborted) throw stopped();
      return { report, durationMs: clock.monotonicMs() - startedMs };
    } finally {
      // This is done with the answer: the time of the store's write holds up no other check.
      leavePlace();
    }
  }

  function leavePlace(): void {
    places.leave();
    // This is done here, not in the loop's next turn: ending its sleep costs as much as a request.
    if (options.round === undefined) loop.wake(inOwnContext(beginAlone));
  }

  async function runBeside<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await besides.take(false, signal);
    try {
      await places.take(false, signal);
      try {
        return await work();
      } finally {
        leavePlace();
      }
    } finally {
      besides.leave();
    }
  }

  function noteFailure(error: unknown): void {
    logger.error({ err: error }, "checks that are due could not be begun, trying again");
  }

  async function runNow(check: CheckName, slug: string, signal: AbortSignal): Promise<CheckReport> {
    const key = checkKey({ check, slug });
    for (;;) {
      const target = targets.get(key);
      if (target === undefined) throw new FlatlineError("not_found", `no check ${check} is configured for "${slug}"`);
      if (loop.signal.aborted) throw new FlatlineError("unavailable", "flatline is stopping");
      if (signal.aborted) throw startTimeout();
      const one = own.get(key);
      if (one === undefined) throw new FlatlineError("internal", `the check ${key} has no place in the schedule`);
      if (options.isImporting?.(target) === true)
        throw new FlatlineError("conflict", `events of ${slug} are being imported: what is counted of them is a part`);
      if (one.underWay !== null) {
        await endsWithin(clock, one.underWay.then(ignore, ignore), runTimeoutMs, signal);
        continue;
      }
      if (!canBegin()) throw new FlatlineError("unavailable", "the store cannot be reached");
      const run = { check, slug, dueAtMs: one.dueAtMs, isAsked: true };
      return begin(one, run, aloneOf(one), { isFirst: true, signal });
    }
  }

  async function gatherEnding(): Promise<void> {
    // A remote request takes its time: the runs that end while another one is committed are enough.
    if (options.round !== undefined) await endsWithin(clock, places.whenIdle(), gatherMs);
    // The last run hands its report over after it has left its place.
    await eventLoopTurn();
  }

  return {
    start: () => {
      targets = byKey(options.targets);
      arrange();
      lastLookAtMs = clock.monotonicMs();
      loop.start();
    },
    setTargets: (change) => {
      targets = byKey(change.targets);
      if (change.concurrency !== undefined) places.resize(change.concurrency);
      runTimeoutMs = change.runTimeoutMs ?? runTimeoutMs;
      arrange();
    },
    restart: () => {
      own.restart(clock.nowMs());
      loop.wake();
    },
    runNow,
    runBeside,
    gatherEnding,
    standing: (key) => {
      const one = own.get(key);
      return one === undefined ? null : { dueAtMs: one.dueAtMs, isRunning: one.underWay !== null };
    },
    isStalled: () => {
      const isDue = (own.nextAtMs() ?? Infinity) <= clock.nowMs();
      return loop.signal.aborted || (isDue && clock.monotonicMs() - lastLookAtMs > stalledMs);
    },
    running: () => own.underWay().length,
    stop: async (drainMs) => {
      const looked = loop.stop();
      const giveUp = (): void => abandoned.abort(stopped());
      // The running look may still begin runs.
      const ended = looked.then(() => own.whenIdle());
      const hung = await drain(clock, ended, { drainMs, giveUp });
      if ((unrecorded ?? hung) !== null) throw unrecorded ?? hung;
    },
  };
}

/** How a run waits for its place. */
interface PlaceWanted {
  /** Whether it gets the next place, before all that wait. */
  readonly isFirst?: boolean;
  /** Ends the waiting for a place. */
  readonly signal?: AbortSignal;
}

function byKey(targets: readonly CheckTarget[]): Map<string, CheckTarget> {
  return new Map(targets.map((target) => [checkKey(target), target]));
}

/** What the log says of a run. */
function factsOf(report: CheckReport): object {
  if (report.kind === "error") return { reason: report.error.reason, message: report.error.message };
  return { ...report.counts, ...(countingOf(report.result) === "assets" ? { counting: "assets" } : {}) };
}

function stopped(): FlatlineError {
  return new FlatlineError("unavailable", "the check was stopped");
}

function startTimeout(): FlatlineError {
  return new FlatlineError("api_timeout", "the check could not be started in time");
}

function ignore(): void {
  // The error of the run goes to the caller; a run that was not recorded is logged.
}
