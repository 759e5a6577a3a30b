import type { CheckName } from "../../contract/report.ts";
import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { AlertKind, AlertState } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { AlertChange, SentState } from "../../store/alerts/notices.ts";
import type { NoticeEvent } from "../notify/notification.ts";
import { matches } from "./matching.ts";
import type { Reason } from "./reasons.ts";
import type { AlertingSettings, AlertTarget, ReceiverRoute } from "../settings.ts";

/** An alert that fires, or has ended and is not yet notified to every receiver, with everything that decides on notifying it. */
export interface TrackedAlert {
  readonly id: string;
  readonly check: CheckName;
  readonly slug: string;
  readonly kind: AlertKind;
  /** null once it has ended; its last change then says how. */
  readonly live: AlertState | null;
  /** Changes that are not settled, in order. */
  readonly changes: readonly AlertChange[];
  /** Its target by the settings that hold now; null when it is no longer configured. */
  readonly target: AlertTarget | null;
  /** What it belongs to, open or ended. */
  readonly incident: Incident;
  readonly isSilenced: boolean;
  /** Whether it was silenced at that time. */
  readonly wasSilencedAt: (atMs: number) => boolean;
  /** By receiver. */
  readonly sent: ReadonlyMap<string, SentState>;
}

/** One entry of a notification to come. */
export interface PlannedNotice {
  readonly alertId: string;
  readonly event: NoticeEvent;
  readonly severity: Severity;
  readonly previousSeverity: Severity;
  readonly reason: Reason;
  /** The change whose snapshot it shows; null: the alert as it is now. */
  readonly seq: number | null;
}

/** The changes of an alert that a receiver has not been notified of. */
export type Outstanding =
  /** Nothing, and nothing waits. */
  | { readonly kind: "none" }
  /** Nothing as long as it is silenced. */
  | { readonly kind: "silenced" }
  /** This receiver is notified at `atMs` if no person has taken the alert on by then; null: one has, or it is silenced. */
  | { readonly kind: "escalates"; readonly atMs: number | null }
  /** It ended, and this receiver does not want to hear of it. */
  | { readonly kind: "ended-unsent"; readonly sent: SentState }
  /** It was notified as it is; a reminder is due at `remindAtMs`, null: never. */
  | { readonly kind: "quiet"; readonly sent: SentState; readonly remindAtMs: number | null }
  | {
      readonly kind: "due";
      readonly notices: readonly PlannedNotice[];
      /** The state that the receiver knows when they have gone out. */
      readonly sent: SentState;
      /** The receiver did not know of the alert. */
      readonly isNew: boolean;
      /** The first change among them: groupWait counts from here. */
      readonly sinceMs: number;
    };

/**
 * Returns the changes of `alert` that `route` has not been notified of (CONTRACT 7). Changes are replayed one by one, so that none is lost to a wait;
 * where a silence held any of them back only the outcome counts: what began and ended within it is nothing, what still fires
 * is one `firing`; an alert that was notified before is notified as it is now.
 */
export function outstanding(alert: TrackedAlert, route: ReceiverRoute, nowMs: number): Outstanding {
  const sent = alert.sent.get(route.name) ?? null;
  if (sent?.isEnded === true) return { kind: "none" };
  const afterMs = routedAfterMs(alert, route);
  if (sent === null && afterMs === null) return { kind: "none" };
  if (sent === null && afterMs !== null && afterMs > 0) return outstandingEscalation(alert, route, afterMs, nowMs);
  const pending = alert.changes.filter(({ seq }) => seq > (sent?.seq ?? 0));
  const wasSilenced = alert.isSilenced || pending.some(({ atMs }) => alert.wasSilencedAt(atMs));
  if (alert.live === null) return outstandingEnd(alert, route, sent, pending, wasSilenced, nowMs);
  if (alert.isSilenced) return { kind: "silenced" };
  const first = pending[0];
  const isReplayed = first !== undefined && !wasSilenced;
  const replayed = isReplayed
    ? replay(alert.id, alert.kind, route, sent, pending)
    : catchUp(alert.id, alert.live, route, sent, first === undefined ? "receiver_added" : "silence_ended");
  if (replayed.notices.length === 0) {
    if (sent === null) return { kind: "none" };
    const seq = pending.at(-1)?.seq ?? sent.seq;
    // Below minSeverity it is still open for the receiver, but "still fail" would be wrong, and of less it wants no word.
    const isReminded = wants(route, alert.live.severity) && !isTaken(alert.live);
    return { kind: "quiet", sent: { ...sent, seq }, remindAtMs: isReminded ? remindAtMs(alert, sent) : null };
  }
  return due(alert, route, sent, pending, replayed, nowMs, first?.atMs ?? alert.live.firingAtMs ?? nowMs);
}

/** Returns the outstanding changes of an alert that escalates to this receiver now, before its time. */
export function escalateNow(alert: TrackedAlert, route: ReceiverRoute, nowMs: number): Outstanding {
  return outstandingEscalation(alert, route, 0, nowMs);
}

/** Returns how long after it fires `route` is notified of the alert; 0: at once, null: never. */
export function routedAfterMs({ target, check, slug }: TrackedAlert, route: ReceiverRoute): number | null {
  const routed = target?.receivers.find(({ name }) => name === route.name);
  if (target === null || routed === undefined) return null;
  return route.match === null || matches(route.match, { check, slug, labels: target.labels }) ? routed.afterMs : null;
}

/**
 * Returns whether the receiver gets alerts like this one, at its worst; by escalation, or of what is no longer checked, whether it
 * was notified of it.
 */
export function isRouted(
  settings: Pick<AlertingSettings, "targetOf">,
  route: ReceiverRoute,
  { check, slug, peak }: Pick<AlertState, "check" | "slug" | "peak">,
  isNotified: () => boolean,
): boolean {
  const target = settings.targetOf(check, slug);
  if (target === null) return isNotified();
  const routed = target.receivers.find(({ name }) => name === route.name);
  if (routed === undefined || !wants(route, peak.severity)) return false;
  if (route.match !== null && !matches(route.match, { check, slug, labels: target.labels })) return false;
  return routed.afterMs === 0 || isNotified();
}

/** Returns whether a receiver with this route wants to hear of that severity. */
export function wants(route: ReceiverRoute, severity: Severity): boolean {
  if (severity === "unknown") return route.sendUnknown;
  return compareSeverity(severity, route.minSeverity) >= 0;
}

/**
 * Counted from the transition to firing. A silence at that time holds it back until the silence ends; a severity that the receiver does
 * not want at that time goes out when it becomes as bad as the receiver wants. Changes that it did not see are not replayed.
 */
function outstandingEscalation(alert: TrackedAlert, route: ReceiverRoute, afterMs: number, nowMs: number): Outstanding {
  const { live } = alert;
  if (live === null || !wants(route, live.severity)) return { kind: "none" };
  if (alert.isSilenced || isTaken(live)) return { kind: "escalates", atMs: null };
  const atMs = (live.firingAtMs ?? live.startsAtMs) + afterMs;
  if (atMs > nowMs) return { kind: "escalates", atMs };
  return due(alert, route, null, alert.changes, catchUp(alert.id, live, route, null, "escalation"), nowMs, atMs);
}

/** Returns whether a person has taken it on: it is acknowledged or judged. */
function isTaken({ acknowledgement, judgement }: AlertState): boolean {
  return acknowledgement !== null || judgement !== undefined;
}

interface Replayed {
  readonly notices: readonly PlannedNotice[];
  /** As the receiver knows it afterwards. */
  readonly severity: Severity;
  readonly isEnded: boolean;
}

function outstandingEnd(
  alert: TrackedAlert,
  route: ReceiverRoute,
  sent: SentState | null,
  pending: readonly AlertChange[],
  wasSilenced: boolean,
  nowMs: number,
): Outstanding {
  const last = pending.at(-1);
  if (last === undefined || (sent === null && wasSilenced)) return { kind: "none" };
  const isUnheard = sent !== null && !route.sendResolved;
  const replayed = replay(alert.id, alert.kind, route, sent, wasSilenced || isUnheard ? [last] : pending);
  if (replayed.notices.length > 0) return due(alert, route, sent, pending, replayed, nowMs, pending[0]?.atMs ?? nowMs);
  if (sent === null) return { kind: "none" };
  return { kind: "ended-unsent", sent: { ...sent, seq: last.seq, isEnded: true } };
}

function due(
  alert: TrackedAlert,
  route: ReceiverRoute,
  sent: SentState | null,
  pending: readonly AlertChange[],
  replayed: Replayed,
  nowMs: number,
  sinceMs: number,
): Outstanding {
  const seq = pending.at(-1)?.seq ?? sent?.seq ?? 0;
  const { severity, isEnded } = replayed;
  return {
    kind: "due",
    notices: replayed.notices,
    sent: { receiver: route.name, alertId: alert.id, seq, severity, sentAtMs: nowMs, isEnded },
    isNew: sent === null,
    sinceMs,
  };
}

function replay(
  alertId: string,
  kind: AlertKind,
  route: ReceiverRoute,
  sent: SentState | null,
  pending: readonly AlertChange[],
): Replayed {
  const notices: PlannedNotice[] = [];
  let known: Severity | null = sent?.severity ?? null;
  let isEnded = false;
  for (const change of pending) {
    const { event, seq, severity } = change;
    const reason = change.reason as Reason;
    const previousSeverity = known ?? "ok";
    if (event === "resolved" || event === "recovered") {
      if (known === null) continue;
      isEnded = true;
      if (route.sendResolved) notices.push({ alertId, event, severity, previousSeverity, reason, seq });
      continue;
    }
    if (!wants(route, severity) || severity === known) continue;
    if (known === null) {
      const isBeginning = event === "firing" || event === "unknown";
      const began = kind === "unknown" ? "unknown" : "firing";
      notices.push({
        alertId,
        event: began,
        severity,
        previousSeverity,
        reason: isBeginning ? reason : "min_severity_reached",
        seq,
      });
    } else {
      notices.push({ alertId, event: direction(severity, known), severity, previousSeverity, reason, seq });
    }
    known = severity;
  }
  return { notices, severity: known ?? "ok", isEnded };
}

/** Returns the one step from what the receiver knows to what is. */
function catchUp(
  alertId: string,
  live: AlertState,
  route: ReceiverRoute,
  sent: SentState | null,
  reason: "silence_ended" | "receiver_added" | "escalation",
): Replayed {
  const { severity } = live;
  const known = sent?.severity ?? null;
  if (!wants(route, severity) || severity === known) return { notices: [], severity: known ?? "ok", isEnded: false };
  const began = live.kind === "unknown" ? "unknown" : "firing";
  const event = known === null ? began : direction(severity, known);
  return {
    notices: [{ alertId, event, severity, previousSeverity: known ?? "ok", reason, seq: null }],
    severity,
    isEnded: false,
  };
}

function direction(severity: Severity, known: Severity): "escalated" | "deescalated" {
  return compareSeverity(severity, known) > 0 ? "escalated" : "deescalated";
}

function remindAtMs({ target }: TrackedAlert, sent: SentState): number | null {
  const repeatIntervalMs = target?.policy.repeatIntervalMs ?? 0;
  return repeatIntervalMs === 0 ? null : sent.sentAtMs + repeatIntervalMs;
}
