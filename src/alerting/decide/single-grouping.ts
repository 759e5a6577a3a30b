import type { ReceiverState } from "../../store/alerts/notices.ts";
import { earliest, pauseEnd, remind, type DueItem, type Item, type ReceiverNews } from "./news.ts";

/** Single alerts of one receiver. */
export interface SinglesInput {
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
export function planSingles({ nowMs, groupWaitMs, groupIntervalMs, state, items }: SinglesInput): ReceiverNews {
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
