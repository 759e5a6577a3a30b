import { minuteMs } from "../../base/time.ts";
import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { QueuedAlert } from "../../store/alerts/queued.ts";
import type { NoticeEvent } from "../notify/notification.ts";
import { recipientsOf } from "../deliver/receiver.ts";
import type { AlertingSettings, AlertTarget } from "../settings.ts";
import type { Reason } from "./reasons.ts";
import { eventsOf } from "./transition.ts";
import { routedAfterMs, wants, type RoutedAddress } from "./routing.ts";

/** An alert that fires, or an ended one whose end a receiver may not know. */
export interface HeldAlert extends Alert {
  /** null: it is no longer configured. */
  readonly target: AlertTarget | null;
  readonly isSilenced: boolean;
  readonly wasSilencedAt: (atMs: number) => boolean;
}

export type DueSettings = Pick<AlertingSettings, "groupWaitMs" | "groupIntervalMs" | "receivers" | "before">;

export interface Now {
  readonly nowMs: number;
  /** The start, or when the clock was last set back. A wait that began in the future counts from here. */
  readonly forwardSinceMs: number;
}

export interface DueNotice {
  readonly alertId: string;
  readonly event: NoticeEvent;
  readonly severity: Severity;
  readonly previousSeverity: Severity;
  readonly reason: Reason;
}

/** An alert that could not be delivered is due again no sooner than this. */
const leastAgainMs = 5 * minuteMs;

export interface Change {
  readonly kind: "begins" | "changes" | "ends" | "escalates";
  readonly notice: DueNotice;
  readonly sinceMs: number;
  /** Set for an escalation and for an alert that could not be delivered; null: it is due with its group. */
  readonly ownAtMs: number | null;
}

/** The difference between an alert and what was queued of it for a receiver. */
export type Difference =
  /** The receiver does not get it, or knows its end. */
  | { readonly kind: "none" }
  /** The receiver does not want its end. */
  | { readonly kind: "over" }
  /** It waits for the end of a silence, or for the person who took it. `isOpen`: silenced, and not an escalation. */
  | { readonly kind: "held"; readonly isOpen: boolean }
  /** The receiver knows it as it is. */
  | { readonly kind: "same"; readonly repeatMs: number | null }
  | Change;

/** An address of a receiver at an instant, with the settings that hold for it. */
export interface AddressNow extends RoutedAddress, Now {
  readonly settings: DueSettings;
}

export function differenceOf(
  alert: HeldAlert,
  row: QueuedAlert | null,
  isEscalated: boolean,
  now: AddressNow,
): Difference {
  const { route } = now;
  const { id: alertId, severity, changed, target } = alert;
  const queued = row?.severity ?? null;
  const events = eventsOf[alert.kind];
  const repeatMs = target?.policy.repeatIntervalMs ?? 0;
  const givenUpAtMs = alert.end === null ? (row?.notDeliveredAtMs ?? null) : null;
  const againAtMs = givenUpAtMs === null ? null : waitEndsAtMs(givenUpAtMs, Math.max(repeatMs, leastAgainMs), now);
  const change = (kind: Change["kind"], event: NoticeEvent, cause: string, sinceMs: number): Change => {
    const reason = againAtMs === null ? (cause as Reason) : "not_delivered";
    const notice = { alertId, event, severity, previousSeverity: queued ?? "ok", reason };
    return { kind, notice, sinceMs, ownAtMs: againAtMs };
  };
  if (row?.isEnded === true) return { kind: "none" };
  if (alert.end !== null) {
    if (queued === null) return { kind: "none" };
    if (!route.sendResolved) return { kind: "over" };
    return change("ends", events.over, alert.reason, alert.end.storedAtMs ?? alert.end.atMs);
  }
  const afterMs = routedAfterMs(alert, target, route);
  const isWanted = afterMs !== null && wants(route, severity);
  if (queued === null && !isWanted) return { kind: "none" };
  const isTaken = alert.acknowledgement !== null || alert.judgement !== undefined;
  const firingAtMs = alert.firingAtMs ?? alert.startsAtMs;
  if (queued === null && afterMs !== null && afterMs > 0 && againAtMs === null) {
    if (alert.isSilenced || isTaken) return { kind: "held", isOpen: false };
    const escalation = change("escalates", events.begun, "escalation", now.nowMs);
    if (!isEscalated) return { ...escalation, ownAtMs: waitEndsAtMs(firingAtMs, afterMs, now) };
  }
  if (alert.isSilenced) return { kind: "held", isOpen: true };
  const changedAtMs = changed?.atMs ?? firingAtMs;
  if (queued === null) {
    const isReached = route.minSeverity === "fail" && changed !== undefined && changed.atMs > changed.firedAtMs;
    const sinceMs = isReached ? changedAtMs : (changed?.firedAtMs ?? changedAtMs);
    const reason = alert.wasSilencedAt(sinceMs)
      ? "silence_ended"
      : isAdded(alert, now, sinceMs)
        ? "receiver_added"
        : isReached
          ? "min_severity_reached"
          : (changed?.firedReason ?? alert.reason);
    return change("begins", events.begun, reason, sinceMs);
  }
  // Below minSeverity it stays open for the receiver, without news or reminders.
  if (!isWanted) return { kind: "same", repeatMs: null };
  if (severity === queued) return { kind: "same", repeatMs: isTaken || repeatMs === 0 ? null : repeatMs };
  const isWorse = compareSeverity(severity, queued) > 0;
  const reason = alert.wasSilencedAt(changedAtMs) ? "silence_ended" : isWorse ? "severity_rose" : "severity_fell";
  return change("changes", isWorse ? "escalated" : "deescalated", reason, changedAtMs);
}

/** Returns whether the settings before the last reload did not send it to this address. */
function isAdded(alert: Alert, { receiver, recipient, settings: { before } }: AddressNow, sinceMs: number): boolean {
  if (before === undefined || sinceMs > before.untilMs) return false;
  const was = before.settings.receivers.find(({ name }) => name === receiver);
  if (was === undefined || !recipientsOf(was).includes(recipient) || !wants(was, alert.severity)) return true;
  return routedAfterMs(alert, before.settings.targetOf(alert.check, alert.slug), was) === null;
}

/** Returns when a wait from `fromMs` ends. It begins again when the clock was set back to before `fromMs`. */
export function waitEndsAtMs(fromMs: number, lengthMs: number, { nowMs, forwardSinceMs }: Now): number {
  return (fromMs > nowMs ? Math.min(forwardSinceMs, nowMs) : fromMs) + lengthMs;
}
