import { createBatch, isOfStore } from "../base/batch.ts";
import { retrying } from "../base/retry.ts";
import type { Logger } from "../base/logger.ts";
import { FlatlineError } from "../base/errors.ts";
import { secondMs, type Clock } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import { checkNames, type CheckReport } from "../contract/report.ts";
import type { SampledAsset } from "./notify/notification.ts";
import { spikeOnsetOf, type SpikeOnset } from "../contract/spike-onset.ts";
import type { AlertEnd, AlertState } from "../store/alerts/alerts.ts";
import type { Board, CheckState } from "../store/runs/board.ts";
import type { JournalRun } from "../store/runs/journal-row.ts";
import { shouldKeepReport } from "../store/runs/kept-reports.ts";
import type { OwnCommit, OwnJournal } from "../store/runs/own-journal.ts";
import { sameReport, splitReport } from "../store/runs/report-shape.ts";
import type { CheckKey } from "../store/runs/runs.ts";
import type { Store, StoreParts } from "../store/store.ts";
import { runTimeMs } from "./decide/run-time.ts";
import { noteActNotice, releasedEntries } from "./acts/act-notice.ts";
import { changeGate } from "./acts/gate-change.ts";
import { isGateAlert } from "./decide/gate.ts";
import type { AlertingSettings, AlertTarget } from "./settings.ts";
import { readSnapshot, reportFor, snapshotOf, writeSnapshot, type SnapshotContext } from "./notify/snapshot.ts";
import { removal, transition, type Transition, type TransitionChange } from "./decide/transition.ts";

/** A run that is running or has ended. */
export interface Run extends CheckKey {
  readonly dueAtMs: number;
  /** It was requested (POST …/run). */
  readonly isAsked: boolean;
  /** The journal of the process when it began: a process that has joined again since then no longer runs the check. */
  readonly journal: OwnJournal;
}

/** What a finished run hands over to be made durable. */
export interface RecordRequest {
  readonly run: Run;
  readonly report: CheckReport;
  /** When the check is due again. */
  readonly nextDueAtMs: number;
}

export interface Recorded {
  /** As it is on the board now; null: another process runs the check, and nothing was written. */
  readonly state: CheckState | null;
  /** What changed, in order; the notifier sends it to receivers. */
  readonly changes: readonly TransitionChange[];
}

/** Makes runs durable, with everything that follows from each in the same transaction (CONTRACT 7). */
export interface Recorder {
  /**
   * Journal, alert states, their history and the changes to notify of: all of it is stored, or none. Runs that end during a
   * commit go into the next one. While the store is busy or away it is tried again for as long as a lease lasts, or
   * until `signal` aborts.
   */
  record(request: RecordRequest, signal?: AbortSignal): Promise<Recorded>;
  /**
   * Ends the alerts of checks that the settings no longer name, and deletes the notices of removed receivers; call it at the
   * start and after each reload. Answers how many alerts fired.
   */
  endUnconfigured(): Promise<number>;
}

export interface RecorderOptions {
  readonly store: Store;
  /** Gets each run when it is durable. */
  readonly board: Board;
  /** Of this process while it may write; null: it has lost its shards. */
  readonly journal: () => OwnJournal | null;
  /** Called when it is unknown whether the store has taken a commit. */
  readonly distrust: (journal: OwnJournal) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of alerts; unique over all time. */
  readonly newId: () => string;
  /** Those that hold now; asked at each run. */
  readonly settings: () => AlertingSettings;
  /** Called after a commit of which a receiver may have to be notified, at once if it is a drill. */
  readonly onChange: (isUrgent: boolean) => void;
  /** Reads the assets that notifications of this change name, in its transaction [they name none]. */
  readonly readSample?: (
    parts: Pick<StoreParts, "evidence">,
    alert: AlertState,
    report: CheckReport | null,
  ) => Promise<readonly SampledAsset[]>;
  /** Awaited before runs are committed, for more to join them [one turn of the event loop]. */
  readonly gather?: () => Promise<void>;
  /** Called after a commit, with the states that it changed [not called]. */
  readonly onRecorded?: (states: readonly CheckState[]) => void;
}

/** What a run found is not thrown away for a store that is busy or away. */
const patience = {
  // As long as a lease lasts: then another process may have taken the checks.
  withinMs: 10 * secondMs,
  // A lock is free in a moment, a server that restarts in some seconds.
  firstMs: 100,
  longestMs: secondMs,
  isPassing: (error: unknown): boolean => error instanceof FlatlineError && error.code === "store_busy",
};

/** Creates a recorder over the store. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { store, board, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });

  async function write(
    parts: StoreParts,
    step: Transition,
    report: CheckReport | null,
    context: SnapshotContext,
  ): Promise<void> {
    const atMs = clock.nowMs();
    await writeStates(parts, step, report, atMs);
    for (const entry of step.history) await parts.alerts.appendHistory(entry);
    for (const { event, alert, endsAtMs, reason } of step.changes) {
      // While acknowledged it is quiet until it gets worse, which ends the acknowledgement, or ends: then receivers are notified of the end only.
      if (alert.acknowledgement !== null && endsAtMs === null) continue;
      const { id: alertId, check, slug, kind, severity } = alert;
      const sample = endsAtMs === null ? ((await options.readSample?.(parts, alert, report)) ?? []) : [];
      const snapshot = writeSnapshot(snapshotOf(alert, report, { ...context, sample }, endsAtMs));
      await parts.notices.appendChange({ alertId, check, slug, kind, atMs, event, severity, reason, snapshot });
    }
  }

  /** The alerts as the step leaves them, and what it means for the gate. */
  async function writeStates(
    parts: StoreParts,
    step: Transition,
    report: CheckReport | null,
    nowMs: number,
  ): Promise<void> {
    for (const state of step.live) await parts.alerts.save(state);
    for (const { alert, event } of step.changes) {
      const isFailure = (event === "firing" || event === "escalated") && alert.severity === "fail";
      if (isFailure && isGateAlert(alert)) await parts.gate.fail(alert, nowMs);
    }
    for (const state of step.gone) {
      const end = async (): Promise<void> => parts.alerts.end(state, endOf(step, state, report));
      // What never fired is forgotten.
      if (state.state === "pending") await parts.alerts.remove(state.id);
      else if (!isGateAlert(state)) await end();
      else {
        const { slug } = state;
        const change = { slug, settings: options.settings(), by: null, comment: null, nowMs };
        const { opened } = await changeGate(parts, change, end);
        await noteActNotice(parts, change, releasedEntries(opened, change));
      }
    }
  }

  function announce(step: Transition, isUrgent: boolean): void {
    for (const { event, alert, previousSeverity, reason } of step.changes) {
      const { id: alertId, check, slug, severity } = alert;
      logger.info({ alertId, check, slug, event, severity, previousSeverity, reason }, "alert changed");
    }
    for (const { alertId, reason } of step.decisions) logger.debug({ alertId, reason }, "alert decided");
    if (step.changes.length > 0) options.onChange(isUrgent);
  }

  /** The runs of one transaction; no notification is sent before it has ended. */
  async function recordAll(given: readonly WaitingRequest[]): Promise<(Committed | "lost")[]> {
    const journal = options.journal();
    const own = given.filter(({ request }) => journal !== null && request.run.journal === journal);
    const recorded = journal === null || own.length === 0 ? null : await commitRuns(journal, own);
    return given.map((one) => recorded?.get(one) ?? "lost");
  }

  /** null: the process has lost its shards. */
  async function commitRuns(
    journal: OwnJournal,
    given: readonly WaitingRequest[],
  ): Promise<ReadonlyMap<WaitingRequest, Committed> | null> {
    const requests = given.map(({ request }) => request);
    await nameChecks(requests.map(({ run }) => run));
    const entries = requests.map(entryOf);
    const commit = journal.begin(entries, clock.nowMs());
    const signal = given[0]?.signal;
    let steps: readonly Transition[] | null = null;
    let isAppended = false;
    try {
      steps = await retrying(() => writeRuns(journal, commit, requests), { ...patience, clock, signal });
      isAppended = steps !== null;
    } catch (error) {
      // It is unknown whether the last attempt was stored; if one of its runs was at fault, none was.
      if (isOfStore(error)) options.distrust(journal);
      throw error;
    } finally {
      if (isAppended) board.apply(journal.owner.ownerId, commit.seq, entries);
      journal.end(commit, isAppended);
    }
    if (steps === null) {
      options.distrust(journal);
      return null;
    }
    const states = requests.map(({ run }) => board.state(run.check, run.slug));
    options.onRecorded?.(states.filter(isPresent));
    return new Map(given.map((one, index) => [one, { state: states[index] ?? null, step: steps[index] ?? nothing }]));
  }

  /** What follows from each run; null: the process has lost its shards, and nothing was written. */
  function writeRuns(
    { owner }: OwnJournal,
    { entries, ...row }: OwnCommit,
    requests: readonly RecordRequest[],
  ): Promise<readonly Transition[] | null> {
    const targets = requests.map(({ run }) => options.settings().targetOf(run.check, run.slug));
    return store.transaction(async (parts) => {
      const appended = await parts.runs.append(owner, row);
      if (appended === "fenced") return null;
      // All of it was stored by an attempt whose answer was lost.
      if (appended === "present") return requests.map(() => nothing);
      const kept = requests.flatMap(({ report }, index) => {
        const entry = entries[index];
        return entry?.isReportKept === true ? [{ ...report, checkId: entry.checkId }] : [];
      });
      if (kept.length > 0) await parts.runs.keepReports(kept);
      const live = Map.groupBy(await parts.alerts.liveOf(requests.map(({ report }) => report)), checkKey);
      const steps: Transition[] = [];
      for (const [index, request] of requests.entries()) {
        const target = targets[index];
        // A reload took it away while it ran: endUnconfigured has ended its alerts, and none may begin.
        const step = isPresent(target) ? decide(request, target, live.get(checkKey(request.run)) ?? []) : nothing;
        if (isPresent(target)) await write(parts, step, request.report, target);
        steps.push(step);
      }
      return steps;
    });
  }

  async function nameChecks(keys: readonly CheckKey[]): Promise<void> {
    const unnamed = keys.filter((key) => board.idOf(key) === undefined);
    if (unnamed.length === 0) return;
    const ids = await store.runs.addChecks(unnamed);
    for (const { check, slug } of unnamed) board.name(ids.get(checkKey({ check, slug })) ?? 0, { check, slug });
  }

  function entryOf({ run, report }: RecordRequest): JournalRun {
    const { check, slug, dueAtMs, isAsked } = run;
    const { startedAtMs, finishedAtMs } = report;
    const before = board.state(check, slug);
    const split = sameReport(before?.split ?? null, splitReport(report));
    const isReportKept = shouldKeepReport(before?.kept ?? null, split.shape.digest, finishedAtMs);
    const checkId = board.idOf(run) ?? 0;
    return { checkId, dueAtMs, isAsked, startedAtMs, finishedAtMs, isReportKept, report: split };
  }

  function decide({ run, report, nextDueAtMs }: RecordRequest, target: AlertTarget, states: readonly AlertState[]) {
    if (report.severity === "ok" && states.length === 0) return nothing;
    const counted = { ...report, startedAtMs: runTimeMs({ ...run, ...report, nextDueAtMs }) };
    return transition({ states, report: { ...counted, ...spikeFacts(report) }, policy: target.policy, newId });
  }

  const commit = createBatch({
    run: recordAll,
    keyOf: ({ request }: WaitingRequest) => checkKey(request.run),
    ...(options.gather === undefined ? {} : { gather: options.gather }),
  });

  async function endUnconfigured(): Promise<number> {
    const settings = options.settings();
    const steps = await store.transaction(async (parts) => {
      const done: Transition[] = [];
      for (const state of await parts.alerts.allLive()) {
        const reason = removalReason(settings, state);
        if (reason === null) continue;
        const step = removal(state, reason, clock.nowMs());
        const known = await parts.notices.lastSnapshot(state.id);
        const last = reportFor(state.kind, board.state(state.check, state.slug));
        await write(parts, step, last, known === null ? noContext : readSnapshot(known));
        done.push(step);
      }
      await parts.notices.forgetReceiversExcept(settings.receivers.map(({ name }) => name));
      return done;
    });
    for (const step of steps) announce(step, false);
    return steps.reduce((count, { changes }) => count + changes.length, 0);
  }

  return {
    record: async (request, signal) => {
      const { check, slug } = request.run;
      const committed = await commit({ request, signal });
      if (committed === "lost") {
        logger.warn({ check, slug }, "run finished after this process had lost its check");
        return { state: null, changes: [] };
      }
      // Here, not with the others of its transaction: the lines are of the trace of this run.
      announce(committed.step, options.settings().targetOf(check, slug)?.isDrill === true);
      return { state: committed.state, changes: committed.step.changes };
    },
    endUnconfigured,
  };
}

/** A run that is stored, and what follows from it. */
interface Committed {
  readonly state: CheckState | null;
  readonly step: Transition;
}

interface WaitingRequest {
  readonly request: RecordRequest;
  readonly signal: AbortSignal | undefined;
}

/** What a result of the spike check says beside its verdict, as far as it can be read. */
function spikeFacts(report: CheckReport): {
  readonly onset?: SpikeOnset;
  readonly windowHours?: number;
  readonly baselineDaysKnown?: number;
} {
  if (report.kind !== "result" || report.check !== "dead-asset-spike") return {};
  const onset = spikeOnsetOf(report.result);
  const { windowHours } = report.result.threshold;
  const { baselineDaysKnown } = report.result.observed;
  return {
    ...(onset === null ? {} : { onset }),
    ...(typeof windowHours === "number" && windowHours > 0 ? { windowHours } : {}),
    ...(typeof baselineDaysKnown === "number" ? { baselineDaysKnown } : {}),
  };
}

/** How an alert ends with this step, and what the run that ends it said of its baseline. */
function endOf(step: Transition, { id, reason }: AlertState, report: CheckReport | null): AlertEnd {
  const atMs = step.changes.find(({ alert, endsAtMs }) => alert.id === id && endsAtMs !== null)?.endsAtMs ?? 0;
  if (reason === "organization_removed" || reason === "check_removed")
    return { atMs, isByRun: false, baselineExclusion: null };
  const exclusion = report?.kind === "result" ? report.result.observed["baselineExclusion"] : undefined;
  const isKnown = exclusion === "none" || exclusion === "applied" || exclusion === "too_much";
  return { atMs, isByRun: true, baselineExclusion: isKnown ? exclusion : null };
}

/** The organization may still be there: then it is the check that is gone. */
function removalReason(settings: AlertingSettings, state: AlertState): "organization_removed" | "check_removed" | null {
  if (settings.targetOf(state.check, state.slug) !== null) return null;
  return checkNames.some((check) => settings.targetOf(check, state.slug) !== null)
    ? "check_removed"
    : "organization_removed";
}

function isPresent<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

const noContext: SnapshotContext = { labels: {}, url: null, isDrill: false };
const nothing: Transition = { live: [], gone: [], changes: [], history: [], decisions: [] };
