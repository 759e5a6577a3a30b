import type { AlertEnd, Alert } from "../store/alerts/alerts.ts";
import type { StoreParts } from "../store/store-parts.ts";
import { changeOfGate, isGateAlert } from "./decide/gate.ts";
import type { Transition } from "./decide/transition.ts";
import type { AlertingSettings, AlertTarget } from "./settings.ts";

/** What a step is written with. */
export interface StepFacts {
  readonly step: Transition;
  readonly context: Pick<AlertTarget, "labels" | "url">;
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

/** Writes the alerts as a step leaves them, and what it means for the gate, in the transaction of what it follows from. */
export async function writeStep(parts: StoreParts, { step, context, settings, nowMs }: StepFacts): Promise<void> {
  for (const state of step.live) await parts.alerts.save(noted(state, step, context, nowMs));
  for (const state of step.gone) {
    // What never fired is forgotten.
    if (state.state === "pending") await parts.alerts.remove(state.id);
    else await end(parts, state, { ...endOf(step, state), storedAtMs: nowMs }, { settings, nowMs });
  }
}

/** Ends an alert, and records what that means for the gate. */
async function end(
  parts: StoreParts,
  alert: Alert,
  given: AlertEnd,
  { settings, nowMs }: Pick<StepFacts, "settings" | "nowMs">,
): Promise<void> {
  const { slug } = alert;
  const before = alert.failure === undefined ? [] : await parts.gate.failures(slug);
  const after = before.map((one) => (one.id === alert.id ? { ...one, end: given } : one));
  const { ended, isOpened } = changeOfGate(before, after, settings.gateOf(slug));
  await parts.alerts.save({ ...alert, end: isOpened ? { ...given, opensGate: true } : given });
  for (const { id, how } of ended) await parts.log.released([id], { by: null, comment: null, how, atMs: nowMs });
}

/** Returns the alert with its last change, which receivers are told of, and as a failure of the gate. */
function noted(
  state: Alert,
  step: Transition,
  { labels, url }: Pick<AlertTarget, "labels" | "url">,
  nowMs: number,
): Alert {
  const change = step.changes.find(({ alert }) => alert.id === state.id);
  if (change === undefined) return state;
  const { event, reason } = change;
  const isFailure = (event === "firing" || event === "escalated") && state.severity === "fail" && isGateAlert(state);
  const fired = state.changed ?? { firedAtMs: nowMs, firedReason: reason };
  const changed = { ...fired, atMs: nowMs, reason, labels, url };
  return { ...state, changed, ...(isFailure ? { failure: { atMs: nowMs, releasedAtMs: null } } : {}) };
}

/** Returns how an alert ends with this step. */
function endOf(step: Transition, { id, reason }: Alert): AlertEnd {
  const atMs = step.changes.find(({ alert, endsAtMs }) => alert.id === id && endsAtMs !== null)?.endsAtMs ?? 0;
  return { atMs, isByRun: reason !== "organization_removed" && reason !== "check_removed" };
}
