import type { FleetState, ReceiverState } from "../../store/alerts/notices.ts";
import { earliest, pauseEnd, remind, type DueItem, type Item, type ReceiverNews } from "./news.ts";

/** The spike alerts of one receiver while a fleet verdict lasts. */
export interface FleetGroupInput {
  readonly nowMs: number;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly fleet: FleetState;
  /** Any receiver was sent it. */
  readonly isSent: boolean;
  /** When it ends, as no member fires any more; null while one does. */
  readonly endsAtMs: number | null;
  readonly state: ReceiverState;
  readonly items: readonly Item[];
}

/** What the receiver is sent of the fleet now. */
export interface FleetNews extends ReceiverNews {
  /** The fleet that the notification names; null at the end for a receiver that was never notified of it. */
  readonly fleet: FleetState | null;
  /** The receiver learns of the fleet verdict with it. */
  readonly isBeginning: boolean;
  /** Alerts that began and ended under the fleet verdict before this receiver was notified of them: it never is. */
  readonly dropped: ReadonlySet<string>;
}

/**
 * Returns the notifications of the fleet verdict to send now (CONTRACT 7): groupWait after its begin, or after the first change that no receiver was sent
 * yet, one notification with every alert that is routed to the
 * receiver, then those that join or change, at most one a groupInterval; members that resolve are silent until the end,
 * which is one `resolved` with all of them.
 */
export function planFleet(input: FleetGroupInput): FleetNews {
  const { fleet, state, items } = input;
  const dropped = new Set<string>();
  for (const { alert, open } of items)
    if (input.isSent && alert.live === null && open.kind === "due" && open.isNew) dropped.add(alert.id);
  const news = input.endsAtMs === null ? planLasting(input) : planEnd(input, input.endsAtMs);
  const isKnown = state.sentFleetId === fleet.id;
  return {
    ...news,
    dropped,
    fleet: input.endsAtMs === null || isKnown ? fleet : null,
    isBeginning: input.endsAtMs === null && !isKnown && news.items.length > 0,
  };
}

function planEnd({ nowMs, state, items }: FleetGroupInput, endsAtMs: number): ReceiverNews {
  if (endsAtMs > nowMs) return { items: [], nextAtMs: endsAtMs };
  const ended: DueItem[] = [];
  for (const { alert, open } of items) {
    if (open.kind !== "due" || open.isNew) continue;
    const known = alert.sent.get(state.receiver)?.severity;
    // Changes that were not notified before the end are left out, and with them the severity that only they had.
    const notices = open.notices
      .slice(-1)
      .map((notice) => ({ ...notice, previousSeverity: known ?? notice.previousSeverity }));
    ended.push({ alert, notices, sent: open.sent, isNew: false });
  }
  return { items: ended, nextAtMs: null };
}

function planLasting({ nowMs, groupWaitMs, groupIntervalMs, fleet, state, items }: FleetGroupInput): ReceiverNews {
  const isKnown = state.sentFleetId === fleet.id;
  const freeFromMs = Math.max(
    pauseEnd(state.lastNewAtMs, groupIntervalMs, nowMs),
    isKnown ? pauseEnd(state.lastFleetAtMs, groupIntervalMs, nowMs) : nowMs,
  );
  const changes: DueItem[] = [];
  const reminders: DueItem[] = [];
  const dueTimes: number[] = [];
  for (const { alert, open } of items) {
    if (alert.live === null) continue;
    if (open.kind === "due") {
      changes.push({ alert, notices: open.notices, sent: open.sent, isNew: open.isNew });
      dueTimes.push(pauseEnd(open.sinceMs, groupWaitMs, nowMs));
    } else if (open.kind === "quiet" && !isKnown) {
      reminders.push(remind(alert, open.sent, nowMs, "fleet_began"));
      dueTimes.push(pauseEnd(fleet.startsAtMs, groupWaitMs, nowMs));
    } else if (open.kind === "quiet" && open.remindAtMs !== null) {
      reminders.push(remind(alert, open.sent, nowMs, "repeat_interval"));
      dueTimes.push(open.remindAtMs);
    }
  }
  const firstMs = earliest(dueTimes);
  if (firstMs === null) return { items: [], nextAtMs: null };
  const dueAtMs = Math.max(firstMs, freeFromMs);
  if (dueAtMs > nowMs) return { items: [], nextAtMs: dueAtMs };
  // One reminder takes along all the others, so that they keep coming together.
  const isReminding =
    !isKnown || items.some(({ open }) => open.kind === "quiet" && open.remindAtMs !== null && open.remindAtMs <= nowMs);
  const going = isReminding ? [...changes, ...reminders] : changes;
  const waiting = isReminding ? [] : items.map(({ open }) => (open.kind === "quiet" ? open.remindAtMs : null));
  return { items: going, nextAtMs: earliest(waiting) };
}
