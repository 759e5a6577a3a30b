import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import { addressKey, type Address } from "../../store/alerts/outbox.ts";
import type { Queued, QueuedAlert, QueuedIncident } from "../../store/alerts/queued.ts";
import { excessStoppedAtMs } from "../incident-summary.ts";
import type { NoticeEvent } from "../notify/notification.ts";
import {
  differenceOf,
  endOf,
  type Difference,
  type DueNotice,
  type DueSettings,
  type HeldAlert,
  type Now,
} from "./difference.ts";
import type { Reason } from "./reasons.ts";
import { addressesOf, type RoutedAddress } from "./routing.ts";

/** What holds of an incident. */
export interface HeldIncident {
  readonly incident: Incident;
  readonly alerts: readonly HeldAlert[];
}

/** A notification to be formed now: of one incident, to one address. */
export interface DueNotification extends Address {
  readonly incident: Incident;
  /** It names the fleet verdict. */
  readonly isOfVerdict: boolean;
  readonly notices: readonly DueNotice[];
  /** The alerts of the receiver's part of the incident, silenced ones, too. */
  readonly part: readonly string[];
}

/** What is due now, and what is to be remembered with it. */
export interface Due {
  readonly notifications: readonly DueNotification[];
  readonly queued: Queued;
  /** Differences that wait to be told, by address and alert: an act on the alert is told after them. */
  readonly waiting: readonly (Address & { readonly alertId: string; readonly sinceMs: number })[];
  readonly parts: readonly Pick<DueNotification, "receiver" | "recipient" | "incident" | "part">[];
  /** When something is due next, if nothing else happens; null: nothing is. */
  readonly nextAtMs: number | null;
  /** The end of a silence matters. */
  readonly hasSilenced: boolean;
}

interface Item {
  readonly held: HeldAlert;
  /** The severity that was queued last; null: none was. */
  readonly told: Severity | null;
  readonly is: Difference;
}

type Changed = Item & { readonly is: Extract<Difference, { readonly sinceMs: number }> };

/** An incident as one address is to be told of it. */
interface Part extends Now, RoutedAddress {
  readonly settings: DueSettings;
  readonly incident: Incident;
  readonly items: readonly Item[];
  readonly known: QueuedIncident | null;
  /** Alerts of it that fire, and those whose end it was not told. */
  readonly all: readonly Item[];
  /** Those of them that are not silenced. */
  readonly members: readonly Item[];
  /** Any of it fires, silenced or not. */
  readonly isLasting: boolean;
}

/** What goes out of a part now, and when to look again. */
interface Step {
  readonly notices: readonly DueNotice[];
  readonly nextAtMs: number | null;
  /** What waits for its time. */
  readonly waiting: readonly Changed[];
  /** What the receiver knows then, beside what every notification changes. */
  readonly known?: Partial<QueuedIncident>;
}

const nothing: Step = { notices: [], nextAtMs: null, waiting: [] };

/**
 * Returns what each receiver is to be told now: the difference between what holds and what was queued for it (CONTRACT 7). Pure, and
 * what is queued with it is not due again.
 */
export function due(holds: readonly HeldIncident[], queued: Queued, settings: DueSettings, now: Now): Due {
  const alerts = new Map(queued.alerts.map((one) => [`${one.alertId} ${addressKey(one)}`, one]));
  const incidents = new Map(queued.incidents.map((one) => [`${one.incident} ${addressKey(one)}`, one]));
  const done = addressesOf(settings.receivers).flatMap((address) => {
    const key = addressKey(address);
    return holds.map(({ incident, alerts: members }) => {
      const known = incidents.get(`${incident.number} ${key}`) ?? null;
      const items = withEscalated(
        members.map((held) => {
          const row = alerts.get(`${held.id} ${key}`) ?? null;
          return {
            held,
            told: row?.severity ?? null,
            is: differenceOf(held, row, known?.isEscalated === true, { address, settings, now }),
          };
        }),
        now.nowMs,
      );
      return dueOfPart({ ...now, ...address, settings, incident, known, items, ...partOf(items) });
    });
  });
  return {
    notifications: done.flatMap(({ notification }) => notification ?? []),
    queued: {
      alerts: done.flatMap((one) => one.alerts),
      incidents: done.flatMap(({ known }) => known ?? []),
    },
    waiting: done.flatMap(({ waiting }) => waiting),
    parts: done.map(({ part }) => part),
    nextAtMs: earliest(done.map(({ nextAtMs }) => nextAtMs)),
    hasSilenced: done.some(({ hasSilenced }) => hasSilenced),
  };
}

function dueOfPart(part: Part) {
  const { receiver, recipient, incident, items, known, all, members, isLasting, nowMs } = part;
  const address = { receiver, recipient };
  const isBroad = incident.verdict !== null || incident.family === "unreachable";
  const changes = !isBroad ? separate(part) : isLasting ? broad(part) : over(part);
  const step = changes.notices.length > 0 ? changes : { ...changes, ...otherNews(part) };
  const going = new Set(step.notices.map(({ alertId }) => alertId));
  const isNew = step.notices.some(({ event }) => event === "firing" || event === "unknown");
  const isOfVerdict = incident.verdict !== null && (isLasting || known?.knowsVerdict === true);
  const before: QueuedIncident = known ?? {
    ...address,
    incident: incident.number,
    lastAtMs: nowMs,
    lastNewAtMs: nowMs,
    members: 0,
    knowsVerdict: false,
    isEscalated: false,
    knowsStop: false,
    knownLook: 0,
    acknowledgedKey: null,
  };
  const after: QueuedIncident = {
    ...before,
    lastAtMs: nowMs,
    lastNewAtMs: isNew ? nowMs : before.lastNewAtMs,
    members: members.length,
    knowsVerdict: before.knowsVerdict || isOfVerdict,
    isEscalated: before.isEscalated || step.notices.some(({ reason }) => reason === "escalation"),
    ...step.known,
  };
  const shown = all.map(({ held }) => held.id);
  return {
    notification:
      step.notices.length === 0
        ? null
        : { ...address, incident, isOfVerdict, notices: step.notices, part: [...new Set([...shown, ...going])] },
    part: { ...address, incident, part: shown },
    known: step.notices.length > 0 ? after : step.known === undefined ? null : { ...before, ...step.known },
    alerts: [
      // What is said again is known already.
      ...step.notices
        .filter(({ event }) => event !== "reminder" && event !== "acknowledged")
        .map(({ alertId, severity, event }) => ({ alertId, severity, isEnded: isEndEvent(event) })),
      ...items.flatMap(({ held: alert, told, is }) =>
        is.kind === "over" ? [{ alertId: alert.id, severity: told, isEnded: true }] : [],
      ),
    ].map((one): QueuedAlert => ({
      ...one,
      ...address,
      incident: incident.number,
      queuedAtMs: nowMs,
      notDeliveredAtMs: null,
    })),
    waiting: step.waiting
      .filter(({ held }) => !going.has(held.id))
      .map(({ held, is }) => ({ ...address, alertId: held.id, sinceMs: is.sinceMs })),
    nextAtMs: earliest([step.nextAtMs, ...items.map(({ is }) => (is.kind === "escalates" ? is.atMs : null))]),
    hasSilenced: items.some(({ held, is }) => is.kind === "held" && held.isSilenced),
  };
}

/** An incident escalates as one: with the first of its alerts go all that escalate to the receiver. */
function withEscalated(items: readonly Item[], nowMs: number): readonly Item[] {
  if (!items.some(({ is }) => is.kind === "escalates" && is.atMs <= nowMs)) return items;
  return items.map((item): Item => {
    const alert = item.held;
    if (item.is.kind !== "escalates") return item;
    const event = alert.kind === "unknown" ? "unknown" : "firing";
    const { id: alertId, severity } = alert;
    const notice: DueNotice = { alertId, event, severity, previousSeverity: "ok", reason: "escalation" };
    return { ...item, is: { kind: "begins", notice, sinceMs: nowMs, againAtMs: nowMs } };
  });
}

function partOf(items: readonly Item[]): Pick<Part, "all" | "members" | "isLasting"> {
  const all = items.filter(isOfPart);
  const members = all.filter(({ held }) => held.end !== null || !held.isSilenced);
  return { all, members, isLasting: all.some(({ held }) => held.end === null) };
}

function isOfPart({ told, is }: Item): boolean {
  if (is.kind === "none" || is.kind === "over" || is.kind === "escalates") return false;
  return told !== null || is.kind !== "held" || is.isOpen;
}

const isChanged = (item: Item): item is Changed =>
  item.is.kind === "begins" || item.is.kind === "changes" || item.is.kind === "ends";
const noticesOf = (items: readonly Changed[]): DueNotice[] =>
  items.toSorted((left, right) => left.is.sinceMs - right.is.sinceMs).map(({ is }) => is.notice);

/**
 * Alerts that are told one by one: a change waits for groupWait, a new alert also until groupInterval has passed since the last new
 * one; what goes out takes along everything that may go.
 */
function separate(part: Part): Step {
  const newFromMs = newFrom(part);
  const timed = part.items.filter(isChanged).map((item) => {
    const groupedAtMs = endOf(item.is.sinceMs, part.settings.groupWaitMs, part);
    const atMs = item.is.kind === "begins" ? Math.max(groupedAtMs, newFromMs) : groupedAtMs;
    return { item, atMs: item.is.againAtMs ?? atMs };
  });
  return flush(part, timed);
}

/**
 * An incident of many from one cause: one notification when it begins; who joins is told at most once per groupInterval and when
 * the members of the part have doubled; a severity only where it is worse than any that was told; ends are silent.
 */
function broad(part: Part): Step {
  const { items, known, settings, incident, members } = part;
  const live = items.filter(isChanged).filter(({ held }) => held.end === null);
  if (incident.verdict !== null && known?.knowsVerdict !== true) {
    const told = items.flatMap((item) => (item.is.kind === "same" ? remind(item, "one_cause") : []));
    return { ...nothing, notices: [...noticesOf(live), ...told] };
  }
  const hasDoubled = known === null || members.length >= 2 * known.members;
  const worst =
    items
      .flatMap(({ told }) => told ?? [])
      .toSorted(compareSeverity)
      .at(-1) ?? null;
  const timed = live.flatMap((item): Timed[] => {
    const { kind, againAtMs, notice, sinceMs } = item.is;
    if (againAtMs !== null) return [{ item, atMs: againAtMs }];
    const atMs = endOf(sinceMs, settings.groupWaitMs, part);
    if (kind === "begins") return hasDoubled ? [{ item, atMs: Math.max(atMs, newFrom(part)) }] : [];
    return worst !== null && compareSeverity(notice.severity, worst) > 0 ? [{ item, atMs }] : [];
  });
  return flush(part, timed);
}

/** A change, and when it is due. */
interface Timed {
  readonly item: Changed;
  readonly atMs: number;
}

/** When one is due, all go that may; when none is, and none waits, what is to be said again. */
function flush(part: Part, timed: readonly Timed[]): Step {
  const { nowMs } = part;
  const mayBegin = newFrom(part) <= nowMs;
  const isFlushed = timed.some(({ atMs }) => atMs <= nowMs);
  const isGoing = ({ item: { is }, atMs }: Timed): boolean =>
    isFlushed && (atMs <= nowMs || (is.againAtMs === null && (is.kind !== "begins" || mayBegin)));
  const left = timed.filter((one) => !isGoing(one));
  return withReminders(part, {
    notices: noticesOf(timed.filter(isGoing).map(({ item }) => item)),
    nextAtMs: earliest(left.map(({ atMs }) => atMs)),
    waiting: left.flatMap(({ item }) => (item.is.againAtMs === null ? [item] : [])),
  });
}

/** Returns when the receiver may be told of more alerts of the incident. */
function newFrom({ known, settings, ...now }: Part): number {
  return known === null ? now.nowMs : endOf(known.lastNewAtMs, settings.groupIntervalMs, now);
}

/** Nothing of it fires any more: one notification of all ends. An alert that fires again within groupWait keeps it from being over. */
function over(part: Part): Step {
  const ends = part.items.filter(isChanged);
  if (ends.length === 0) return nothing;
  const lastMs = Math.max(...ends.map(({ is }) => endOf(is.sinceMs, part.settings.groupWaitMs, part)));
  return lastMs <= part.nowMs
    ? { ...nothing, notices: noticesOf(ends) }
    : { notices: [], nextAtMs: lastMs, waiting: ends };
}

/** Adds what is said again, when it is due and no change goes or waits. */
function withReminders(part: Part, step: Step): Step {
  const { items, known, nowMs } = part;
  if (known === null || step.notices.length > 0 || step.waiting.length > 0) return step;
  const reminded = items.flatMap((item) =>
    item.is.kind === "same" && item.is.repeatMs !== null ? [{ item, repeatMs: item.is.repeatMs }] : [],
  );
  if (reminded.length === 0) return step;
  const atMs = endOf(known.lastAtMs, Math.min(...reminded.map(({ repeatMs }) => repeatMs)), part);
  if (atMs > nowMs) return { ...step, nextAtMs: earliest([step.nextAtMs, atMs]) };
  return { ...step, notices: reminded.flatMap(({ item }) => remind(item, "repeat_interval")) };
}

function remind({ held, told }: Item, reason: Reason, event: NoticeEvent = "reminder"): DueNotice[] {
  return told === null ? [] : [{ alertId: held.id, event, severity: told, previousSeverity: told, reason }];
}

/** What else the receiver is to be told of an incident that it knows. */
function otherNews(part: Part): Partial<Step> {
  const { route, known, incident, items, all, members } = part;
  if (known === null) return {};
  const tell = (known: Partial<QueuedIncident>, reason: Reason, event?: NoticeEvent): Partial<Step> => {
    const notices = members.flatMap((item) => (item.held.end === null ? remind(item, reason, event) : []));
    return notices.length === 0 ? {} : { notices, known };
  };
  if (route.takesAcknowledgements === true) {
    const acts = all.flatMap(({ held: alert }) => (alert.end === null ? [alert.acknowledgement] : []));
    const isAcknowledged = acts.length > 0 && acts.every((act) => act !== null);
    const acknowledgedKey = isAcknowledged ? incident.outlived : null;
    if (acknowledgedKey === known.acknowledgedKey) return {};
    // One that came from there is known there; there is no word for one that is taken back.
    const isKnown = acknowledgedKey === null || acts.every((act) => act?.receiver === route.name);
    return isKnown ? { known: { acknowledgedKey } } : tell({ acknowledgedKey }, "acknowledged", "acknowledged");
  }
  if (route.hasThreads !== true) return {};
  const shown = items.flatMap(({ held }) => (held.end === null && !held.isSilenced ? held : []));
  if (!known.knowsStop && excessStoppedAtMs(shown) !== null) return tell({ knowsStop: true }, "excess_stopped");
  const look = incident.secondOpinion?.look ?? 0;
  return look > known.knownLook ? tell({ knownLook: look }, "second_opinion") : {};
}

function isEndEvent(event: NoticeEvent): boolean {
  return event === "resolved" || event === "recovered";
}

function earliest(times: Iterable<number | null>): number | null {
  let first: number | null = null;
  for (const atMs of times) if (atMs !== null && (first === null || atMs < first)) first = atMs;
  return first;
}
