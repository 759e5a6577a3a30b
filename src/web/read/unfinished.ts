import { isGateAlert, releaseOf } from "../../alerting/decide/gate.ts";
import { isGateUsed } from "../../alerting/gate-use.ts";
import { dayMs } from "../../base/time.ts";
import type { GateFailure } from "../../store/alerts/gate.ts";
import type { Running } from "./running.ts";

/** What is left to do of incidents that have ended: a gate is still shut, or nobody has judged a failure (CONTRACT 15). */
export interface Unfinished {
  /** Their numbers. */
  readonly incidents: ReadonlySet<number>;
  /** Organizations whose gate an alert that is over still holds. */
  readonly gates: ReadonlySet<string>;
  /** Alerts that nobody has judged. */
  readonly unjudged: number;
}

// A failure that was not judged within a week is no longer asked about.
const askedForMs = 7 * dayMs;

/** Reads it; nothing is left where nobody goes by gates; `failures` are those that no hand has released; whether those that still fire are among them does not matter. */
export async function readUnfinished(
  { store, settings, clock }: Pick<Running, "store" | "settings" | "clock">,
  failures: readonly GateFailure[],
): Promise<Unfinished> {
  const rules = settings();
  const nowMs = clock.nowMs();
  if (!(await isGateUsed(store, rules, nowMs))) return { incidents: new Set(), gates: new Set(), unjudged: 0 };
  const left = failures.filter(({ end }) => end !== null);
  const open = new Set((await store.incidents.open()).map(({ number }) => number));
  const incidents = new Set<number>();
  const gates = new Set<string>();
  let unjudged = 0;
  for (const failure of left) {
    const { alert } = failure;
    const isHeld = releaseOf(failure, rules.gateOf(alert.slug)) === null;
    const isAsked = isGateAlert(alert) && alert.judgement === undefined && isRecent(failure, nowMs);
    if (isHeld) gates.add(alert.slug);
    if (isAsked || (isHeld && alert.judgement === undefined)) unjudged++;
    const number = alert.incident?.number;
    if (number !== undefined && !open.has(number) && (isHeld || isAsked)) incidents.add(number);
  }
  return { incidents, gates, unjudged };
}

function isRecent({ end }: GateFailure, nowMs: number): boolean {
  return end !== null && nowMs - end.atMs <= askedForMs;
}
