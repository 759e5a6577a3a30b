import { compareSeverity, type Severity } from "../../../src/contract/severity.ts";
import { hourMs, secondMs } from "../../../src/base/time.ts";
import type { Accepted, SentAlert } from "../receiver.ts";

/** A notification that a receiver accepted for the first time, with what it knew. */
export interface Seen {
  readonly receiver: string;
  readonly notification: Accepted;
  /** Whether the receiver accepted a message of the alert before, or in this one. */
  readonly isTold: (alertId: string) => boolean;
  /** Whether it refused one for good. */
  readonly isRefused: (alertId: string) => boolean;
  /** The age of the last notification of its incident, ms; null: there was none, or a clock was set since. */
  readonly sinceLastMs: number | null;
}

/** A row of CONTRACT 7's table of what a receiver gets, as far as one notification shows that it is broken. */
interface Case {
  readonly row: string;
  /** Returns what is wrong, in words; null: nothing is. */
  readonly broken: (seen: Seen) => string | null;
}

// That of every organization of the simulated fleet.
export const repeatIntervalMs = 4 * hourMs;
/** Of an act, not of the alert itself. */
export const isAct = ({ event }: SentAlert): boolean =>
  event === "judged" || event === "released" || event === "acknowledged" || event === "unacknowledged";
export const isEnd = ({ event }: SentAlert): boolean => event === "resolved" || event === "recovered";
const isRepeated = ({ event, reason }: SentAlert): boolean => event === "reminder" && reason === "repeat_interval";

/** Returns the first alert for which it holds, in words. */
function found(alerts: readonly SentAlert[], isBroken: (alert: SentAlert) => boolean): string | null {
  const alert = alerts.find(isBroken);
  return alert === undefined ? null : `${alert.event} of ${alert.id} (${alert.slug})`;
}

const cases: readonly Case[] = [
  {
    row: "alerts of different incidents never share a notification",
    broken: ({ notification: { incidentId, alerts } }) => found(alerts, (alert) => alert.incidentId !== incidentId),
  },
  {
    row: "fires and ends before it is due: nothing; severity gone back by then: nothing",
    broken: ({ notification }) => {
      const alerts = notification.alerts.filter((alert) => !isAct(alert));
      return found(alerts, ({ id }) => alerts.filter((other) => other.id === id).length > 1);
    },
  },
  {
    row: "severity changes, queued",
    broken: ({ notification: { alerts } }) =>
      found(alerts, ({ event, severity, previousSeverity }) => {
        const order = compareSeverity(severity as Severity, previousSeverity as Severity);
        return (event === "escalated" && order <= 0) || (event === "deescalated" && order >= 0);
      }),
  },
  {
    row: "a reminder is due while changes wait: the changes",
    broken: ({ notification: { alerts } }) =>
      alerts.some(isRepeated) ? found(alerts, (alert) => !isRepeated(alert)) : null,
  },
  {
    row: "minSeverity fail: reaches fail, falls, rises",
    broken: ({ receiver, notification: { alerts } }) =>
      receiver === "pager" ? found(alerts, ({ event }) => event === "escalated" || event === "deescalated") : null,
  },
  {
    row: "reminders: every repeatInterval since the last notification of the incident",
    broken: ({ notification: { alerts }, sinceLastMs }) =>
      sinceLastMs !== null && sinceLastMs < repeatIntervalMs - secondMs ? found(alerts, isRepeated) : null,
  },
  {
    row: "dead-lettered or discarded: due again as not_delivered, and the end of what was never told is not sent",
    broken: ({ notification: { alerts }, isTold, isRefused }) =>
      found(
        alerts,
        (alert) =>
          (alert.reason === "not_delivered" && !isRefused(alert.id)) ||
          (isEnd(alert) && isRefused(alert.id) && !isTold(alert.id)),
      ),
  },
  {
    row: "a gate opens by an alert's end: in the notification of that end",
    broken: ({ notification: { alerts } }) =>
      found(
        alerts,
        ({ event, slug, reason }) =>
          event === "released" &&
          reason !== "released_by_hand" &&
          !alerts.some((other) => other.event === "judged" && other.slug === slug),
      ),
  },
  {
    row: "broad incidents: members' ends are silent",
    broken: ({ notification: { isOfFleet, status, alerts } }) =>
      isOfFleet && status === "firing" && !alerts.every(isAct) ? found(alerts, isEnd) : null,
  },
];

/** Returns the rows that a notification breaks, each with what of it. */
export function brokenCases(seen: Seen): string[] {
  return cases.flatMap(({ row, broken }) => {
    const what = broken(seen);
    return what === null ? [] : [`${what} is against "${row}"`];
  });
}
