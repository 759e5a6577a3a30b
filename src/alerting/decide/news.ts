import type { SentState } from "../../store/alerts/notices.ts";
import type { Outstanding, PlannedNotice, TrackedAlert } from "./outstanding.ts";

/** An alert with the changes that one receiver has not been notified of. */
export interface Item {
  readonly alert: TrackedAlert;
  readonly open: Outstanding;
}

/** An item that goes out now. */
export interface DueItem {
  readonly alert: TrackedAlert;
  readonly notices: readonly PlannedNotice[];
  /** The change that has been notified with it. */
  readonly sent: SentState;
  readonly isNew: boolean;
}

/** What one receiver is sent now in one notification, none when it is empty, and when to look again. */
export interface ReceiverNews {
  readonly items: readonly DueItem[];
  readonly nextAtMs: number | null;
}

/** Returns whether the alert belongs to the fleet verdict: the spike of an organization that is no drill (CONTRACT 7). */
export function isFleetAlert(alert: Pick<TrackedAlert, "check" | "kind" | "target">): boolean {
  return alert.check === "dead-asset-spike" && alert.kind === "verdict" && !isDrill(alert);
}

/** Returns whether the alert is one of `flatline drill`. */
export function isDrill({ target }: Pick<TrackedAlert, "target">): boolean {
  return target?.isDrill === true;
}

/** Returns when a pause that began at `fromMs` ends; at once where it never began, or where the wall clock went back behind it. */
export function pauseEnd(fromMs: number | null, lengthMs: number, nowMs: number): number {
  return fromMs === null || fromMs > nowMs ? nowMs : fromMs + lengthMs;
}

/** Returns the item that reminds of an alert which was notified before. */
export function remind(
  alert: TrackedAlert,
  sent: SentState,
  nowMs: number,
  reason: "repeat_interval" | "fleet_began",
): DueItem {
  const { severity } = sent;
  return {
    alert,
    notices: [{ alertId: alert.id, event: "reminder", severity, previousSeverity: severity, reason, seq: null }],
    sent: { ...sent, sentAtMs: nowMs },
    isNew: false,
  };
}

/** Returns the earliest of the times; null when there is none. */
export function earliest(times: Iterable<number | null>): number | null {
  let first: number | null = null;
  for (const atMs of times) if (atMs !== null && (first === null || atMs < first)) first = atMs;
  return first;
}
