import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import { checkNames, type CheckReport } from "../contract/report.ts";
import type { AlertState } from "../store/alerts.ts";
import type { ClaimedRun } from "../store/schedule.ts";
import type { Store, StoreParts } from "../store/store.ts";
import { runTimeMs } from "./run-time.ts";
import type { AlertingSettings } from "./settings.ts";
import { readSnapshot, reportFor, snapshotOf, writeSnapshot, type SnapshotContext } from "./snapshot.ts";
import { removal, transition, type Transition, type TransitionChange } from "./transition.ts";

/** What a finished run hands over to be made durable. */
export interface RecordRequest {
  readonly run: ClaimedRun;
  /** Holder of the run's lease. */
  readonly owner: string;
  readonly report: CheckReport;
  readonly nextDueAtMs: number;
}

export interface Recorded {
  /** False: the lease was lost to somebody else, and nothing was written. */
  readonly recorded: boolean;
  /** What changed, in order; receivers are told of it by the notifier. */
  readonly changes: readonly TransitionChange[];
}

/** Makes runs durable, with everything that follows from them; one transaction each (CONTRACT 7). */
export interface Recorder {
  /** Schedule, verdict history, alert states, their history and the changes to be told: all of it is stored, or none. */
  record(request: RecordRequest): Promise<Recorded>;
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

  async function record({ run, owner, report, nextDueAtMs }: RecordRequest): Promise<Recorded> {
    const { check, slug } = run;
    const target = options.settings().targetOf(check, slug);
    const step = await store.transaction(async (parts) => {
      if (!(await parts.schedule.complete({ run, owner, report, nextDueAtMs }))) return null;
      await parts.verdicts.append(report);
      // A reload took it away while it ran: endUnconfigured has ended its alerts, and none may begin.
      if (target === null) return nothing;
      const states = await parts.alerts.live(check, slug);
      const counted = { ...report, startedAtMs: runTimeMs({ ...run, ...report, nextDueAtMs }) };
      const step = transition({ states, report: counted, policy: target.policy, newId });
      await write(parts, step, report, target);
      return step;
    });
    if (step === null) {
      logger.warn({ check, slug }, "run finished after its lease was lost");
      return { recorded: false, changes: [] };
    }
    announce(step, target?.isDrill === true);
    return { recorded: true, changes: step.changes };
  }

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

  return { record, endUnconfigured };
}

/** The organization may still be there: then it is the check that is gone. */
function removalReason(settings: AlertingSettings, state: AlertState): "organization_removed" | "check_removed" | null {
  if (settings.targetOf(state.check, state.slug) !== null) return null;
  return checkNames.some((check) => settings.targetOf(check, state.slug) !== null)
    ? "check_removed"
    : "organization_removed";
}

const noContext: SnapshotContext = { labels: {}, url: null, isDrill: false };
const nothing: Transition = { live: [], gone: [], changes: [], history: [], decisions: [] };
