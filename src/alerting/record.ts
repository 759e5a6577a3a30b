import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import { checkNames, type CheckName, type CheckReport } from "../contract/report.ts";
import { spikeOnsetOf } from "../contract/spike-onset.ts";
import type { AlertState } from "../store/alerts/alerts.ts";
import type { CheckState, FinishedRun } from "../store/runs/schedule.ts";
import type { Store, StoreParts } from "../store/store.ts";
import { runTimeMs } from "./decide/run-time.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { AlertingSettings, AlertTarget } from "./settings.ts";
import { readSnapshot, reportFor, snapshotOf, writeSnapshot, type SnapshotContext } from "./notify/snapshot.ts";
import { removal, transition, type Transition, type TransitionChange } from "./decide/transition.ts";

/** What a finished run hands over to be made durable; `owner` holds the run's lease. */
export type RecordRequest = FinishedRun;

export interface Recorded {
  /** As it is stored now; null: the lease was lost to somebody else, and nothing was written. */
  readonly state: CheckState | null;
  /** What changed, in order; receivers are told of it by the notifier. */
  readonly changes: readonly TransitionChange[];
}

/** Makes runs durable, with everything that follows from each in the same transaction (CONTRACT 7). */
export interface Recorder {
  /**
   * Schedule, verdict history, alert states, their history and the changes to be told: all of it is stored, or none. Runs
   * that end together share a transaction.
   */
  record(request: RecordRequest): Promise<Recorded>;
  /** The same for runs that ended together, at most one of a (check, slug): one transaction, all of it or nothing. */
  recordRound(requests: readonly RecordRequest[]): Promise<readonly Recorded[]>;
  /**
   * Ends the alerts of what the settings no longer name, and forgets what receivers that are gone were told; call it at the
   * start and after each reload. Answers how many alerts fired.
   */
  endUnconfigured(): Promise<number>;
}

export interface RecorderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of alerts; unique over all time. */
  readonly newId: () => string;
  /** Those that hold now; asked at each run. */
  readonly settings: () => AlertingSettings;
  /** Told after a commit that some receiver may have to be told, at once when it is a drill. */
  readonly onChange: (isUrgent: boolean) => void;
}

/** A recorder over the store. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { store, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });

  async function write(
    parts: StoreParts,
    step: Transition,
    report: CheckReport | null,
    context: SnapshotContext,
  ): Promise<void> {
    for (const state of step.gone) await parts.alerts.remove(state.id);
    for (const state of step.live) await parts.alerts.save(state);
    for (const entry of step.history) await parts.alerts.appendHistory(entry);
    const atMs = clock.nowMs();
    for (const { event, alert, endsAtMs, reason } of step.changes) {
      // Acknowledged it is quiet until it is worse, which ends the acknowledgement, or over: then only that is told.
      if (alert.acknowledgement !== null && endsAtMs === null) continue;
      const { id: alertId, check, slug, kind, severity } = alert;
      const snapshot = writeSnapshot(snapshotOf(alert, report, context, endsAtMs));
      await parts.notices.appendChange({ alertId, check, slug, kind, atMs, event, severity, reason, snapshot });
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

  /** The runs of one transaction; nothing is told before it has ended. */
  async function recordAll(requests: readonly RecordRequest[]): Promise<Recorded[]> {
    const targets = requests.map(({ run }) => options.settings().targetOf(run.check, run.slug));
    const done = await store.transaction(async (parts) => {
      const states = await parts.schedule.completeAll(requests);
      const reports = requests.flatMap(({ report }, index) => (isPresent(states[index]) ? [report] : []));
      await parts.verdicts.appendAll(reports);
      const live = Map.groupBy(await parts.alerts.liveOf(reports), keyOf);
      const steps: Transition[] = [];
      for (const [index, request] of requests.entries()) {
        const target = targets[index];
        // A reload took it away while it ran: endUnconfigured has ended its alerts, and none may begin.
        const isToDecide = isPresent(states[index]) && isPresent(target);
        const step = isToDecide ? decide(request, target, live.get(keyOf(request.run)) ?? []) : nothing;
        if (isToDecide) await write(parts, step, request.report, target);
        steps.push(step);
      }
      return { states, steps };
    });
    return requests.map(({ run }, index) => {
      const state = done.states[index] ?? null;
      const step = done.steps[index] ?? nothing;
      if (state === null) logger.warn({ check: run.check, slug: run.slug }, "run finished after its lease was lost");
      announce(step, targets[index]?.isDrill === true);
      return { state, changes: step.changes };
    });
  }

  function decide({ run, report, nextDueAtMs }: RecordRequest, target: AlertTarget, states: readonly AlertState[]) {
    if (report.severity === "ok" && states.length === 0) return nothing;
    const onset = report.kind === "result" && report.check === "dead-asset-spike" ? spikeOnsetOf(report.result) : null;
    const counted = { ...report, startedAtMs: runTimeMs({ ...run, ...report, nextDueAtMs }) };
    const known = onset === null ? counted : { ...counted, onset };
    return transition({ states, report: known, policy: target.policy, newId });
  }

  const record = createGroupCommit({ commit: recordAll, keyOf: ({ run }: RecordRequest) => keyOf(run) });

  async function endUnconfigured(): Promise<number> {
    const settings = options.settings();
    const steps = await store.transaction(async (parts) => {
      const done: Transition[] = [];
      for (const state of await parts.alerts.allLive()) {
        const reason = removalReason(settings, state);
        if (reason === null) continue;
        const step = removal(state, reason, clock.nowMs());
        const known = await parts.notices.lastSnapshot(state.id);
        const last = reportFor(state.kind, await parts.schedule.state(state.check, state.slug));
        await write(parts, step, last, known === null ? noContext : readSnapshot(known));
        done.push(step);
      }
      await parts.notices.forgetReceiversExcept(settings.receivers.map(({ name }) => name));
      return done;
    });
    for (const step of steps) announce(step, false);
    return steps.reduce((count, { changes }) => count + changes.length, 0);
  }

  return { record, recordRound: recordAll, endUnconfigured };
}

/** The organization may still be there: then it is the check that is gone. */
function removalReason(settings: AlertingSettings, state: AlertState): "organization_removed" | "check_removed" | null {
  if (settings.targetOf(state.check, state.slug) !== null) return null;
  return checkNames.some((check) => settings.targetOf(check, state.slug) !== null)
    ? "check_removed"
    : "organization_removed";
}

function keyOf({ check, slug }: { readonly check: CheckName; readonly slug: string }): string {
  return checkKey(check, slug);
}

function isPresent<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

const noContext: SnapshotContext = { labels: {}, url: null, isDrill: false };
const nothing: Transition = { live: [], gone: [], changes: [], history: [], decisions: [] };
