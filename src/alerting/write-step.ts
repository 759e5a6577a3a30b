import type { CheckReport } from "../contract/report.ts";
import type { AlertEnd, AlertState } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { noteActNotice, releasedEntries } from "./acts/act-notice.ts";
import { changeGate } from "./acts/gate-change.ts";
import { endOpens, isGateAlert } from "./decide/gate.ts";
import type { Transition } from "./decide/transition.ts";
import type { SampledAsset } from "./notify/notification.ts";
import { snapshotOf, writeSnapshot, type SnapshotContext } from "./notify/snapshot.ts";
import type { AlertingSettings } from "./settings.ts";

/** Reads the assets that notifications of a change name, in its transaction. */
export type ReadSample = (
  parts: Pick<StoreParts, "evidence">,
  alert: AlertState,
  report: CheckReport | null,
) => Promise<readonly SampledAsset[]>;

/** What a step is written with. */
export interface StepFacts {
  readonly step: Transition;
  /** null: none is known, as its check is no longer configured. */
  readonly report: CheckReport | null;
  readonly context: SnapshotContext;
  readonly settings: AlertingSettings;
  readonly nowMs: number;
  /** [they name none] */
  readonly readSample?: ReadSample | undefined;
}

/**
 * Writes the alerts as a step leaves them, what it means for the gate, and the changes to notify of, in the
 * transaction of what it follows from.
 */
export async function writeStep(parts: StoreParts, facts: StepFacts): Promise<void> {
  const { step, report, context, nowMs: atMs, readSample } = facts;
  await writeStates(parts, facts);
  for (const { event, alert, endsAtMs, reason } of step.changes) {
    const { id: alertId, check, slug, kind, severity } = alert;
    const sample = endsAtMs === null ? ((await readSample?.(parts, alert, report)) ?? []) : [];
    const snapshot = writeSnapshot(snapshotOf(alert, report, { ...context, sample }, endsAtMs));
    const incident = alert.incident?.number ?? 0;
    const change = { alertId, check, slug, kind, atMs, event, severity, reason, incident };
    await parts.notices.appendChange({ ...change, snapshot });
  }
}

async function writeStates(parts: StoreParts, { step, context, settings, nowMs }: StepFacts): Promise<void> {
  for (const state of step.live) await parts.alerts.save(noted(state, step, context, nowMs));
  for (const state of step.gone) {
    const given = { ...endOf(step, state), storedAtMs: nowMs };
    // What never fired is forgotten.
    if (state.state === "pending") await parts.alerts.remove(state.id);
    else if (!isGateAlert(state)) await parts.alerts.end(state, given);
    else {
      const opens = endOpens(await parts.gate.failures(state.slug), state.id, given, settings.gateOf(state.slug));
      const end = (): Promise<void> => parts.alerts.end(state, opens ? { ...given, opensGate: true } : given);
      const change = { slug: state.slug, settings, by: null, comment: null, nowMs };
      const { opened } = await changeGate(parts, change, end);
      await noteActNotice(parts, change, releasedEntries(opened, change));
    }
  }
}

/** Returns the alert with its last change, which receivers are told of, and as a failure of the gate. */
function noted(state: AlertState, step: Transition, { labels, url }: SnapshotContext, nowMs: number): AlertState {
  const change = step.changes.find(({ alert }) => alert.id === state.id);
  if (change === undefined) return state;
  const { event, reason } = change;
  const isFailure = (event === "firing" || event === "escalated") && state.severity === "fail" && isGateAlert(state);
  const fired = state.changed ?? { firedAtMs: nowMs, firedReason: reason };
  const changed = { ...fired, atMs: nowMs, reason, labels, url };
  return { ...state, changed, ...(isFailure ? { failure: { atMs: nowMs, releasedAtMs: null } } : {}) };
}

/** Returns how an alert ends with this step. */
function endOf(step: Transition, { id, reason }: AlertState): AlertEnd {
  const atMs = step.changes.find(({ alert, endsAtMs }) => alert.id === id && endsAtMs !== null)?.endsAtMs ?? 0;
  return { atMs, isByRun: reason !== "organization_removed" && reason !== "check_removed" };
}
