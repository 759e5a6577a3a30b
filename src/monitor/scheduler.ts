import type { FinishedRun } from "../alerting/finished-run.ts";
import type { Recorded } from "../alerting/record.ts";
import { FlatlineError } from "../base/errors.ts";
import { drain, endsWithin } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import { createLoop } from "../base/loop.ts";
import { eventLoopTurn, minuteMs, secondMs, type Clock } from "../base/time.ts";
import type { CheckTarget } from "../checks/checks.ts";
import { checkKey } from "../contract/check-key.ts";
import { countingOf } from "../contract/death-counts.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Board } from "../store/runs/board.ts";
import type { CheckKey, Run } from "../store/runs/check-state.ts";
import { Places } from "./places.ts";
import type { OpenRun } from "./run-check.ts";
import { nextDueAtMs } from "./schedule.ts";
import { afterRun, firstDueAtMs, ScheduledChecks, type ScheduledCheck } from "./scheduled-checks.ts";

/** How checks that are due together are run. */
export interface RoundOptions {
  /** Returns each check's report, or the rest of its run, which takes a place; must not reject. See run-check.ts. */
  readonly run: (targets: readonly CheckTarget[], signal: AbortSignal) => Promise<readonly (CheckReport | OpenRun)[]>;
  /** Most checks of a round. */
  readonly most: number;
}

export interface SchedulerOptions {
  /** Whether a run may begin now (last-states.ts). */
  readonly canBegin: () => boolean;
  /** Whether a check is skipped, because events that it counts are being imported [never]. */
  readonly isImporting?: (target: CheckTarget) => boolean;
  /** The last run of each check, from which the due times follow. */
  readonly board: Pick<Board, "state">;
  readonly clock: Clock;
  readonly targets: readonly CheckTarget[];
  /** Checks that run at once. */
  readonly concurrency: number;
  /** Bound of one run, all its attempts and waits included. */
  readonly runTimeoutMs: number;
  /** Must not reject. See run-check.ts. */
  readonly run: (target: CheckTarget, signal: AbortSignal) => Promise<CheckReport>;
  /** How due checks are run together, for a source that counts for all of them at once [each is run on its own]. */
  readonly round?: RoundOptions;
  /** Makes finished runs durable (alerting/record.ts), and returns the outcome of each, in order. */
  readonly record: (
    runs: readonly FinishedRun[],
    signal: AbortSignal,
  ) => Promise<readonly PromiseSettledResult<Pick<Recorded, "state" | "previousSeverity">>[]>;
  /** Called when the store did not take a run after all retries; the check is run again [not called]. */
  readonly onUnrecorded?: (check: CheckKey, durationSeconds: number) => void;
  readonly metrics: Pick<Metrics, "checkRan" | "runSkipped" | "schedulerLag">;
  readonly logger: Logger;
}

/** A run whose report is there, but not recorded yet. */
interface EndedRun extends Pick<FinishedRun, "run" | "report"> {
  readonly one: ScheduledCheck;
  readonly durationMs: number;
}

/** How a run waits for its place. */
interface PlaceWanted {
  /** Whether it gets the next place, before all that wait. */
  readonly isFirst?: boolean;
  /** Ends the waiting for a place. */
  readonly signal?: AbortSignal;
}

// The due times are known: this is for a wall clock that was set, or a machine that was suspended.
const pollMs = 10 * secondMs;
// It is uncertain only for a moment whether a run may begin.
const uncertainPollMs = secondMs;
const stalledMs = 30 * secondMs;
// The store has just failed: a run at once would be a busy loop.
const unrecordedMs = 10 * secondMs;
// Runs that jitter spreads are run and stored together: a commit costs as much as fifty runs.
const gatherMs = 250;

export type Scheduler = ReturnType<typeof createScheduler>;

/** Runs checks when they are due. The schedule is in memory and follows from the last run of each check. */
export function createScheduler(options: SchedulerOptions) {
  const { canBegin, clock, metrics, round, isImporting = () => false } = options;
  const logger = options.logger.child({ room: "monitor" });

  let targets = new Map<string, CheckTarget>();
  let { runTimeoutMs } = options;
  const places = new Places(options.concurrency);
  const besides = new Places(1);
  const checks = new ScheduledChecks(options.board);

  const loop = createLoop({
    clock,
    everyMs: pollMs,
    runOnce,
    onError: (error) => logger.error({ err: error }, "checks that are due could not be begun, trying again"),
  });
  /** Aborts the runs that have not ended when the drain is over. */
  const abandoned = new AbortController();
  /** The error of a run that was not recorded while the scheduler stops. */
  let unrecorded: unknown = null;
  let polledAtMs = clock.monotonicMs();
  let latestNowMs = clock.nowMs();
  let roundAtMs = -Infinity;

  function arrange(wanted: readonly CheckTarget[]): void {
    targets = new Map(wanted.map((target) => [checkKey(target), target]));
    checks.arrange(targets, clock.nowMs());
    loop.wake();
  }

  function followClock(nowMs: number): void {
    if (nowMs < latestNowMs - minuteMs) {
      logger.warn({ backMs: latestNowMs - nowMs }, "clock was set back, computing the due times again");
      latestNowMs = nowMs;
      checks.setBack(nowMs);
    }
    latestNowMs = Math.max(latestNowMs, nowMs);
  }

  /** Starts what is due; returns the milliseconds until there is more to do. */
  async function runOnce(): Promise<number> {
    const nowMs = clock.nowMs();
    followClock(nowMs);
    if (!canBegin()) return uncertainPollMs;
    polledAtMs = clock.monotonicMs();
    if (round === undefined) return beginAlone();
    if (clock.monotonicMs() - roundAtMs < gatherMs || checks.nextAtMs() > nowMs) return untilNextPoll();
    const taken = checks.takeDue(nowMs, round.most);
    const due = withoutImporting(taken, nowMs);
    if (due.length > 0) await beginRound(due, round, nowMs);
    // The loop takes all due checks before it waits for more to join.
    if (taken.length < round.most) roundAtMs = clock.monotonicMs();
    return untilNextPoll();
  }

  /** Starts as many due checks as there are free places, each on its own; returns the same as `runOnce`. */
  function beginAlone(): number {
    if (loop.signal.aborted || !canBegin()) return pollMs;
    const nowMs = clock.nowMs();
    for (const one of withoutImporting(checks.takeDue(nowMs, places.free), nowMs))
      begin(one, scheduledRun(one, nowMs), aloneOf(one)).catch(ignore);
    return untilNextPoll();
  }

  /** Leaves out checks whose events are being imported: they are due again at their next tick. */
  function withoutImporting(due: readonly ScheduledCheck[], nowMs: number): readonly ScheduledCheck[] {
    return due.filter((one) => {
      if (!isImporting(one.target)) return true;
      const { check, slug, schedule } = one.target;
      metrics.runSkipped(check, "import", 1);
      checks.leave(one, nextDueAtMs(schedule, slug, nowMs));
      return false;
    });
  }

  function untilNextPoll(): number {
    if (round === undefined && places.free <= 0) return pollMs;
    const gatheredInMs = round === undefined ? 0 : roundAtMs + gatherMs - clock.monotonicMs();
    return Math.max(0, Math.min(pollMs, Math.max(checks.nextAtMs() - clock.nowMs(), gatheredInMs)));
  }

  /** Resolves when all are counted, or after `gatherMs`: a slow source must not delay checks that are due meanwhile. */
  async function beginRound(due: readonly ScheduledCheck[], { run }: RoundOptions, nowMs: number): Promise<void> {
    const runs = due.map((one) => ({ one, run: scheduledRun(one, nowMs) }));
    const startedMs = clock.monotonicMs();
    const deadline = clock.deadline(runTimeoutMs, abandoned.signal);
    const counted = run(
      due.map(({ target }) => target),
      deadline.signal,
    ).finally(() => deadline.release());
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

  function scheduledRun({ target, dueAtMs }: ScheduledCheck, nowMs: number): Run {
    metrics.schedulerLag(Math.max(0, nowMs - dueAtMs) / secondMs);
    return { check: target.check, slug: target.slug, dueAtMs, isAsked: false };
  }

  const aloneOf =
    ({ target }: ScheduledCheck): OpenRun =>
    (signal) =>
      options.run(target, signal);

  function begin(one: ScheduledCheck, run: Run, work: OpenRun, place: PlaceWanted = {}): Promise<CheckReport> {
    const ended = runToEnd(one, run, work, place);
    one.underWay = ended;
    return ended;
  }

  async function runToEnd(one: ScheduledCheck, run: Run, work: OpenRun, place: PlaceWanted): Promise<CheckReport> {
    let ended: Pick<EndedRun, "report" | "durationMs">;
    try {
      ended = await inPlace(work, place);
    } catch (error) {
      checks.leaveUnrecorded(one, run.dueAtMs, clock.nowMs());
      loop.wake(untilNextPoll());
      throw error;
    }
    const [recorded] = await recordEnded([{ one, run, ...ended }]);
    if (recorded?.status === "rejected") throw recorded.reason;
    return ended.report;
  }

  /** Records runs that ended together, and says when their checks are due again. */
  async function recordEnded(ended: readonly EndedRun[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    // The configuration may be read again while they are recorded.
    const finished = ended.map((run) => ({ ...run, ...afterRun(run.one.target, run.run, run.report) }));
    const recorded = await options.record(finished, abandoned.signal);
    for (const [index, run] of finished.entries()) {
      const outcome = recorded[index];
      if (outcome?.status === "fulfilled") noteRecorded(run, outcome.value);
      else noteUnrecorded(run, outcome?.reason);
    }
    loop.wake(untilNextPoll());
    return recorded;
  }

  function noteRecorded(
    { one, report, durationMs, schedule, nextDueAtMs, skipped }: EndedRun & ReturnType<typeof afterRun>,
    { state, previousSeverity }: Pick<Recorded, "state" | "previousSeverity">,
  ): void {
    const isSame = one.target.schedule === schedule;
    checks.leave(one, isSame ? nextDueAtMs : firstDueAtMs(one.target, state, clock.nowMs()));
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
    if (!abandoned.signal.aborted) {
      if (loop.signal.aborted) unrecorded = error;
      logger.error({ err: error, check: run.check, slug: run.slug }, "run was not recorded, will be run again");
    }
    checks.leaveUnrecorded(one, run.dueAtMs, clock.nowMs(), clock.nowMs() + unrecordedMs);
  }

  async function inPlace(
    work: OpenRun,
    { isFirst = false, signal }: PlaceWanted,
  ): Promise<Pick<EndedRun, "report" | "durationMs">> {
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
      // The place is free before the store's write, which must not delay other checks.
      leavePlace();
    }
  }

  function leavePlace(): void {
    places.leave();
    // The next checks begin here: ending the loop's sleep costs as much as a request.
    if (round === undefined) loop.wake(beginAlone());
  }

  return {
    /** Begins to run what is due. */
    start: (): void => {
      arrange(options.targets);
      polledAtMs = clock.monotonicMs();
      loop.start();
    },
    /** Applies a new configuration; running checks go on. */
    setTargets: (change: Pick<SchedulerOptions, "targets"> & Partial<SchedulerOptions>): void => {
      if (change.concurrency !== undefined) places.resize(change.concurrency);
      runTimeoutMs = change.runTimeoutMs ?? runTimeoutMs;
      arrange(change.targets);
    },
    /** The board was read again: computes when each check is due. */
    restart: (): void => {
      checks.restart(clock.nowMs());
      loop.wake();
    },
    /**
     * Runs the check now, like a scheduled run, after one that is running.
     * @throws FlatlineError not_found, unavailable (stopping, or no run may begin), or what recording threw
     */
    runNow: async (check: CheckName, slug: string, signal: AbortSignal): Promise<CheckReport> => {
      const key = checkKey({ check, slug });
      for (;;) {
        const one = checks.get(key);
        if (one === undefined || !targets.has(key))
          throw new FlatlineError("not_found", `no check ${check} is configured for "${slug}"`);
        if (loop.signal.aborted) throw new FlatlineError("unavailable", "flatline is stopping");
        if (signal.aborted) throw startTimeout();
        if (isImporting(one.target))
          throw new FlatlineError("conflict", `events of ${slug} are being imported: only a part is counted`);
        if (one.underWay !== null) {
          await endsWithin(clock, one.underWay.then(ignore, ignore), runTimeoutMs, signal);
          continue;
        }
        if (!canBegin()) throw new FlatlineError("unavailable", "the store cannot be reached");
        const run = { check, slug, dueAtMs: one.dueAtMs, isAsked: true };
        return begin(one, run, aloneOf(one), { isFirst: true, signal });
      }
    },
    /** Does work that is no run in a run's place, one at a time. Rejects if the signal aborts before there is one. */
    runBeside: async <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> => {
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
    },
    /**
     * Waits at most 250 ms for runs over the store's own events that are about to end. Their reads and a commit share
     * the store's connection: otherwise hundreds of alerts that begin together would each be a commit of their own.
     */
    gatherEnding: async (): Promise<void> => {
      // A remote request takes longer: it is enough to join the runs that end during another commit.
      if (round !== undefined) await endsWithin(clock, places.whenIdle(), gatherMs);
      // The last run hands its report over after it has left its place.
      await eventLoopTurn();
    },
    /** Returns when the check with this key is due, and whether it runs; null while it is not known. */
    standing: (key: string): { readonly dueAtMs: number; readonly isRunning: boolean } | null => {
      const one = checks.get(key);
      return one === undefined ? null : { dueAtMs: one.dueAtMs, isRunning: one.underWay !== null };
    },
    /** Returns whether it has not looked for more than 30 s while a check is due, or has stopped. */
    isStalled: (): boolean => {
      const isDue = checks.nextAtMs() <= clock.nowMs();
      return loop.signal.aborted || (isDue && clock.monotonicMs() - polledAtMs > stalledMs);
    },
    /** How many checks are running. */
    running: (): number => checks.underWay().length,
    /**
     * Starts no new runs; running checks get `drainMs`, then their signals abort. @throws the error that kept a run
     * from being recorded
     */
    stop: async (drainMs: number): Promise<void> => {
      const polled = loop.stop();
      const giveUp = (): void => abandoned.abort(stopped());
      // The running turn may still begin runs.
      const ended = polled.then(() => checks.whenIdle());
      const hung = await drain(clock, ended, { drainMs, giveUp });
      if ((unrecorded ?? hung) !== null) throw unrecorded ?? hung;
    },
  };
}

/** Returns the facts of a run for the log. */
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
