import { pageUrl } from "../../base/uri-text.ts";
import { createLoop } from "../../base/loop.ts";
import type { Logger } from "../../base/logger.ts";
import { eventLoopTurn, type Clock } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { addressKey, type Address, type NewOutboxEntry } from "../../store/alerts/outbox.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Store } from "../../store/store.ts";
import { due, type Due } from "../decide/due.ts";
import { nextSilenceChangeAtMs } from "../decide/silences.ts";
import type { Receiver } from "../deliver/receiver.ts";
import type { AlertingSettings } from "../settings.ts";
import { freeActs } from "./act-news.ts";
import { withinBudget } from "./budget.ts";
import { composeNotification } from "./compose.ts";
import { readHolds, type Holds } from "./holds.ts";
import { readIncidents, type ShownIncident } from "./incident-notice.ts";
import { noResult, noticeOf, reportOf, type NoticeSource, type Said } from "./notice.ts";
import type { AlertNotice, Notification, NotificationFacts, SampledAsset } from "./notification.ts";

export type Notifier = ReturnType<typeof createNotifier>;

/** Reads the assets that notifications of an alert name, in the transaction that forms them. */
export type ReadSample = (
  parts: Pick<StoreParts, "evidence">,
  alert: Alert,
  report: CheckReport | null,
) => Promise<readonly SampledAsset[]>;

export interface NotifierOptions {
  readonly store: Store;
  /** The last states of checks, for what notifications show. */
  readonly board: Pick<Board, "state">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ids of notifications, unique over all time. */
  readonly newId: () => string;
  /** Returns the settings that hold now. */
  readonly settings: () => AlertingSettings;
  /** Returns what bounds the deliveries to the receiver with this name [nothing does]. */
  readonly receiverOf?: (receiver: string) => Pick<Receiver, "budget"> | null;
  /** [they name none] */
  readonly readSample?: ReadSample;
  /** Called after a commit, when a row waits in the outbox. */
  readonly onEnqueued: () => void;
}

// What is due, and what changes that, is known.
const longestWaitMs = 15 * 60_000;
// A fleet verdict begins with what fires, before any group is due; of a burst one look a second is enough for that.
const soonestLookMs = 1_000;
// The pause after the store did not answer.
const failureWaitMs = 1_000;
// A look takes milliseconds; six missed ones are no coincidence.
const stalledAfterMs = 60_000;
// Some milliseconds: an incident of thousands must not hold up requests.
const composedAtOnce = 100;

/** What an address is told of an incident at once. */
interface Message extends Address {
  readonly incident: number;
  readonly isOfVerdict: boolean;
  /** The receiver's part of the incident. */
  readonly part: readonly string[];
  readonly entries: readonly { readonly kept: Alert; readonly said: Said }[];
}

/** Creates what forms notifications: what holds and what was queued in, outbox rows out, in one transaction (CONTRACT 7). */
export function createNotifier(options: NotifierOptions) {
  const { store, board, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });
  // A wait that would end after it does not outlast a clock that was set back, or a restart.
  let forwardSinceMs = clock.nowMs();
  let latestMs = forwardSinceMs;

  /** Forms what is due now. Returns how many notifications, one for each recipient, and when to look next; null: when something changes. */
  async function runOnce(): Promise<{ readonly formed: number; readonly nextAtMs: number | null }> {
    const { planned, formed } = await form();
    for (const { recipient, notification } of formed) {
      const { id, receiver, status, alerts } = notification;
      const to = recipient === null ? {} : { recipient };
      logger.info({ notification: id, receiver, ...to, status, alerts: alerts.length }, "notification formed");
    }
    if (formed.length === 0) return { formed: 0, nextAtMs: nextLook(planned) };
    options.onEnqueued();
    // Alerts that were told now have reminders and pauses that the plan could not know of yet.
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
      // It may have been stored all the same.
      options.onEnqueued();
      throw error;
    }
  }

  async function carryOut(parts: StoreParts, settings: AlertingSettings, planned: Planned) {
    const { nowMs, holds, due } = planned;
    const acts = await freeActs(parts, settings, holds, due);
    const told = [...due.notifications.map(({ incident }) => incident.number), ...acts.news.map((one) => one.incident)];
    const source = { settings, board, nowMs };
    const incidents = told.length === 0 ? null : await readIncidents(parts, source, told);
    // What waits of an alert holds its acts back: they come after what is due.
    const messages = [...dueMessages(planned), ...actMessages(acts.news)];
    const ids = messages.flatMap(({ entries }) => entries.map(({ kept }) => kept.id));
    const notified = await parts.deliveries.firstAccepted([...new Set(ids)]);
    const samples = new Map<string, readonly SampledAsset[]>();
    const formed: FormedNotification[] = [];
    let composed = 0;
    for (const { receiver, recipient, incident, isOfVerdict, part, entries } of messages) {
      const isSampled = settings.receivers.find(({ name }) => name === receiver)?.sample ?? true;
      const alerts: AlertNotice[] = [];
      for (const { kept, said } of entries) {
        const notifiedAtMs = notified.get(kept.id);
        const sample = isSampled ? await sampleOf(kept, said) : [];
        const known = { ...said, ...(notifiedAtMs === undefined ? {} : { notifiedAtMs }) };
        alerts.push(noticeOf(source, kept, sample.length === 0 ? known : { ...known, sample }));
        if (++composed % composedAtOnce === 0) await eventLoopTurn();
      }
      const isOfPart = new Set(part);
      const shown = incidents?.shown(incident, receiver, ({ id }) => isOfPart.has(id)) ?? null;
      formed.push(...formFor(source, { receiver, recipient, isOfVerdict, alerts }, shown));
    }
    // A reminder comes repeatInterval after the last message, of whatever.
    const isTold = new Set(acts.news.map(keyOf));
    const known = new Map([...holds.queued.incidents, ...due.queued.incidents].map((one) => [keyOf(one), one]));
    const again = [...known].flatMap(([key, one]) => (isTold.has(key) ? [{ ...one, lastAtMs: nowMs }] : []));
    await parts.queued.save({ ...due.queued, incidents: [...due.queued.incidents, ...again] });
    await parts.queued.forget(holds.lost);
    await parts.actNotices.forget(acts.taken);
    if (due.queued.alerts.some(({ isEnded }) => isEnded)) await parts.queued.tidy(nowMs);
    return formed;

    async function sampleOf(kept: Alert, { event }: Said): Promise<readonly SampledAsset[]> {
      if (event !== "firing" && event !== "escalated") return [];
      const { id } = kept;
      const sample = samples.get(id) ?? (await options.readSample?.(parts, kept, reportOf(board, kept))) ?? [];
      samples.set(id, sample);
      return sample;
    }

    function actMessages(news: typeof acts.news): Message[] {
      const parts = new Map(due.parts.map((one) => [keyOf({ ...one, incident: one.incident.number }), one.part]));
      return news.map(({ atMs, entries, ...of }) => {
        return {
          ...of,
          isOfVerdict: false,
          part: [...(parts.get(keyOf(of)) ?? []), ...entries.map(({ alert }) => alert.id)],
          entries: entries.map(({ alert, event, reason, by, comment }) => {
            const end = incidents?.endOf(alert.id) ?? null;
            const restoreUrl = restoreUrlOf(settings, alert);
            const said: Said = {
              ...(end === null ? {} : noResult),
              event,
              reason,
              previousSeverity: alert.severity,
              act: { by, comment, atMs },
              ...(restoreUrl === null ? {} : { restoreUrl }),
            };
            return { kept: { ...alert, end }, said };
          }),
        };
      });
    }
  }

  /** Returns the notifications of these alerts for an address, within its budget. */
  function formFor(
    { settings, nowMs }: NoticeSource,
    { receiver, recipient, isOfVerdict, alerts }: Address & Pick<Message, "isOfVerdict"> & Pick<Notification, "alerts">,
    shown: ShownIncident | null,
  ): readonly FormedNotification[] {
    const { externalUrl, sample } = settings;
    const fleet = isOfVerdict ? (shown?.fleet ?? null) : null;
    const common = { receiver, generatedAtMs: nowMs, externalUrl, fleet, shown, sample };
    const { budget = null } = options.receiverOf?.(receiver) ?? {};
    return withinBudget(alerts, (some) => composeNotification({ id: newId(), ...common, alerts: some }), budget).map(
      (notification) => ({ recipient, notification }),
    );
  }

  /**
   * Forms a repetition of all alerts that fire and that this receiver was notified of; null when there are none. For a
   * receiver that forgets alerts that are not repeated: no notification, so that it is in no outbox.
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
    // All incidents at once: it is for a receiver that knows alerts only.
    const told = holds.queued.incidents.filter((one) => one.receiver === receiver && one.knowsVerdict);
    const number = holds.incidents.find(
      ({ incident, alerts }) =>
        told.some((one) => one.incident === incident.number) && alerts.some(({ end }) => end === null),
    )?.incident.number;
    const fleet =
      number === undefined
        ? null
        : ((await readIncidents(store, source, [number])).shown(number, receiver, () => true)?.fleet ?? null);
    const { externalUrl } = settings;
    return composeNotification({
      id: newId(),
      receiver,
      generatedAtMs: nowMs,
      externalUrl,
      fleet,
      shown: null,
      alerts,
    });
  }

  let failure: unknown = null;
  // The first look finds what a crash left behind.
  const loop = createLoop({
    clock,
    everyMs: longestWaitMs,
    retryAfterMs: failureWaitMs,
    stalledAfterMs,
    followsWallClock: true,
    runOnce: async () => {
      const { nextAtMs } = await runOnce();
      return nextAtMs === null ? longestWaitMs : Math.min(Math.max(nextAtMs - clock.nowMs(), 0), longestWaitMs);
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
    /** Alerts have changed, or of how many organizations the state is known: looks within a second. */
    changed: (): void => loop.wake(Math.min(soonestLookMs, options.settings().groupWaitMs)),
    /** Ends after the current look. @throws the error of that look */
    stop: async (): Promise<void> => {
      await loop.stop();
      if (failure !== null) throw failure;
    },
  };
}

interface FormedNotification {
  /** null: the receiver is one. */
  readonly recipient: string | null;
  readonly notification: Notification;
}

interface Planned {
  readonly nowMs: number;
  readonly holds: Holds;
  readonly due: Due;
}

function dueMessages({ holds, due }: Planned): Message[] {
  return due.notifications.map(({ incident, notices, ...of }) => ({
    ...of,
    incident: incident.number,
    entries: notices.flatMap(({ alertId, ...said }) => {
      const kept = holds.alerts.get(alertId);
      if (kept === undefined) return [];
      return [{ kept, said: kept.end?.opensGate === true ? { ...said, gateOpened: true as const } : said }];
    }),
  }));
}

/** Returns where what the incident of an alert has to bring back can be asked for (CONTRACT 15); null: it is not judged `checker`. */
function restoreUrlOf({ externalUrl, hasAssets }: AlertingSettings, alert: Alert): string | null {
  const { check, judgement, incident } = alert;
  if (hasAssets !== true || check !== "dead-asset-spike" || judgement?.verdict !== "checker") return null;
  return pageUrl(externalUrl, `api/v1/incidents/${incident?.number}/assets?toRestore=true`);
}

function keyOf({ incident, ...address }: Address & { readonly incident: number }): string {
  return `${incident} ${addressKey(address)}`;
}

function nextLook({ nowMs, holds, due }: Planned): number | null {
  const silenceMs = due.hasSilenced ? nextSilenceChangeAtMs(holds.silences, nowMs) : null;
  if (silenceMs === null || due.nextAtMs === null) return silenceMs ?? due.nextAtMs;
  return Math.min(silenceMs, due.nextAtMs);
}

function outboxEntry({ recipient, notification }: FormedNotification): NewOutboxEntry {
  const { summary: _words, ...facts } = notification;
  const { id, receiver, generatedAtMs, incident, alerts } = facts;
  return {
    id,
    receiver,
    recipient,
    createdAtMs: generatedAtMs,
    incident: incident?.number ?? null,
    isReminder: alerts.every(({ reason }) => reason === "repeat_interval"),
    payload: JSON.stringify({ ...facts, recipient } satisfies NotificationFacts),
  };
}
