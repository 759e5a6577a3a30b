import { createLoop } from "../../base/loop.ts";
import { eventLoopTurn } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { addressKey, type Address, type NewOutboxEntry } from "../../store/alerts/outbox.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { due, type Due } from "../decide/due.ts";
import { nextSilenceChangeAtMs } from "../decide/silences.ts";
import type { Receiver } from "../deliver/receiver.ts";
import type { AlertingGround, AlertingSettings } from "../settings.ts";
import { freeActs, type ActNews } from "./act-news.ts";
import { withinBudget } from "./budget.ts";
import { composeNotification } from "./compose.ts";
import { readHolds, type Holds } from "./holds.ts";
import { readIncidents } from "./incident-notice.ts";
import { noticeOf, reportOf, type Said } from "./notice.ts";
import type { AlertNotice, Notification, SampledAsset } from "./notification.ts";

export type Notifier = ReturnType<typeof createNotifier>;

/** Reads the assets that an alert's notifications name, in the same transaction. */
export type ReadSample = (
  parts: Pick<StoreParts, "evidence">,
  alert: Alert,
  report: CheckReport | null,
) => Promise<readonly SampledAsset[]>;

export interface NotifierOptions extends AlertingGround {
  readonly receiverOf?: (receiver: string) => Pick<Receiver, "budget"> | null;
  readonly readSample?: ReadSample;
  /** Called after a commit that added a row to the outbox. */
  readonly onEnqueued: () => void;
}

// Changes wake the notifier, so a look without a cause is rare.
const longestWaitMs = 15 * 60_000;
// A fleet verdict is due before any group is. One look a second is enough in a burst.
const soonestLookMs = 1_000;
// The pause after a failure of the store.
const failureWaitMs = 1_000;
// A look takes milliseconds.
const stalledAfterMs = 60_000;
// Takes some milliseconds: an incident of thousands must not delay requests.
const composedAtOnce = 100;

interface Message extends Address {
  readonly incident: number;
  readonly isOfVerdict: boolean;
  readonly entries: readonly { readonly alert: Alert; readonly said: Said }[];
}

/** Creates the notifier. In one transaction it reads the alerts and the queue, and writes outbox rows (CONTRACT 7). */
export function createNotifier(options: NotifierOptions) {
  const { store, board, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });
  // The start, or when the clock was last set back. A wait that began in the future counts from here.
  let forwardSinceMs = clock.nowMs();
  let latestMs = forwardSinceMs;

  /** Forms what is due. Returns how many notifications, and when to look next; Infinity: after a change. */
  async function runOnce(): Promise<{ readonly formed: number; readonly nextAtMs: number }> {
    const { planned, formed } = await form();
    for (const { id, receiver, recipient, status, alerts } of formed) {
      const to = recipient === null ? {} : { recipient };
      logger.info({ notification: id, receiver, ...to, status, alerts: alerts.length }, "notification formed");
    }
    if (formed.length === 0) return { formed: 0, nextAtMs: nextLook(planned) };
    options.onEnqueued();
    // The plan does not know the reminders and pauses of alerts that were sent just now.
    return { formed: formed.length, nextAtMs: clock.nowMs() };
  }

  async function form() {
    const settings = options.settings();
    try {
      return await store.transaction(async (parts) => {
        const nowMs = clock.nowMs();
        if (nowMs < latestMs) forwardSinceMs = nowMs;
        latestMs = nowMs;
        const holds = await readHolds(parts, settings, nowMs);
        const planned = { nowMs, holds, due: due(holds.incidents, holds.queued, settings, { nowMs, forwardSinceMs }) };
        const formed = await carryOut(parts, settings, planned);
        await parts.outbox.enqueue(formed.map(outboxEntry));
        return { planned, formed };
      });
    } catch (error) {
      // The commit may have worked all the same.
      options.onEnqueued();
      throw error;
    }
  }

  async function carryOut(parts: StoreParts, settings: AlertingSettings, { nowMs, holds, due }: Planned) {
    const acts = await freeActs(parts, settings, holds.queued, due);
    // Acts come after the due notifications of their alerts.
    const messages = [...dueMessages(holds, due), ...actMessages(acts.news)];
    const partOf = new Map(due.parts.map((one) => [keyOf(one), one.part]));
    const source = { settings, board, nowMs };
    const numbers = messages.map(({ incident }) => incident);
    const shownOf = await readIncidents(parts, source, numbers);
    const ids = messages.flatMap(({ entries }) => entries.map(({ alert }) => alert.id));
    const notified = await parts.deliveries.firstAccepted([...new Set(ids)]);
    const samples = new Map<string, readonly SampledAsset[]>();
    const { externalUrl, sample } = settings;
    const formed: Notification[] = [];
    let composed = 0;
    for (const message of messages) {
      const { receiver, recipient, incident, isOfVerdict, entries } = message;
      const part = new Set([...(partOf.get(keyOf(message)) ?? []), ...entries.map(({ alert }) => alert.id)]);
      const isSampled = settings.receivers.find(({ name }) => name === receiver)?.sample ?? true;
      const shown = shownOf(incident, receiver, ({ id }) => part.has(id));
      const ends = new Map(shown?.members.map(({ id, end }) => [id, end]));
      const alerts: AlertNotice[] = [];
      for (const { alert, said } of entries) {
        const notifiedAtMs = notified.get(alert.id);
        const known = { ...said, ...(notifiedAtMs === undefined ? {} : { notifiedAtMs }) };
        const sampled = isSampled ? await sampleOf(alert, said) : [];
        // An alert may have ended since the act.
        const kept = { ...alert, end: ends.get(alert.id) ?? alert.end };
        alerts.push(noticeOf(source, kept, sampled.length === 0 ? known : { ...known, sample: sampled }));
        if (++composed % composedAtOnce === 0) await eventLoopTurn();
      }
      const fleet = isOfVerdict ? (shown?.fleet ?? null) : null;
      const common = { receiver, recipient, generatedAtMs: nowMs, externalUrl, fleet, shown, sample };
      const { budget = null } = options.receiverOf?.(receiver) ?? {};
      formed.push(
        ...withinBudget(alerts, (some) => composeNotification({ id: newId(), ...common, alerts: some }), budget),
      );
    }
    // A reminder comes repeatInterval after the last message of any kind.
    const isTold = new Set(acts.news.map(keyOf));
    const known = new Map([...holds.queued.incidents, ...due.queued.incidents].map((one) => [keyOf(one), one]));
    const again = [...known].flatMap(([key, one]) => (isTold.has(key) ? [{ ...one, lastAtMs: nowMs }] : []));
    await parts.queued.save({ ...due.queued, incidents: [...due.queued.incidents, ...again] });
    await parts.queued.forget(holds.lost);
    await parts.actNotices.forget(acts.taken);
    if (due.queued.alerts.some(({ isEnded }) => isEnded)) await parts.queued.tidy(nowMs);
    return formed;

    async function sampleOf(alert: Alert, { event }: Said): Promise<readonly SampledAsset[]> {
      if (event !== "firing" && event !== "escalated") return [];
      const { id } = alert;
      const sample = samples.get(id) ?? (await options.readSample?.(parts, alert, reportOf(board, alert))) ?? [];
      samples.set(id, sample);
      return sample;
    }
  }

  /**
   * Forms a reminder of all firing alerts that this receiver was notified of; null: there are none. It is for a
   * receiver that forgets alerts that are not repeated, and never enters the outbox.
   */
  async function resend(receiver: string): Promise<Notification | null> {
    const settings = options.settings();
    const nowMs = clock.nowMs();
    const source = { settings, board, nowMs };
    const holds = await readHolds(store, settings, nowMs);
    const own = holds.queued.alerts.filter((one) => one.receiver === receiver && !one.isEnded);
    const isTold = await store.deliveries.toldOfEach(own.map(({ alertId }) => alertId));
    const alerts = own.flatMap(({ alertId, severity }) => {
      const held = holds.alerts.get(alertId);
      if (severity === null || held === undefined || held.end !== null) return [];
      if (!isTold(alertId, { receiver, recipient: null })) return [];
      return noticeOf(source, held, { event: "reminder", severity, previousSeverity: severity, reason: "resend" });
    });
    if (alerts.length === 0) return null;
    // One notification for all incidents: such a receiver knows alerts only.
    const told = holds.queued.incidents.filter((one) => one.receiver === receiver && one.knowsVerdict);
    const number = holds.incidents.find(
      ({ incident, alerts }) =>
        told.some((one) => one.incident === incident.number) && alerts.some(({ end }) => end === null),
    )?.incident.number;
    const shownOf = await readIncidents(store, source, number === undefined ? [] : [number]);
    const fleet = shownOf(number ?? 0, receiver, () => true)?.fleet ?? null;
    const common = { receiver, recipient: null, generatedAtMs: nowMs, externalUrl: settings.externalUrl };
    return composeNotification({ id: newId(), ...common, fleet, shown: null, alerts });
  }

  let failure: unknown = null;
  // The first look finds the work that a crash left.
  const loop = createLoop({
    clock,
    everyMs: longestWaitMs,
    retryAfterMs: failureWaitMs,
    stalledAfterMs,
    followsWallClock: true,
    runOnce: async () => {
      const { nextAtMs } = await runOnce();
      return Math.min(Math.max(nextAtMs - clock.nowMs(), 0), longestWaitMs);
    },
    onError: (error) => {
      if (loop.signal.aborted) failure = error;
      else logger.error({ err: error }, "alerts could not be looked at");
    },
  });
  return {
    ...loop,
    runOnce,
    resend,
    /** Call when alerts change, or the number of organizations with a known state: looks within a second. */
    changed: (): void => loop.wake(Math.min(soonestLookMs, options.settings().groupWaitMs)),
    /** Ends after the current look. @throws the error of that look */
    stop: async (): Promise<void> => {
      await loop.stop();
      if (failure !== null) throw failure;
    },
  };
}

interface Planned {
  readonly nowMs: number;
  readonly holds: Holds;
  readonly due: Due;
}

function dueMessages(holds: Holds, due: Due): Message[] {
  return due.notifications.map(({ notices, ...of }) => ({
    ...of,
    entries: notices.flatMap(({ alertId, ...said }) => {
      const alert = holds.alerts.get(alertId);
      if (alert === undefined) return [];
      return [{ alert, said: alert.end?.opensGate === true ? { ...said, gateOpened: true as const } : said }];
    }),
  }));
}

function actMessages(news: readonly ActNews[]): Message[] {
  return news.map(({ atMs, entries, ...of }) => ({
    ...of,
    isOfVerdict: false,
    entries: entries.map(({ alert, event, reason, by, comment }) => {
      return { alert, said: { event, reason, previousSeverity: alert.severity, act: { by, comment, atMs } } };
    }),
  }));
}

function keyOf({ incident, ...address }: Address & { readonly incident: number }): string {
  return `${incident} ${addressKey(address)}`;
}

function nextLook({ nowMs, holds, due }: Planned): number {
  return Math.min(due.hasSilenced ? nextSilenceChangeAtMs(holds.silences, nowMs) : Infinity, due.nextAtMs);
}

function outboxEntry(notification: Notification): NewOutboxEntry {
  const { id, receiver, recipient, generatedAtMs, incident, alerts } = notification;
  return {
    id,
    receiver,
    recipient,
    createdAtMs: generatedAtMs,
    incident: incident?.number ?? null,
    isReminder: alerts.every(({ reason }) => reason === "repeat_interval"),
    payload: JSON.stringify(notification),
  };
}
