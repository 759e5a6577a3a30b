import { compareSeverity, type Severity } from "../../contract/severity.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { ReceiverIncident, SentState } from "../../store/alerts/notices.ts";
import { excessStoppedAtMs } from "../incident-summary.ts";
import type { AlertingSettings, ReceiverRoute } from "../settings.ts";
import {
  escalateNow,
  outstanding,
  routedAfterMs,
  type Outstanding,
  type PlannedNotice,
  type TrackedAlert,
} from "./outstanding.ts";

/** Everything that decides what is sent now. */
export interface PlanInput {
  readonly nowMs: number;
  readonly settings: Pick<AlertingSettings, "groupWaitMs" | "groupIntervalMs" | "receivers">;
  readonly alerts: readonly TrackedAlert[];
  /** What receivers know of incidents; of what is absent, nothing. */
  readonly known: readonly ReceiverIncident[];
}

/** A notification to be formed now: of one incident, to one receiver. */
export interface PlannedNotification {
  readonly receiver: string;
  readonly incident: Incident;
  /** It names the fleet verdict. */
  readonly isOfVerdict: boolean;
  readonly notices: readonly PlannedNotice[];
  /** The alerts of the receiver's part of the incident. */
  readonly part: readonly string[];
}

/** What is sent now, and what is to be remembered with it. */
export interface Plan {
  readonly notifications: readonly PlannedNotification[];
  readonly sent: readonly SentState[];
  readonly known: readonly ReceiverIncident[];
  /** What waits to be sent with others since that time: whatever is said of these alerts later waits for it. */
  readonly postponed: readonly Postponed[];
  /** Alerts of which no receiver waits for a change; those that have ended can be forgotten. */
  readonly settled: readonly TrackedAlert[];
  /** Each receiver's part of each incident. */
  readonly parts: readonly PlannedPart[];
  /** The next instant with something to send, if nothing else happens; null: there is none. */
  readonly nextAtMs: number | null;
  /** The end of a silence matters. */
  readonly hasSilenced: boolean;
}

/** The alerts of an incident that are of a receiver's part of it, which are looked at. */
export type PlannedPart = Pick<PlannedNotification, "receiver" | "incident" | "part">;

/** News of an alert that wait for a receiver. */
export interface Postponed {
  readonly receiver: string;
  readonly alertId: string;
  readonly sinceMs: number;
}

/**
 * Decides which notifications are formed at `nowMs` (CONTRACT 15, Notifications): each is of one incident. Pure: the same input
 * gives the same plan, and a plan that was written down changes the input so that it is not made again.
 */
export function planNotifications(input: PlanInput): Plan {
  const known = new Map(input.known.map((one) => [knownKey(one.receiver, one.incident), one]));
  const incidents = Map.groupBy(input.alerts, ({ incident }) => incident.number);
  const plans = input.settings.receivers.flatMap((route) =>
    [...incidents.values()].map((alerts) => planIncident(input, route, alerts, known)),
  );
  const waiting = new Set(plans.flatMap((plan) => plan.waiting));
  return {
    notifications: plans.flatMap(({ notification }) => notification ?? []),
    sent: plans.flatMap(({ sent }) => sent),
    known: plans.flatMap((plan) => plan.known ?? []),
    postponed: plans.flatMap(({ postponed }) => postponed),
    parts: plans.flatMap(({ part }) => part ?? []),
    settled: input.alerts.filter(({ id, live, changes }) => !waiting.has(id) && (live === null || changes.length > 0)),
    nextAtMs: earliest(plans.map(({ nextAtMs }) => nextAtMs)),
    hasSilenced: plans.some(({ hasSilenced }) => hasSilenced),
  };
}

function knownKey(receiver: string, incident: number): string {
  return `${incident} ${receiver}`;
}

/** An alert with the changes that one receiver has not been notified of. */
interface Item {
  readonly alert: TrackedAlert;
  readonly open: Outstanding;
}

/** An item that goes out now. */
interface DueItem {
  readonly alert: TrackedAlert;
  readonly notices: readonly PlannedNotice[];
  /** The change that has been notified with it. */
  readonly sent: SentState;
  readonly isNew: boolean;
}

/** What one receiver is sent of one incident now, none when it is empty, and when to look again. */
interface News {
  readonly items: readonly DueItem[];
  readonly nextAtMs: number | null;
  /** Alerts of which the receiver is never notified, or with others only. */
  readonly unannounced?: ReadonlySet<string>;
}

/** An incident as one receiver is to be notified of it. */
interface Part {
  readonly nowMs: number;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly incident: Incident;
  readonly items: readonly Item[];
  /** null: it was notified of nothing of it. */
  readonly known: ReceiverIncident | null;
  /** Alerts that fire, or did when the receiver was notified of them, and are not silenced. */
  readonly members: readonly Item[];
}

interface IncidentPlan {
  readonly part: PlannedPart | null;
  readonly notification: PlannedNotification | null;
  readonly sent: readonly SentState[];
  readonly known: ReceiverIncident | null;
  readonly waiting: readonly string[];
  readonly postponed: readonly Postponed[];
  readonly nextAtMs: number | null;
  readonly hasSilenced: boolean;
}

function planIncident(
  { nowMs, settings }: PlanInput,
  route: ReceiverRoute,
  alerts: readonly TrackedAlert[],
  allKnown: ReadonlyMap<string, ReceiverIncident>,
): IncidentPlan {
  const receiver = route.name;
  const [first] = alerts;
  if (first === undefined) return nothingPlanned;
  const { incident } = first;
  const known = allKnown.get(knownKey(receiver, incident.number)) ?? null;
  const items = withEscalated(
    alerts.map((alert) => ({ alert, open: outstanding(alert, route, nowMs) })),
    { route, nowMs },
  );
  const members = items.filter(isMember);
  const { groupWaitMs, groupIntervalMs } = settings;
  const part: Part = { nowMs, groupWaitMs, groupIntervalMs, incident, items, known, members };
  const isBroad = incident.verdict !== null || incident.family === "unreachable";
  const changes = isBroad ? planBroad(part) : planSeparate(part);
  // What else there is to say goes first.
  const found = changes.items.length > 0 ? null : otherNews(part, route, alerts);
  const news = found === null ? changes : { ...changes, items: found.items };
  const going = new Set(news.items.map(({ alert }) => alert.id));
  const unsaid = items.flatMap(({ alert: { id: alertId, live }, open }) =>
    open.kind === "due" && !going.has(alertId) && news.unannounced?.has(alertId) !== true
      ? [{ receiver, alertId, sinceMs: open.sinceMs, isEnd: live === null }]
      : [],
  );
  const isLasting = members.some(({ alert }) => alert.live !== null);
  const isOfVerdict = incident.verdict !== null && (isLasting || known?.knowsVerdict === true);
  const shown = members.map(({ alert }) => alert.id);
  return {
    part: { receiver, incident, part: shown },
    notification:
      news.items.length === 0
        ? null
        : {
            receiver,
            incident,
            isOfVerdict,
            notices: news.items.flatMap(({ notices }) => notices),
            part: [...new Set([...shown, ...going])],
          },
    sent: [
      ...news.items.map(({ sent }) => sent),
      ...items.flatMap(({ open }) => (open.kind === "ended-unsent" ? [open.sent] : [])),
    ],
    known:
      found?.known ?? (news.items.length === 0 ? null : knownAfter(part, news, { receiver, isBroad, isOfVerdict })),
    waiting: [
      ...items.flatMap(({ alert, open }) => (open.kind === "silenced" ? [alert.id] : [])),
      ...items.flatMap(({ alert, open }) =>
        open.kind === "due" && !going.has(alert.id) && alert.live !== null ? [alert.id] : [],
      ),
      ...unsaid.map(({ alertId }) => alertId),
    ],
    // An end that is silent until the part is over has no time of its own: nothing waits for it.
    postponed: isBroad && isLasting ? unsaid.filter(({ isEnd }) => !isEnd) : unsaid,
    nextAtMs: earliest([news.nextAtMs, ...items.map(({ open }) => (open.kind === "escalates" ? open.atMs : null))]),
    hasSilenced: items.some(
      ({ open }) => open.kind === "silenced" || (open.kind === "escalates" && open.atMs === null),
    ),
  };
}

const nothingPlanned: IncidentPlan = {
  part: null,
  notification: null,
  sent: [],
  known: null,
  waiting: [],
  postponed: [],
  nextAtMs: null,
  hasSilenced: false,
};

/** Returns whether it is of the receiver's part: routed to it, as bad as it wants, and not silenced (CONTRACT 15, Parts). */
function isMember({ alert, open }: Item): boolean {
  return isRoutedNow(open) && (alert.live === null || !alert.isSilenced);
}

function isRoutedNow({ kind }: Outstanding): boolean {
  return kind !== "none" && kind !== "escalates" && kind !== "ended-unsent";
}

function knownAfter(
  { nowMs, incident, known, members }: Part,
  { items }: News,
  {
    receiver,
    isBroad,
    isOfVerdict,
  }: { readonly receiver: string; readonly isBroad: boolean; readonly isOfVerdict: boolean },
): ReceiverIncident {
  const isCounted = isBroad || known === null || items.some(({ isNew }) => isNew);
  return {
    receiver,
    incident: incident.number,
    lastAtMs: isCounted ? nowMs : known.lastAtMs,
    members: members.length,
    knowsVerdict: isOfVerdict || known?.knowsVerdict === true,
    knowsStop: known?.knowsStop === true,
    knownLook: known?.knownLook ?? 0,
    acknowledgedKey: known?.acknowledgedKey ?? null,
  };
}

/** An incident escalates as one: with the first of its alerts go all that escalate to the receiver. */
function withEscalated(
  items: readonly Item[],
  { route, nowMs }: { readonly route: ReceiverRoute; readonly nowMs: number },
): readonly Item[] {
  const escalating = items.filter((item) => (routedAfterMs(item.alert, route) ?? 0) > 0);
  if (!escalating.some(({ open }) => open.kind === "due" || open.kind === "quiet")) return items;
  const isBrought = new Set(escalating.filter(({ open }) => open.kind === "escalates"));
  return items.map((item) =>
    isBrought.has(item) ? { alert: item.alert, open: escalateNow(item.alert, route, nowMs) } : item,
  );
}

type DueOpen = Extract<Outstanding, { kind: "due" }>;

interface Candidate {
  readonly item: DueItem;
  readonly dueAtMs: number;
  readonly sinceMs: number;
}

/**
 * An incident of alerts that are told one by one: a change of an alert that was notified waits for groupWait, a new alert also
 * until groupInterval has passed since the last new one; what goes out takes along everything that may go.
 */
function planSeparate(part: Part): News {
  const { nowMs, groupWaitMs, groupIntervalMs, known, items } = part;
  const newFromMs = pauseEnd(known?.lastAtMs ?? null, groupIntervalMs, nowMs);
  const changes = items.flatMap(({ alert, open }): Candidate[] => {
    if (open.kind !== "due") return [];
    const groupedAtMs = pauseEnd(open.sinceMs, groupWaitMs, nowMs);
    const dueAtMs = open.isNew ? Math.max(groupedAtMs, newFromMs) : groupedAtMs;
    return [{ item: dueItem(alert, open), dueAtMs, sinceMs: open.sinceMs }];
  });
  const repeated = repeatedNow(part);
  const isFlushed = repeated.items.length > 0 || changes.some(({ dueAtMs }) => dueAtMs <= nowMs);
  const flushed = isFlushed ? changes.filter(({ item }) => !item.isNew || newFromMs <= nowMs) : [];
  const going = flushed.toSorted((left, right) => left.sinceMs - right.sinceMs).map(({ item }) => item);
  const waiting = changes.filter((one) => !flushed.includes(one)).map(({ dueAtMs }) => dueAtMs);
  return { items: [...going, ...repeated.items], nextAtMs: earliest([...waiting, repeated.nextAtMs]) };
}

/**
 * An incident of many from one cause: the service is unreachable, or the fleet verdict holds. One notification when it begins;
 * who joins is told at most once per groupInterval and when the receiver's members have doubled; ends are silent until the part
 * is over, which is one notification with all its alerts.
 */
function planBroad(part: Part): News {
  const { nowMs, groupWaitMs, groupIntervalMs, incident, items, known, members } = part;
  const isLasting = members.some(({ alert }) => alert.live !== null);
  if (!isLasting) return planEnd(part);
  const live = items.flatMap(({ alert, open }) =>
    alert.live !== null && open.kind === "due" ? [{ alert, open }] : [],
  );
  const all = live.map(({ alert, open }) => dueItem(alert, open));
  const silent = endedUnannounced(part);
  const beganBefore = incident.verdict !== null && known?.knowsVerdict !== true;
  if (beganBefore) {
    const reminders = items.flatMap(({ alert, open }) =>
      open.kind === "quiet" ? [remind(alert, open.sent, nowMs, "one_cause")] : [],
    );
    return { items: [...all, ...reminders], nextAtMs: null, unannounced: silent };
  }
  const pacedFromMs = pauseEnd(known?.lastAtMs ?? null, groupIntervalMs, nowMs);
  const hasDoubled = known === null || members.length >= 2 * known.members;
  const worst = worstKnown(part);
  const dueTimes = live.flatMap(({ open }) => {
    const isWorse = !open.isNew && worst !== null && compareSeverity(open.sent.severity, worst) > 0;
    if (!(open.isNew && hasDoubled) && !isWorse) return [];
    return [Math.max(pauseEnd(open.sinceMs, groupWaitMs, nowMs), pacedFromMs)];
  });
  const repeated = repeatedNow(part);
  const dueAtMs = earliest(dueTimes);
  if (repeated.items.length > 0 || (dueAtMs !== null && dueAtMs <= nowMs))
    return { items: [...all, ...repeated.items], nextAtMs: repeated.nextAtMs, unannounced: silent };
  // What is no worse than the incident has no time of its own either.
  const withOthers = live.filter(({ open }) => open.isNew || dueAtMs === null).map(({ alert }) => alert.id);
  const unannounced = new Set([...silent, ...withOthers]);
  return { items: [], nextAtMs: earliest([dueAtMs, repeated.nextAtMs]), unannounced };
}

/** An alert that fires again within groupWait of the last end keeps the part from being over. */
function planEnd(part: Part): News {
  const { nowMs, groupWaitMs, known, items } = part;
  const ended = items.flatMap(({ alert, open }) => (open.kind === "due" ? [{ alert, open }] : []));
  if (known === null) {
    // It was over before its begin was due: it is told as it was.
    const dueAtMs = earliest(ended.map(({ open }) => pauseEnd(open.sinceMs, groupWaitMs, nowMs)));
    const isDue = dueAtMs !== null && dueAtMs <= nowMs;
    return isDue
      ? { items: ended.map(({ alert, open }) => dueItem(alert, open)), nextAtMs: null }
      : { items: [], nextAtMs: dueAtMs };
  }
  const unannounced = endedUnannounced(part);
  const lastMs = items.reduce((last, { alert }) => Math.max(last, alert.changes.at(-1)?.atMs ?? 0), 0);
  const endsAtMs = pauseEnd(lastMs, groupWaitMs, nowMs);
  const told = ended.filter(({ open }) => !open.isNew);
  if (endsAtMs > nowMs) return { items: [], nextAtMs: told.length === 0 ? null : endsAtMs, unannounced };
  const going = told.map(({ alert, open }) => {
    const severity = alert.sent.get(open.sent.receiver)?.severity;
    // Changes that were not notified before the end are left out, and with them the severity that only they had.
    const notices = open.notices
      .slice(-1)
      .map((notice) => ({ ...notice, previousSeverity: severity ?? notice.previousSeverity }));
    return { alert, notices, sent: open.sent, isNew: false };
  });
  return { items: going, nextAtMs: null, unannounced };
}

/** Alerts that began and ended before the receiver was notified of them, which knows of the incident: it never is. */
function endedUnannounced({ items, known }: Part): ReadonlySet<string> {
  if (known === null) return new Set();
  return new Set(
    items.flatMap(({ alert, open }) => (alert.live === null && open.kind === "due" && open.isNew ? [alert.id] : [])),
  );
}

/** The highest severity of the incident that the receiver was notified of; null: of none. */
function worstKnown({ items, known }: Part): Severity | null {
  let worst: Severity | null = null;
  for (const { alert } of items) {
    const severity = known === null ? undefined : alert.sent.get(known.receiver)?.severity;
    if (severity !== undefined && (worst === null || compareSeverity(severity, worst) > 0)) worst = severity;
  }
  return worst;
}

/** What is said again: all that is reminded of, when the first one is due. */
function repeatedNow({ nowMs, items }: Part): News {
  const quiet = items.flatMap(({ alert, open }) => (open.kind === "quiet" ? [{ alert, open }] : []));
  const reminded = quiet.filter(({ open }) => open.remindAtMs !== null);
  const firstMs = earliest(reminded.map(({ open }) => open.remindAtMs));
  if (firstMs === null || firstMs > nowMs) return { items: [], nextAtMs: firstMs };
  const reminders = reminded.map(({ alert, open }) => remind(alert, open.sent, nowMs, "repeat_interval"));
  return { items: reminders, nextAtMs: null };
}

/** What else the receiver is to be told of an incident, and what it knows then; null: nothing. */
interface OtherNews {
  readonly items: readonly DueItem[];
  readonly known: ReceiverIncident;
}

function otherNews(part: Part, route: ReceiverRoute, alerts: readonly TrackedAlert[]): OtherNews | null {
  if (route.takesAcknowledgements === true) return acknowledgementNews(part);
  return route.hasThreads === true ? (stopNews(part, alerts) ?? opinionNews(part)) : null;
}

/**
 * That all that fires of the receiver's part is acknowledged, once for each time that it is (CONTRACT 7, `pagerduty`); an
 * acknowledgement that came from there is known there. One that is taken back is only noted: the service has no word for it.
 */
function acknowledgementNews(part: Part): OtherNews | null {
  const { known, incident, items } = part;
  if (known === null) return null;
  const firing = items.flatMap(({ alert, open }) => (isRoutedNow(open) ? (alert.live ?? []) : []));
  const isAcknowledged = firing.length > 0 && firing.every(({ acknowledgement }) => acknowledgement !== null);
  const acknowledgedKey = isAcknowledged ? incident.outlived : null;
  if (acknowledgedKey === known.acknowledgedKey) return null;
  const after = { ...known, acknowledgedKey };
  const isTheirs = firing.every(({ acknowledgement }) => acknowledgement?.receiver === known.receiver);
  const isKnown = acknowledgedKey === null || isTheirs;
  return isKnown ? { items: [], known: after } : newsOfAll(part, "acknowledged", after);
}

/**
 * The excess of an incident that the receiver knows has stopped, which it was not notified of: with all that fires of what it was
 * notified of, also where somebody has it. Reminders are due when they were. null: nothing of it.
 */
function stopNews(part: Part, alerts: readonly TrackedAlert[]): OtherNews | null {
  const { known } = part;
  if (known === null || known.knowsStop) return null;
  if (excessStoppedAtMs(alerts.flatMap(({ live, isSilenced }) => (isSilenced ? [] : (live ?? [])))) === null)
    return null;
  return newsOfAll(part, "excess_stopped", { ...known, knowsStop: true });
}

/** A look of flatline's own at the incident that the receiver was not notified of (CONTRACT 18). null: as above. */
function opinionNews(part: Part): OtherNews | null {
  const { known, incident } = part;
  const look = incident.secondOpinion?.look ?? 0;
  if (known === null || look <= known.knownLook) return null;
  return newsOfAll(part, "second_opinion", { ...known, knownLook: look });
}

function newsOfAll(
  { nowMs, members }: Part,
  reason: "acknowledged" | "excess_stopped" | "second_opinion",
  known: ReceiverIncident,
): OtherNews | null {
  const items = members.flatMap(({ alert }) => {
    const sent = alert.live === null ? undefined : alert.sent.get(known.receiver);
    return sent === undefined ? [] : [{ ...remind(alert, sent, nowMs, reason), sent }];
  });
  return items.length === 0 ? null : { items, known };
}

function dueItem(alert: TrackedAlert, { notices, sent, isNew }: DueOpen): DueItem {
  return { alert, notices, sent, isNew };
}

/** Says an alert again that was notified before. */
function remind(
  alert: TrackedAlert,
  sent: SentState,
  nowMs: number,
  reason: "repeat_interval" | "one_cause" | "acknowledged" | "excess_stopped" | "second_opinion",
): DueItem {
  const { severity } = sent;
  const event = reason === "acknowledged" ? reason : "reminder";
  return {
    alert,
    notices: [{ alertId: alert.id, event, severity, previousSeverity: severity, reason, seq: null }],
    sent: { ...sent, sentAtMs: nowMs },
    isNew: false,
  };
}

/** Returns when a pause that began at `fromMs` ends; at once where it never began, or where the wall clock went back behind it. */
function pauseEnd(fromMs: number | null, lengthMs: number, nowMs: number): number {
  return fromMs === null || fromMs > nowMs ? nowMs : fromMs + lengthMs;
}

function earliest(times: Iterable<number | null>): number | null {
  let first: number | null = null;
  for (const atMs of times) if (atMs !== null && (first === null || atMs < first)) first = atMs;
  return first;
}
