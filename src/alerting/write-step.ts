import type { AlertEnd, AlertState } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { changeGate } from "./acts/gate-change.ts";
import { endOpens, isGateAlert } from "./decide/gate.ts";
import type { Transition } from "./decide/transition.ts";
import type { AlertContext } from "./notify/alert-facts.ts";
import type { AlertingSettings } from "./settings.ts";

/** What a step is written with. */
export interface StepFacts {
  readonly step: Transition;
  readonly context: AlertContext;
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

/** Writes the alerts as a step leaves them, and what it means for the gate, in the transaction of what it follows from. */
export async function writeStep(parts: StoreParts, { step, context, settings, nowMs }: StepFacts): Promise<void> {
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
      await changeGate(parts, change, end);
    }
  }
}

/** Returns the alert with its last change, which receivers are told of, and as a failure of the gate. */
function noted(state: AlertState, step: Transition, { labels, url }: AlertContext, nowMs: number): AlertState {
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
