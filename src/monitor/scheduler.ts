import { FlatlineError } from "../base/errors.ts";
import { drain } from "../base/lifecycle.ts";
import { minuteMs, secondMs } from "../base/time.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { CheckKey, ClaimedRun, ScheduleEntry } from "../store/runs/schedule.ts";
import { dueAgainAtMs, skippedTicks, wantedEntry } from "./due-times.ts";
import { runRound, type RoundDone } from "./rounds.ts";
import { recordPatiently } from "./patient-recording.ts";
import { targetKey, type CheckTarget } from "./target.ts";
import { createRunBook } from "./run-book.ts";
import type { RemovedTargets, Scheduler, SchedulerOptions } from "./scheduler-options.ts";

export type { Scheduler, SchedulerOptions } from "./scheduler-options.ts";

// Long enough for a loop that is blocked by a slow disk, short enough that the checks of a crashed process are not missed.
const leaseMs = 10 * secondMs;
const renewEveryMs = 3 * secondMs;
const defaultPollMs = secondMs;
// After the store failed: at once nearly, as it may only be busy, then ever later, so that a full disk does not fill the log.
const firstRetryMs = 250;
const longestRetryMs = 5 * secondMs;
const stalledMs = 30 * secondMs;
// Something is due and was not to be had: another process was faster, or the clock is being set.
const leastWaitMs = 50;
// How many due times are computed before others get their turn on the event loop.
const syncSlice = 500;

// Without a reason of its own each abort would make an exception with its stack.
const wokenUp = "woken up";

interface RunUnderWay {
  run: ClaimedRun;
  /** Settles when the run is over and recorded; rejects with what recording threw. */
  readonly ended: Promise<CheckReport>;
}

/** Runs checks when they are due: the schedule is rows of the store, claimed with leases, so several processes may share it. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, clock, owner, metrics } = options;
  const logger = options.logger.child({ room: "monitor" });
  const pollMs = options.pollMs ?? defaultPollMs;

  let targets = new Map<string, CheckTarget>();
  let { concurrency, runTimeoutMs } = options;
  const underWay = new Map<string, RunUnderWay>();
  /** Due checks that other replicas have in their configuration. */
  const unconfigured = new Map<string, CheckKey>();
  const book = createRunBook({ metrics, logger });
  let waitingForPlace = 0;
  let round: Promise<RoundDone> | null = null;

  let wakeUp = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  /** Aborts what is still under way when the drain is over. */
  const abandoned = new AbortController();
  /** What kept a run from being recorded while it stops. */
  let unrecorded: unknown = null;
  let lastLookAtMs = clock.monotonicMs();
  let nextWorkAtMs: number | null = null;
  let isMoreDue = false;
  let renewedAtMs = 0;
  let latestNowMs = clock.nowMs();

  function wake(): void {
    // Runs end by the dozen before the loop gets its turn.
    if (!wakeUp.signal.aborted) wakeUp.abort(wokenUp);
  }

  async function sync(): Promise<RemovedTargets> {
    const stored = new Map((await store.entries()).map((entry) => [targetKey(entry), entry]));
    const wanted: ScheduleEntry[] = [];
    for (const [key, target] of targets) {
      wanted.push(wantedEntry(target, stored.get(key), clock.nowMs()));
      if (wanted.length % syncSlice === 0) await clock.sleep(0);
    }
    const { removed } = await store.sync(wanted);
    for (const gone of removed) book.forget(gone);
    return removed;
  }

  function setMap(list: readonly CheckTarget[]): void {
    targets = new Map(list.map((target) => [targetKey(target), target]));
    unconfigured.clear();
  }

  /** Renews, claims and starts what is due; answers how long there is nothing more to do. */
  async function runOnce(): Promise<{ claimed: number; waitMs: number }> {
    const nowMs = clock.nowMs();
    if (nowMs < latestNowMs - minuteMs) {
      logger.warn({ backMs: latestNowMs - nowMs }, "clock was set back, computing the due times anew");
      await sync();
      latestNowMs = nowMs;
    }
    latestNowMs = Math.max(latestNowMs, nowMs);
    let count = 0;
    // Before claiming: after a suspension the own leases have run out, and the rows are still being run here.
    await renew();

    // Read first: a claim that finds nothing would still take the store's write lock, each second.
    if (!isMoreDue) nextWorkAtMs = await store.nextDueAtMs(nowMs, [...unconfigured.values()]);
    const isDue = nextWorkAtMs !== null && nextWorkAtMs <= nowMs;
    const rounds = isDue ? await runTogether() : null;
    const places = concurrency - underWay.size - waitingForPlace;
    // What a round has left is due the longest, and so are its claims.
    const limit = rounds === null ? places : Math.min(places, rounds.left);
    if (isDue && limit > 0) {
      const except = [...unconfigured.values()];
      const claimed = await store.claimDue({ nowMs, owner, leaseUntilMs: nowMs + leaseMs, limit, except });
      const left = claimed.filter((run) => !startScheduled(run));
      // A replica that has the next configuration already gets them at once, and not when the lease has run out.
      if (left.length > 0) await store.renewLeases({ runs: left, owner, nowMs, leaseUntilMs: nowMs });
      // Where every place was filled there is more: nothing needs to be read before the next claim.
      isMoreDue = claimed.length === limit;
      count = claimed.length;
    }
    if (rounds !== null) {
      count += rounds.done;
      isMoreDue = rounds.isMoreDue && rounds.done > 0;
    }
    if (isDue && !isMoreDue && (limit > 0 || rounds !== null))
      nextWorkAtMs = await store.nextDueAtMs(nowMs, [...unconfigured.values()]);
    lastLookAtMs = clock.monotonicMs();
    return { claimed: count, waitMs: untilNextLook() };
  }

  async function runTogether(): Promise<RoundDone | null> {
    if (options.rounds === undefined) return null;
    const isFit = (target: CheckTarget): boolean => {
      const severity = book.severityOf(target);
      return (severity === null || severity === "ok") && !underWay.has(targetKey(target));
    };
    round = runRound({
      ...options.rounds,
      store,
      clock,
      logger,
      isFit,
      targetOf: (run) => targets.get(targetKey(run)),
      onRun: (report, { skipped, lagMs, durationMs }) => {
        metrics.schedulerLag(lagMs / secondMs);
        book.note(report, durationMs / secondMs, skipped);
      },
    });
    try {
      return await round;
    } finally {
      round = null;
    }
  }

  function untilNextLook(): number {
    if (options.rounds !== undefined && isMoreDue) return 0;
    const renewInMs = underWay.size > 0 ? renewedAtMs + renewEveryMs - clock.monotonicMs() : pollMs;
    const hasPlace = underWay.size + waitingForPlace < concurrency;
    if (!hasPlace || nextWorkAtMs === null) return Math.max(0, Math.min(pollMs, renewInMs));
    const dueInMs = nextWorkAtMs - clock.nowMs();
    return Math.max(0, Math.min(pollMs, renewInMs, dueInMs > 0 ? dueInMs : leastWaitMs));
  }

  async function renew(): Promise<void> {
    if (underWay.size === 0 || clock.monotonicMs() - renewedAtMs < renewEveryMs) return;
    const runs = [...underWay.values()].map(({ run }) => run);
    const nowMs = clock.nowMs();
    await store.renewLeases({ runs, owner, nowMs, leaseUntilMs: nowMs + leaseMs });
    renewedAtMs = clock.monotonicMs();
  }

  async function runLoop(): Promise<void> {
    let retryMs = firstRetryMs;
    while (!stopping.signal.aborted) {
      // Made first, so that what happens while runOnce looks is not slept over.
      wakeUp = new AbortController();
      const { signal } = wakeUp;
      let waitMs = retryMs;
      try {
        ({ waitMs } = await runOnce());
        retryMs = firstRetryMs;
      } catch (error) {
        retryMs = Math.min(longestRetryMs, 2 * retryMs);
        if (stopping.signal.aborted) unrecorded = error;
        else logger.error({ err: error }, "schedule could not be read, trying again");
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** False: it is none of ours. */
  function startScheduled(run: ClaimedRun): boolean {
    const key = targetKey(run);
    const known = underWay.get(key);
    if (known !== undefined) {
      // The lease ran out under a run of ours and we were given it again: it goes on under the new fence.
      known.run = run;
      return true;
    }
    const target = targets.get(key);
    if (target === undefined) {
      const { check, slug } = run;
      logger.debug({ check, slug }, "claimed a check that is not configured, leaving it");
      unconfigured.set(key, { check, slug });
      return false;
    }
    metrics.schedulerLag(Math.max(0, clock.nowMs() - run.dueAtMs) / secondMs);
    begin(target, run, true).ended.catch((error: unknown) => {
      if (abandoned.signal.aborted) return;
      if (stopping.signal.aborted) unrecorded = error;
      // Its lease is not renewed any more: when that has run out, the check is run again.
      logger.error({ err: error, check: run.check, slug: run.slug }, "run was not recorded, will be run again");
    });
    return true;
  }

  function begin(target: CheckTarget, run: ClaimedRun, isScheduled: boolean): RunUnderWay {
    const key = targetKey(target);
    if (underWay.size === 0) renewedAtMs = clock.monotonicMs();
    const started: RunUnderWay = {
      run,
      ended: Promise.resolve().then(() => runToEnd(target, started, isScheduled)),
    };
    underWay.set(key, started);
    const leave = (): void => {
      underWay.delete(key);
      wake();
    };
    started.ended.then(leave, leave);
    return started;
  }

  async function runToEnd(target: CheckTarget, started: RunUnderWay, isScheduled: boolean): Promise<CheckReport> {
    const { slug } = target;
    const startedAtMs = clock.nowMs();
    const startedMonotonicMs = clock.monotonicMs();
    const deadline = clock.deadline(runTimeoutMs, abandoned.signal);
    const report = await options.run(target, deadline.signal);
    deadline.release();
    if (abandoned.signal.aborted) throw new FlatlineError("unavailable", "the check was stopped");
    const durationSeconds = (clock.monotonicMs() - startedMonotonicMs) / secondMs;

    // The configuration may have been read again meanwhile.
    const { schedule } = targets.get(targetKey(target)) ?? target;
    const { dueAtMs } = started.run;
    const ended = { schedule, slug, dueAtMs, startedAtMs, finishedAtMs: clock.nowMs(), isScheduled };
    const nextDueAtMs = dueAgainAtMs(ended);
    // Asked for each time: the run may have been given a new fence.
    const record = () => options.record({ run: started.run, owner, report, nextDueAtMs });
    const patience = { clock, withinMs: leaseMs, signal: abandoned.signal };
    const { state } = await recordPatiently(record, patience).catch((error: unknown) => {
      options.onUnrecorded?.(started.run, durationSeconds);
      throw error;
    });
    if (state === null) return report;
    book.note(report, durationSeconds, skippedTicks(ended));
    options.onRecorded(state);
    return report;
  }

  /** Resolves when a run has ended or the signal has aborted. */
  async function nextEnd(of: Iterable<RunUnderWay>, signal: AbortSignal): Promise<void> {
    const stopWaiting = new AbortController();
    const limit = clock.sleep(runTimeoutMs, AbortSignal.any([signal, stopWaiting.signal]));
    await Promise.race([limit, ...[...of].map(({ ended }) => ended.then(ignore, ignore))]);
    stopWaiting.abort();
  }

  /** Begins a run now, as soon as there is a place for it and no other run of the same is under way. */
  async function beginNow(check: CheckName, slug: string, signal: AbortSignal): Promise<RunUnderWay> {
    const key = targetKey({ check, slug });
    for (let refusals = 0; ;) {
      const target = targets.get(key);
      if (target === undefined) throw new FlatlineError("not_found", `no check ${check} is configured for "${slug}"`);
      if (stopping.signal.aborted) throw new FlatlineError("unavailable", "flatline is stopping");
      if (signal.aborted) throw new FlatlineError("api_timeout", "the check could not be started in time");
      if (round !== null) {
        await round;
        continue;
      }
      const known = underWay.get(key);
      if (known !== undefined || underWay.size >= concurrency) {
        await nextEnd(known === undefined ? underWay.values() : [known], signal);
        continue;
      }
      const nowMs = clock.nowMs();
      const run = await store.claimNow({ check, slug, nowMs, owner, leaseUntilMs: nowMs + leaseMs });
      if (run !== null) return begin(target, run, false);
      // The first time it may be that the loop is just claiming it.
      if (++refusals > 1) throw new FlatlineError("conflict", `another process runs ${check} for "${slug}" just now`);
      await clock.sleep(leastWaitMs, signal);
    }
  }

  async function runNow(check: CheckName, slug: string, signal: AbortSignal): Promise<CheckReport> {
    let started: RunUnderWay;
    waitingForPlace++;
    try {
      started = await beginNow(check, slug, signal);
    } finally {
      waitingForPlace--;
      wake();
    }
    return started.ended;
  }

  return {
    start: async () => {
      setMap(options.targets);
      for (const state of await store.states()) book.learn(state);
      const removed = await sync();
      lastLookAtMs = clock.monotonicMs();
      loop = runLoop();
      return removed;
    },
    setTargets: async (change) => {
      const before = targets;
      setMap(change.targets);
      try {
        const removed = await sync();
        concurrency = change.concurrency ?? concurrency;
        runTimeoutMs = change.runTimeoutMs ?? runTimeoutMs;
        return removed;
      } catch (error) {
        targets = before;
        throw error;
      } finally {
        wake();
      }
    },
    runNow,
    isStalled: () => {
      const isDue = nextWorkAtMs === null || nextWorkAtMs <= clock.nowMs();
      const isLate = isDue && targets.size > 0 && clock.monotonicMs() - lastLookAtMs > stalledMs;
      return stopping.signal.aborted || isLate;
    },
    running: () => underWay.size,
    stop: async (drainMs) => {
      stopping.abort();
      wake();
      const giveUp = (): void => abandoned.abort(new FlatlineError("unavailable", "flatline is stopping"));
      // The look that is under way may still begin runs.
      const ended = loop.then(() => Promise.allSettled([...underWay.values()].map((run) => run.ended)));
      const hung = await drain(clock, ended, { drainMs, giveUp });
      await store.releaseLeases(owner);
      if ((unrecorded ?? hung) !== null) throw unrecorded ?? hung;
    },
  };
}

function ignore(): void {
  // Whoever began the run hears of its error.
}
