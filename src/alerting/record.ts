import { isDeepStrictEqual } from "node:util";
import { createBatch, isOfStore } from "../base/batch.ts";
import { retrying } from "../base/retry.ts";
import { FlatlineError } from "../base/errors.ts";
import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { Severity } from "../contract/severity.ts";
import type { Alert, AlertEnd } from "../store/alerts/alerts.ts";
import { chosenThresholdsOf, stateAfter, type CheckKey, type CheckState } from "../store/runs/check-state.ts";
import type { StoredRun } from "../store/runs/checks.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { reportFacts, runTimeMs, type FinishedRun } from "./finished-run.ts";
import { changeOfGate, isGateAlert } from "./decide/gate.ts";
import { openIncidentBook, watchedSinceKey, type IncidentContext, type IncidentEvent } from "./incidents.ts";
import { removalReason, type AlertingGround, type AlertTarget } from "./settings.ts";
import { isAfterGap, togetherMs, weeksLookedAt } from "./decide/verdict.ts";
import { addressesOf } from "./decide/routing.ts";
import { removal, transition, type Transition, type TransitionChange } from "./decide/transition.ts";

export interface Recorded {
  readonly state: CheckState;
  /** Severity of the run before; null: none. */
  readonly previousSeverity: Severity | null;
  /** In order; the notifier sends them to receivers. */
  readonly changes: readonly TransitionChange[];
}

export interface RecorderOptions extends AlertingGround {
  /** Called when nobody knows whether the store took a commit. */
  readonly onDoubt: () => void;
  /** Called after a commit that a receiver may have to hear of, by an alert or a fleet verdict. */
  readonly onChange: () => void;
  /** Called for each new incident. */
  readonly onIncident?: (family: string) => void;
  /** The time between two ticks of a check's schedule, ms. */
  readonly intervalOf: (check: CheckKey) => number;
  /** Awaited before a commit, so that more runs can join it [one turn of the event loop]. */
  readonly gather?: () => Promise<void>;
  readonly onRecorded?: (states: readonly CheckState[]) => void;
}

/** A run is not thrown away while the store is busy or away. */
const patience = {
  // After this another process may write.
  withinMs: 10 * secondMs,
  // A lock is free in a moment; a server restarts in some seconds.
  firstMs: 100,
  longestMs: secondMs,
  isPassing: (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy",
};

export type Recorder = ReturnType<typeof createRecorder>;

/** Creates the recorder. It stores a run and all that follows from it in one transaction (CONTRACT 7). */
export function createRecorder(options: RecorderOptions) {
  const { store, board, clock, newId, intervalOf } = options;
  const logger = options.logger.child({ room: "alerting" });

  function announce(step: Transition): void {
    for (const { event, alert, previousSeverity, reason } of step.changes) {
      const { id: alertId, check, slug, severity } = alert;
      logger.info({ alertId, check, slug, event, severity, previousSeverity, reason }, "alert changed");
    }
    for (const { alertId, reason } of step.decisions) logger.debug({ alertId, reason }, "alert decided");
    if (step.changes.length > 0) options.onChange();
  }

  function announceIncidents(events: readonly IncidentEvent[]): void {
    for (const { what, incident } of events) {
      const { number, id, family, verdict } = incident;
      const told = verdict === null ? {} : { together: verdict.together, organizations: verdict.organizations };
      logger.info({ incident: number, incidentId: id, family, ...told }, what);
      if (what === "incident opened") options.onIncident?.(family);
    }
  }

  /** Stores runs and what follows from them. Returns the outcomes in order. */
  async function commitRuns(requests: readonly Ended[]) {
    await nameChecks(requests.map(({ run }) => run));
    const runs = requests.map(storedRun);
    const previous = runs.map(({ checkId }) => board.stateOf(checkId)?.severity ?? null);
    const kept = runs.filter(({ state }) => state.isKept);
    let written: { readonly steps: readonly Transition[]; readonly incidents: readonly IncidentEvent[] } | null = null;
    const write = async (parts: StoreParts): Promise<NonNullable<typeof written>> => {
      // An earlier attempt stored everything, but its answer was lost.
      if (written !== null && (await parts.runs.isStored(runs))) return written;
      await parts.runs.commit(runs);
      if (kept.length > 0) await parts.runs.keepReports(kept.map(({ checkId, report }) => ({ ...report, checkId })));
      const live = Map.groupBy(await parts.alerts.liveOf(requests.map(({ run }) => run)), checkKey);
      const decided = requests.flatMap((request, index) => {
        const { run, report } = request;
        const states = live.get(checkKey(run)) ?? [];
        if (report.severity === "ok" && states.length === 0) return [];
        // A reload removed the check during the run: endUnconfigured has ended its alerts, and none may begin.
        const target = options.settings().targetOf(run.check, run.slug);
        return target === null ? [] : [{ index, target, report, step: decide(request, target, states) }];
      });
      const book = await openIncidentBook(parts, decided, incidentContext());
      const steps = requests.map(() => nothing);
      for (const one of decided) {
        const step = await book.take(one);
        await writeStep(parts, step, one.target);
        steps[one.index] = step;
      }
      return (written = { steps, incidents: await book.close() });
    };
    try {
      const signal = requests[0]?.signal;
      const { steps, incidents } = await retrying(() => store.transaction(write), { ...patience, clock, signal });
      board.apply(runs);
      announceIncidents(incidents);
      options.onRecorded?.(runs.map(({ state }) => state));
      return runs.map(({ state }, index) => {
        return { state, previousSeverity: previous[index] ?? null, step: steps[index] ?? nothing };
      });
    } catch (error) {
      // The last attempt may have been stored. If one of the runs was at fault, none was.
      if (isOfStore(error)) options.onDoubt();
      throw error;
    }
  }

  /** Stores the alerts of a step, and the releases of the gate that follow. */
  async function writeStep(
    parts: StoreParts,
    step: Transition,
    context: Pick<AlertTarget, "labels" | "url">,
  ): Promise<void> {
    const nowMs = clock.nowMs();
    for (const alert of step.alerts) {
      if (alert.end === null) await parts.alerts.save(noted(alert, step, context, nowMs));
      else await end(parts, { ...alert, end: { ...alert.end, storedAtMs: nowMs } }, nowMs);
    }
    for (const id of step.forgotten) await parts.alerts.remove(id);
  }

  async function end(parts: StoreParts, alert: Alert & { readonly end: AlertEnd }, nowMs: number): Promise<void> {
    const before = alert.failure === undefined ? [] : await parts.gate.failures(alert.slug);
    const after = before.map((one) => (one.id === alert.id ? { ...one, end: alert.end } : one));
    const { ended, isOpened } = changeOfGate(before, after, options.settings().gateOf(alert.slug));
    await parts.alerts.save(isOpened ? { ...alert, end: { ...alert.end, opensGate: true } } : alert);
    for (const { id, how } of ended) await parts.log.released([id], { by: null, comment: null, how, atMs: nowMs });
  }

  /** Gives new checks their number. */
  async function nameChecks(keys: readonly CheckKey[]): Promise<void> {
    const unnamed = keys.filter((key) => board.idOf(key) === undefined);
    if (unnamed.length === 0) return;
    const ids = await store.runs.addChecks(unnamed);
    for (const { check, slug } of unnamed) board.name(ids.get(checkKey({ check, slug })) ?? 0, { check, slug });
  }

  function storedRun({ run, report }: FinishedRun): StoredRun {
    const checkId = board.idOf(run) ?? 0;
    const state = stateAfter(board.stateOf(checkId), report, run);
    return { checkId, report, state };
  }

  function incidentContext(): IncidentContext {
    const nowMs = clock.nowMs();
    const withResult = (): CheckState[] =>
      board.states().filter(({ check, severity }) => check === "dead-asset-spike" && severity !== "unknown");
    return {
      settings: options.settings(),
      newId,
      nowMs,
      withResult: () => withResult().length,
      weeksLookedAt: () =>
        withResult()
          .filter(({ lastRunAtMs }) => nowMs - lastRunAtMs <= togetherMs)
          .reduce((weeks, check) => weeks + weeksLookedAt(intervalOf(check)), 0),
    };
  }

  /** The run cannot say when deaths began: they may be of any time before. */
  function isFirstLook({ run, report }: FinishedRun): boolean {
    const last = board.stateOf(board.idOf(run) ?? 0)?.lastResultReport ?? null;
    if (last?.kind !== "result" || report.kind !== "result") return last === null;
    const gapMs = report.startedAtMs - last.startedAtMs;
    const [before, now] = [last.result, report.result].map(chosenThresholdsOf);
    return isAfterGap(gapMs, intervalOf(run)) || !isDeepStrictEqual(before, now);
  }

  function decide(request: FinishedRun, target: AlertTarget, states: readonly Alert[]): Transition {
    const { report } = request;
    const counted = { ...report, startedAtMs: runTimeMs(request) };
    return transition({
      states,
      report: { ...counted, ...reportFacts(report), isFirstLook: isFirstLook(request) },
      policy: target.policy,
      newId,
    });
  }

  const commit = createBatch(commitRuns, ({ run }: Ended) => checkKey(run), options.gather);

  /**
   * Ends the alerts of checks that are not configured any more, and notes removed receivers. Call it at the start and
   * after each reload. Returns how many of the alerts fired.
   */
  async function endUnconfigured(): Promise<number> {
    const settings = options.settings();
    let ended: readonly IncidentEvent[] = [];
    const steps = await store.transaction(async (parts) => {
      const done: Transition[] = [];
      const removed = (await parts.alerts.allLive()).flatMap((state) => {
        const reason = removalReason(settings, state);
        return reason === null ? [] : [{ state, step: removal(state, reason, clock.nowMs()), report: null }];
      });
      const book = await openIncidentBook(parts, removed, incidentContext());
      for (const one of removed) {
        const { state } = one;
        const step = await book.take(one);
        await writeStep(parts, step, state.changed ?? noContext);
        done.push(step);
      }
      ended = await book.close();
      if (settings.fleet === null) await parts.incidents.endVerdicts();
      await parts.meta.getOrSet(watchedSinceKey, String(clock.nowMs()));
      // First delete receivers removed long ago: the settings may have one of them again.
      await parts.queued.tidy(clock.nowMs());
      await parts.queued.keepAddresses(addressesOf(settings.receivers), clock.nowMs());
      return done;
    });
    for (const step of steps) announce(step);
    announceIncidents(ended);
    return steps.reduce((count, { changes }) => count + changes.length, 0);
  }

  async function recordOne(request: Ended): Promise<Recorded> {
    const { state, previousSeverity, step } = await commit(request);
    // Here and not in the commit, so that the lines belong to this run's trace.
    if (step.decisions.length + step.changes.length > 0) announce(step);
    const hasStopped = step.decisions.some(({ reason }) => reason === "excess_stopped");
    // A fleet verdict counts the organizations with a result.
    if (hasStopped || isUnknown(state.severity) !== isUnknown(previousSeverity)) options.onChange();
    return { state, previousSeverity, changes: step.changes };
  }

  return {
    /**
     * Stores runs with alerts and changes, all or nothing. Runs that end together share a commit; runs that end during
     * a commit join the next one. While the store is busy or away, tries for ten seconds or until `signal` aborts.
     * Returns the outcome of each run, in order; does not reject.
     */
    record: (requests: readonly FinishedRun[], signal?: AbortSignal): Promise<PromiseSettledResult<Recorded>[]> =>
      Promise.allSettled(requests.map((request) => recordOne({ ...request, signal }))),
    endUnconfigured,
  };
}

const isUnknown = (severity: Severity | null): boolean => severity === null || severity === "unknown";

/** A run to store until `signal` aborts. */
interface Ended extends FinishedRun {
  readonly signal: AbortSignal | undefined;
}

/** Returns the alert with its last change and, after a fail, with its failure for the gate. */
function noted(
  alert: Alert,
  { changes }: Transition,
  { labels, url }: Pick<AlertTarget, "labels" | "url">,
  nowMs: number,
): Alert {
  const change = changes.find((one) => one.alert.id === alert.id);
  if (change === undefined) return alert;
  const { event, reason } = change;
  const isFailure = (event === "firing" || event === "escalated") && alert.severity === "fail" && isGateAlert(alert);
  const fired = alert.changed ?? { firedAtMs: nowMs, firedReason: reason };
  const changed = { ...fired, atMs: nowMs, reason, labels, url };
  return { ...alert, changed, ...(isFailure ? { failure: { atMs: nowMs, releasedAtMs: null } } : {}) };
}

const noContext: Pick<AlertTarget, "labels" | "url"> = { labels: {}, url: null };
const nothing: Transition = { alerts: [], forgotten: [], changes: [], decisions: [] };
