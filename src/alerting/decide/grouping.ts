import type { FleetState, ReceiverState, SentState } from "../../store/alerts/notices.ts";
import { fleetBound } from "./fleet-bound.ts";
import { planFleet, type FleetNews } from "./fleet-grouping.ts";
import {
  earliest,
  isDrill,
  isFleetAlert,
  pauseEnd,
  type DueItem,
  type Item,
  type ReceiverNews,
  remind,
} from "./news.ts";
import { escalateNow, outstanding, routedAfterMs, type PlannedNotice, type TrackedAlert } from "./outstanding.ts";
import type { AlertingSettings, ReceiverRoute } from "../settings.ts";

/** Everything that decides what is sent now. */
export interface PlanInput {
  readonly nowMs: number;
  readonly settings: Pick<AlertingSettings, "groupWaitMs" | "groupIntervalMs" | "fleet" | "receivers">;
  readonly alerts: readonly TrackedAlert[];
  /** By name; a receiver that is absent was never notified. */
  readonly receiverStates: ReadonlyMap<string, ReceiverState>;
  /** The fleet verdict that lasts; null: none. */
  readonly fleet: FleetState | null;
  /** Organizations whose last run of the spike check gave a result, or whose alert of it fires. */
  readonly organizations: number;
  readonly newId: () => string;
}

/** A notification to be formed now. */
export interface PlannedNotification {
  readonly receiver: string;
  /** null: of single alerts. */
  readonly fleet: FleetState | null;
  readonly notices: readonly PlannedNotice[];
}

/** What is sent now, and what is to be remembered with it. */
export interface Plan {
  readonly notifications: readonly PlannedNotification[];
  readonly sent: readonly SentState[];
  readonly receiverStates: readonly ReceiverState[];
  /** The fleet verdict when it begins, grows or ends; null: as it was. */
  readonly fleet: FleetState | null;
  /** What waits to be sent with others since that time: whatever is said of these alerts later waits for it. */
  readonly postponed: readonly Postponed[];
  /** Alerts of which no receiver waits for a change; those that have ended can be forgotten. */
  readonly settled: readonly TrackedAlert[];
  /** When there may be something to send, if nothing else happens; null: never. */
  readonly nextAtMs: number | null;
  /** Some are held back: the end of a silence matters. */
  readonly hasHeld: boolean;
}

/** News of an alert that wait for a receiver. */
export interface Postponed {
  readonly receiver: string;
  readonly alertId: string;
  readonly sinceMs: number;
}

/**
 * Decides which notifications are formed at `nowMs` (CONTRACT 7, Grouping and Fleet verdict). Pure: the same input gives the
 * same plan, and a plan that was written down changes the input so that it is not made again.
 */
export function planNotifications(input: PlanInput): Plan {
  const { fleet, settings, nowMs } = input;
  const bound = fleetBound(settings.fleet, input.organizations);
  const isReached = bound !== null && countSpiking(input.alerts) >= bound;
  if (fleet !== null) {
    const isOver = settings.fleet === null || (!isReached && !isFleetSent(fleet, input.receiverStates.values()));
    return isOver ? { ...planAll(input, null), fleet: { ...fleet, endsAtMs: nowMs } } : planAll(input, fleet);
  }
  if (!isReached) return planAll(input, null);
  return planAll(input, {
    id: input.newId(),
    check: "dead-asset-spike",
    startsAtMs: nowMs,
    endsAtMs: null,
    peakSpiking: 0,
    organizations: 0,
  });
}

/** Returns whether any receiver was sent the fleet verdict: until then it is forming, and ends with what fires below its bounds. */
export function isFleetSent({ id }: Pick<FleetState, "id">, receivers: Iterable<ReceiverState>): boolean {
  for (const { sentFleetId } of receivers) if (sentFleetId === id) return true;
  return false;
}

/** Organizations whose spike alert fires, silenced or not. */
export function countSpiking(alerts: readonly TrackedAlert[]): number {
  return alerts.filter((alert) => alert.live !== null && isFleetAlert(alert)).length;
}

/** What one receiver gets of everything, and what it waits for. */
interface ReceiverPlan {
  readonly notifications: readonly PlannedNotification[];
  readonly sent: readonly SentState[];
  readonly state: ReceiverState | null;
  readonly waiting: readonly string[];
  readonly postponed: readonly Postponed[];
  readonly nextAtMs: number | null;
  readonly hasHeld: boolean;
}

interface FleetMoment {
  readonly fleet: FleetState;
  readonly isSent: boolean;
  /** When it ends, as no member fires any more; null while one does. */
  readonly endsAtMs: number | null;
}

function planAll(input: PlanInput, fleet: FleetState | null): Plan {
  const { nowMs } = input;
  const spiking = countSpiking(input.alerts);
  const moment =
    fleet === null
      ? null
      : {
          fleet,
          isSent: isFleetSent(fleet, input.receiverStates.values()),
          endsAtMs: spiking > 0 ? null : fleetEnd(input),
        };
  const plans = input.settings.receivers.map((route) => planReceiver(input, route, moment));
  const waiting = new Set(plans.flatMap(({ waiting }) => waiting));
  const endsAtMs = moment?.endsAtMs ?? null;
  return {
    notifications: plans.flatMap(({ notifications }) => notifications),
    sent: plans.flatMap(({ sent }) => sent),
    receiverStates: plans.flatMap(({ state }) => (state === null ? [] : [state])),
    fleet: fleet === null ? null : changedFleet(fleet, spiking, input, endsAtMs !== null && endsAtMs <= nowMs),
    postponed: plans.flatMap(({ postponed }) => postponed),
    settled: input.alerts.filter(({ id, live, changes }) => !waiting.has(id) && (live === null || changes.length > 0)),
    nextAtMs: earliest([
      endsAtMs !== null && endsAtMs > nowMs ? endsAtMs : null,
      ...plans.map(({ nextAtMs }) => nextAtMs),
    ]),
    hasHeld: plans.some(({ hasHeld }) => hasHeld),
  };
}

function planReceiver(input: PlanInput, route: ReceiverRoute, moment: FleetMoment | null): ReceiverPlan {
  const { nowMs } = input;
  const { groupWaitMs, groupIntervalMs } = input.settings;
  const state = input.receiverStates.get(route.name) ?? neverSent(route.name);
  const isInFleet = ({ alert }: Pick<Item, "alert">): boolean => moment !== null && isFleetAlert(alert);
  const items = withFleetEscalated(
    input.alerts.map((alert) => ({ alert, open: outstanding(alert, route, nowMs) })),
    { route, nowMs, isInFleet },
  );
  const isSingle = (item: Item): boolean => !isInFleet(item) && !isDrill(item.alert);

  const drills = planSingles({
    nowMs,
    groupWaitMs: 0,
    groupIntervalMs: 0,
    state,
    items: items.filter(({ alert }) => isDrill(alert)),
  });
  const singles = planSingles({ nowMs, groupWaitMs, groupIntervalMs, state, items: items.filter(isSingle) });
  const fleetNews: FleetNews =
    moment === null
      ? noFleetNews
      : planFleet({ nowMs, groupWaitMs, groupIntervalMs, ...moment, state, items: items.filter(isInFleet) });

  const news: readonly (ReceiverNews & { readonly fleet: FleetState | null })[] = [
    { ...drills, fleet: null },
    { ...singles, fleet: null },
    fleetNews,
  ];
  const going: readonly DueItem[] = news.flatMap((one) => one.items);
  const goingIds = new Set(going.map(({ alert }) => alert.id));
  const postponed = items.flatMap(({ alert: { id }, open }) =>
    open.kind === "due" && !goingIds.has(id) && !fleetNews.dropped.has(id)
      ? [{ receiver: route.name, alertId: id, sinceMs: open.sinceMs }]
      : [],
  );
  return {
    notifications: news
      .filter((one) => one.items.length > 0)
      .map((one) => ({ receiver: route.name, fleet: one.fleet, notices: one.items.flatMap(({ notices }) => notices) })),
    sent: [
      ...going.map(({ sent }) => sent),
      ...items.flatMap(({ open }) => (open.kind === "ended-unsent" ? [open.sent] : [])),
    ],
    state: changedState(state, [...singles.items, ...fleetNews.items], fleetNews, nowMs),
    waiting: [
      ...items.flatMap(({ alert, open }) => (open.kind === "held" ? [alert.id] : [])),
      ...postponed.map(({ alertId }) => alertId),
    ],
    postponed,
    nextAtMs: earliest([
      ...news.map((one) => one.nextAtMs),
      ...items.map(({ open }) => (open.kind === "escalates" ? open.atMs : null)),
    ]),
    hasHeld: items.some(({ open }) => open.kind === "held" || (open.kind === "escalates" && open.atMs === null)),
  };
}

/** The fleet verdict escalates as one: with the first of its alerts go all that escalate to the receiver. */
function withFleetEscalated(
  items: readonly Item[],
  {
    route,
    nowMs,
    isInFleet,
  }: { readonly route: ReceiverRoute; readonly nowMs: number; readonly isInFleet: (item: Item) => boolean },
): readonly Item[] {
  const escalating = items.filter((item) => isInFleet(item) && (routedAfterMs(item.alert, route) ?? 0) > 0);
  if (!escalating.some(({ open }) => open.kind === "due" || open.kind === "quiet")) return items;
  const isBrought = new Set(escalating.filter(({ open }) => open.kind === "escalates"));
  return items.map((item) =>
    isBrought.has(item) ? { alert: item.alert, open: escalateNow(item.alert, route, nowMs) } : item,
  );
}

const noFleetNews: FleetNews = { items: [], nextAtMs: null, fleet: null, isBeginning: false, dropped: new Set() };

/** null: as it was. */
function changedState(
  state: ReceiverState,
  items: readonly DueItem[],
  news: FleetNews,
  nowMs: number,
): ReceiverState | null {
  const tellsNew = news.isBeginning || items.some(({ isNew }) => isNew);
  const sentFleetId = news.items.length > 0 && news.fleet !== null ? news.fleet.id : null;
  if (!tellsNew && sentFleetId === null) return null;
  return {
    receiver: state.receiver,
    lastNewAtMs: tellsNew ? nowMs : state.lastNewAtMs,
    sentFleetId: sentFleetId ?? state.sentFleetId,
    lastFleetAtMs: sentFleetId === null ? state.lastFleetAtMs : nowMs,
  };
}

/** The last member's end, and groupWait after it: who fires again within it keeps the fleet verdict alive. */
function fleetEnd({ alerts, settings, nowMs }: PlanInput): number {
  const lastMs = alerts
    .filter(isFleetAlert)
    .reduce((last, { changes }) => Math.max(last, changes.at(-1)?.atMs ?? 0), 0);
  return pauseEnd(lastMs, settings.groupWaitMs, nowMs);
}

function changedFleet(
  fleet: FleetState,
  spiking: number,
  { organizations, nowMs }: PlanInput,
  hasEnded: boolean,
): FleetState | null {
  if (hasEnded) return { ...fleet, endsAtMs: nowMs };
  return spiking > fleet.peakSpiking ? { ...fleet, peakSpiking: spiking, organizations } : null;
}

function neverSent(receiver: string): ReceiverState {
  return { receiver, lastNewAtMs: null, sentFleetId: null, lastFleetAtMs: null };
}

/** Single alerts of one receiver. */
interface SinglesInput {
  readonly nowMs: number;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly state: ReceiverState;
  readonly items: readonly Item[];
}

interface Candidate {
  readonly item: DueItem;
  readonly dueAtMs: number;
  readonly sinceMs: number;
}

// A reminder may come this part of its interval early, to share a notification with another one.
const earlyShare = 0.1;

/**
 * Returns the notifications of single alerts to send now (CONTRACT 7, Grouping): a change of an alert that was notified waits for groupWait, a new
 * alert also until groupInterval has passed since the last new one; what goes out takes along everything that may go. A
 * reminder waits for nothing but takes along those that would follow within groupWait.
 */
function planSingles({ nowMs, groupWaitMs, groupIntervalMs, state, items }: SinglesInput): ReceiverNews {
  const newFromMs = pauseEnd(state.lastNewAtMs, groupIntervalMs, nowMs);
  const changes: Candidate[] = [];
  const reminders: Candidate[] = [];
  for (const { alert, open } of items) {
    if (open.kind === "due") {
      const groupedAtMs = pauseEnd(open.sinceMs, groupWaitMs, nowMs);
      const dueAtMs = open.isNew ? Math.max(groupedAtMs, newFromMs) : groupedAtMs;
      changes.push({
        item: { alert, notices: open.notices, sent: open.sent, isNew: open.isNew },
        dueAtMs,
        sinceMs: open.sinceMs,
      });
    } else if (open.kind === "quiet" && open.remindAtMs !== null) {
      const earlyMs = Math.min(groupWaitMs, (open.remindAtMs - open.sent.sentAtMs) * earlyShare);
      reminders.push({
        item: remind(alert, open.sent, nowMs, "repeat_interval"),
        dueAtMs: open.remindAtMs,
        sinceMs: open.remindAtMs - earlyMs,
      });
    }
  }
  const isFlushed = changes.some(({ dueAtMs }) => dueAtMs <= nowMs);
  const isReminding = reminders.some(({ dueAtMs }) => dueAtMs <= nowMs);
  const flushed = new Set(isFlushed ? changes.filter(({ item }) => !item.isNew || newFromMs <= nowMs) : []);
  const reminded = new Set(isReminding ? reminders.filter(({ sinceMs }) => sinceMs <= nowMs) : []);
  const going = [...[...flushed].toSorted((left, right) => left.sinceMs - right.sinceMs), ...reminded];
  const waiting = [...changes, ...reminders].filter((one) => !flushed.has(one) && !reminded.has(one));
  return { items: going.map(({ item }) => item), nextAtMs: earliest(waiting.map(({ dueAtMs }) => dueAtMs)) };
}
