import { compareSeverity, worstSeverity, type Severity } from "../../contract/severity.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import { addressKey, type Address } from "../../store/alerts/outbox.ts";
import type { Queued, QueuedIncident } from "../../store/alerts/queued.ts";
import { excessStoppedAtMs } from "../incident-summary.ts";
import type { NoticeEvent } from "../notify/notification.ts";
import {
  differenceOf,
  waitEndsAtMs,
  type AddressNow,
  type Change,
  type Difference,
  type DueNotice,
  type DueSettings,
  type HeldAlert,
  type Now,
} from "./difference.ts";
import type { Reason } from "./reasons.ts";
import { addressesOf } from "./routing.ts";

export interface HeldIncident {
  readonly incident: Incident;
  readonly alerts: readonly HeldAlert[];
}

/** An incident and an address that is notified of it. */
interface Addressed extends Address {
  readonly incident: number;
}

/** A notification of one incident to one address, due now. */
export interface DueNotification extends Addressed {
  /** It names the fleet verdict. */
  readonly isOfVerdict: boolean;
  readonly notices: readonly DueNotice[];
}

/** What is due now, and what to store with it. */
export interface Due {
  readonly notifications: readonly DueNotification[];
  readonly queued: Queued;
  /** Changes that wait, by address and alert. An act on the alert is sent after them. */
  readonly waiting: readonly (Address & { readonly alertId: string; readonly sinceMs: number })[];
  /** The alerts of each receiver's part of the incident, with silenced ones. */
  readonly parts: readonly (Addressed & { readonly part: readonly string[] })[];
  /** When something is due next; Infinity: nothing is. */
  readonly nextAtMs: number;
  /** A silenced alert waits for the end of its silence. */
  readonly hasSilenced: boolean;
}

interface Item {
  readonly held: HeldAlert;
  /** The severity that was queued last; null: none. */
  readonly queued: Severity | null;
  readonly difference: Difference;
}

type Changed = Item & { readonly difference: Change };

/** An incident for one address. */
interface Part extends AddressNow {
  readonly incident: Incident;
  readonly items: readonly Item[];
  readonly known: QueuedIncident;
  /** The alerts that escalate to the receiver go together, when the first of them is due. */
  readonly escalatesAtMs: number;
  /** Firing alerts, and ended ones whose end the receiver does not know. */
  readonly open: readonly Item[];
  /** The ones that are not silenced. */
  readonly members: readonly Item[];
  /** An alert of it fires, silenced or not. */
  readonly hasFiring: boolean;
}

interface Step {
  readonly notices: readonly DueNotice[];
  readonly nextAtMs: number;
  readonly waiting: readonly Changed[];
  /** What the receiver knows then, besides what every notification changes. */
  readonly known?: Partial<QueuedIncident>;
}

const nothingKnown = {
  lastNewAtMs: 0,
  members: 0,
  knowsVerdict: false,
  isEscalated: false,
  knowsStop: false,
  knownLook: 0,
  acknowledgedKey: null,
};

/**
 * Returns what is due for each receiver: the difference between the alerts and what was queued for it (CONTRACT 7).
 * Pure. A difference is not due again once `queued` is stored.
 */
export function due(holds: readonly HeldIncident[], queued: Queued, settings: DueSettings, now: Now): Due {
  const rows = new Map(queued.alerts.map((one) => [`${one.alertId} ${addressKey(one)}`, one]));
  const incidents = new Map(queued.incidents.map((one) => [`${one.incident} ${addressKey(one)}`, one]));
  const done = addressesOf(settings.receivers).flatMap((address) => {
    const key = addressKey(address);
    const addressNow = { ...address, ...now, settings };
    const { receiver, recipient } = address;
    return holds.map(({ incident, alerts }) => {
      const { number } = incident;
      const known = incidents.get(`${number} ${key}`) ?? {
        ...nothingKnown,
        lastAtMs: now.nowMs,
        receiver,
        recipient,
        incident: number,
      };
      const items = alerts.map((held) => {
        const row = rows.get(`${held.id} ${key}`) ?? null;
        const difference = differenceOf(held, row, known.isEscalated, addressNow);
        return { held, queued: row?.severity ?? null, difference };
      });
      return dueOfPart({ ...addressNow, incident, known, items, ...partOf(items, now) });
    });
  });
  return {
    notifications: done.flatMap(({ notifications }) => notifications),
    queued: {
      alerts: done.flatMap((one) => one.queued.alerts),
      incidents: done.flatMap((one) => one.queued.incidents),
    },
    waiting: done.flatMap(({ waiting }) => waiting),
    parts: done.flatMap(({ parts }) => parts),
    nextAtMs: earliest(done.map(({ nextAtMs }) => nextAtMs)),
    hasSilenced: done.some(({ hasSilenced }) => hasSilenced),
  };
}

function partOf(
  items: readonly Item[],
  { nowMs }: Now,
): Pick<Part, "open" | "members" | "hasFiring" | "escalatesAtMs"> {
  const escalatesAtMs = earliest(
    items.flatMap(({ difference }) => (difference.kind === "escalates" ? (difference.ownAtMs ?? []) : [])),
  );
  const open = items.filter(({ queued, difference }) => {
    if (difference.kind === "escalates") return escalatesAtMs <= nowMs;
    if (difference.kind === "held") return queued !== null || difference.isOpen;
    return difference.kind !== "none" && difference.kind !== "over";
  });
  const members = open.filter(({ held }) => held.end !== null || !held.isSilenced);
  return { open, members, hasFiring: open.some(({ held }) => held.end === null), escalatesAtMs };
}

function dueOfPart(part: Part): Due {
  const { receiver, recipient, incident, items, known, open, members, hasFiring, nowMs } = part;
  const address = { receiver, recipient, incident: incident.number };
  const changes = changesOf(part);
  const step = changes.notices.length > 0 ? changes : { ...changes, ...otherNews(part) };
  const { notices } = step;
  const isOfVerdict = incident.verdict !== null && (hasFiring || known.knowsVerdict);
  const isNew = notices.some(({ event }) => event === "firing" || event === "unknown");
  const knownAfter: QueuedIncident = {
    ...known,
    lastAtMs: nowMs,
    lastNewAtMs: isNew ? nowMs : known.lastNewAtMs,
    members: members.length,
    knowsVerdict: known.knowsVerdict || isOfVerdict,
    isEscalated: known.isEscalated || notices.some(({ reason }) => reason === "escalation"),
  };
  const stored = notices.length > 0 ? knownAfter : step.known === undefined ? [] : known;
  const changed = [
    // A reminder repeats what the receiver knows.
    ...notices
      .filter(({ event }) => event !== "reminder" && event !== "acknowledged")
      .map(({ alertId, severity, event }) => ({ alertId, severity, isEnded: isEndEvent(event) })),
    ...items.flatMap(({ held, queued: severity, difference }) =>
      difference.kind === "over" ? [{ alertId: held.id, severity, isEnded: true }] : [],
    ),
  ];
  return {
    notifications: notices.length === 0 ? [] : [{ ...address, isOfVerdict, notices }],
    queued: {
      alerts: changed.map((one) => ({ ...one, ...address, queuedAtMs: nowMs, notDeliveredAtMs: null })),
      incidents: [stored].flat().map((one) => ({ ...one, ...step.known })),
    },
    waiting: step.waiting.map(({ held, difference: { sinceMs } }) => ({
      receiver,
      recipient,
      alertId: held.id,
      sinceMs,
    })),
    parts: [{ ...address, part: open.map(({ held }) => held.id) }],
    nextAtMs: step.nextAtMs,
    hasSilenced: items.some(({ held, difference }) => difference.kind === "held" && held.isSilenced),
  };
}

/**
 * A change waits for groupWait, a new alert also until groupInterval after the last new one. When one is due, each
 * ready one goes too. When none is due or waits, reminders go. A new fleet verdict is due at once. After it, and in
 * `unreachable`, new alerts are due when the part's members have doubled, a severity when it is worse than any that was
 * sent, and ends when all have ended; Infinity: such a change is not due by itself, and is looked at again with others.
 */
function changesOf(part: Part): Step {
  const { items, known, settings, incident, members, hasFiring, nowMs } = part;
  const changed = items.filter((item): item is Changed => "notice" in item.difference);
  const groupedAtMs = ({ sinceMs }: Change): number => waitEndsAtMs(sinceMs, settings.groupWaitMs, part);
  const newFromMs = waitEndsAtMs(known.lastNewAtMs, settings.groupIntervalMs, part);
  const isGrouped = incident.verdict !== null || incident.family === "unreachable";
  const isVerdictNew = hasFiring && incident.verdict !== null && !known.knowsVerdict;
  const worst = worstSeverity(items.flatMap(({ queued }) => queued ?? []));
  // An alert that fires again within groupWait keeps the incident open.
  const ends = changed.flatMap(({ difference }) => (difference.kind === "ends" ? difference : []));
  const overAtMs = Math.max(0, ...ends.map(groupedAtMs));
  function dueAtMs(change: Change): number {
    if (change.kind === "escalates") return part.escalatesAtMs;
    if (isGrouped && change.kind === "ends") return hasFiring ? Infinity : overAtMs;
    if (isVerdictNew) return nowMs;
    if (change.ownAtMs !== null) return change.ownAtMs;
    if (change.kind === "begins")
      return isGrouped && members.length < 2 * known.members ? Infinity : Math.max(groupedAtMs(change), newFromMs);
    return isGrouped && compareSeverity(change.notice.severity, worst) <= 0 ? Infinity : groupedAtMs(change);
  }
  const timed = changed.map((item) => ({ item, atMs: dueAtMs(item.difference) })).filter(({ atMs }) => atMs < Infinity);
  const isFlushed = timed.some(({ atMs }) => atMs <= nowMs);
  const { dueNow = [], dueLater = [] } = Object.groupBy(timed, ({ item: { difference }, atMs }) => {
    const isReady = difference.ownAtMs === null && (difference.kind !== "begins" || newFromMs <= nowMs);
    return isFlushed && (atMs <= nowMs || isReady) ? "dueNow" : "dueLater";
  });
  const waiting = dueLater.flatMap(({ item }) => (item.difference.ownAtMs === null ? [item] : []));
  const nextAtMs = earliest(dueLater.map(({ atMs }) => atMs));
  const notices = [
    ...dueNow
      .toSorted((one, other) => one.item.difference.sinceMs - other.item.difference.sinceMs)
      .map(({ item }) => item.difference.notice),
    ...(isVerdictNew
      ? items.flatMap((item) => (item.difference.kind === "same" ? remind(item, "one_cause") : []))
      : []),
  ];
  const reminded = items.flatMap((item) => {
    const { difference } = item;
    return difference.kind === "same" && difference.repeatMs !== null ? [{ item, repeatMs: difference.repeatMs }] : [];
  });
  if (notices.length > 0 || waiting.length > 0 || reminded.length === 0) return { notices, waiting, nextAtMs };
  const againAtMs = waitEndsAtMs(known.lastAtMs, earliest(reminded.map(({ repeatMs }) => repeatMs)), part);
  if (againAtMs > nowMs) return { notices, waiting, nextAtMs: Math.min(nextAtMs, againAtMs) };
  return { waiting, nextAtMs, notices: reminded.flatMap(({ item }) => remind(item, "repeat_interval")) };
}

function remind({ held, queued: severity }: Item, reason: Reason, event: NoticeEvent = "reminder"): DueNotice[] {
  return severity === null ? [] : [{ alertId: held.id, event, severity, previousSeverity: severity, reason }];
}

/** Other news of an incident that the receiver knows. */
function otherNews({ route, known, incident, items, open, members }: Part): Partial<Step> {
  const notify = (known: Partial<QueuedIncident>, reason: Reason, event?: NoticeEvent): Partial<Step> => {
    const notices = members.flatMap((item) => (item.held.end === null ? remind(item, reason, event) : []));
    return notices.length === 0 ? {} : { notices, known };
  };
  if (route.takesAcknowledgements === true) {
    const acts = open.flatMap(({ held: alert }) => (alert.end === null ? [alert.acknowledgement] : []));
    const isAcknowledged = acts.length > 0 && acts.every((act) => act !== null);
    const acknowledgedKey = isAcknowledged ? incident.outlived : null;
    if (acknowledgedKey === known.acknowledgedKey) return {};
    // The receiver knows its own acknowledgements. No message takes one back.
    const isKnown = acknowledgedKey === null || acts.every((act) => act?.receiver === route.name);
    return isKnown ? { known: { acknowledgedKey } } : notify({ acknowledgedKey }, "acknowledged", "acknowledged");
  }
  if (route.hasThreads !== true) return {};
  const shown = items.flatMap(({ held }) => (held.end === null && !held.isSilenced ? held : []));
  if (!known.knowsStop && excessStoppedAtMs(shown) !== null) return notify({ knowsStop: true }, "excess_stopped");
  const look = incident.secondOpinion?.look ?? 0;
  return look > known.knownLook ? notify({ knownLook: look }, "second_opinion") : {};
}

export function isEndEvent(event: string): boolean {
  return event === "resolved" || event === "recovered";
}

function earliest(times: readonly number[]): number {
  return times.reduce((first, atMs) => Math.min(first, atMs), Infinity);
}
