import type { Logger } from "../../base/logger.ts";
import { eventLoopTurn, type Clock } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import type { AlertState } from "../../store/alerts/alerts.ts";
import type { NewOutboxEntry } from "../../store/alerts/outbox.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Store } from "../../store/store.ts";
import type { DueNotice, HeldAlert } from "../decide/difference.ts";
import { due, type Due } from "../decide/due.ts";
import { nextSilenceChangeAtMs } from "../decide/silences.ts";
import { recipientsOf, type Receiver } from "../deliver/receiver.ts";
import type { AlertingSettings } from "../settings.ts";
import { fleetOf, type FleetState } from "../view.ts";
import { hasFreeActs, takeActs, type ActsContext } from "./act-news.ts";
import { factsOf, reportFor, type AlertFacts } from "./alert-facts.ts";
import { withinBudget } from "./budget.ts";
import { assetsUrlOf, composeNotice, composeNotification } from "./compose.ts";
import { readHolds, type Holds } from "./holds.ts";
import { fleetNotice, incidentNotices, type ShownIncident } from "./incident-notice.ts";
import type { AlertNotice, FleetNotice, Notification, SampledAsset } from "./notification.ts";

/** What one look at the alerts did. */
export interface NotifierRun {
  /** Notifications that were put into the outbox, one for each recipient. */
  readonly formed: number;
  /** The instant of the next look if nothing changes; null: none is needed. */
  readonly nextAtMs: number | null;
}

/** Forms notifications: what holds and what was queued in, outbox rows out, each time in one transaction (CONTRACT 7). */
export interface Notifier {
  /** Forms what is due now. */
  runOnce(): Promise<NotifierRun>;
  /**
   * Forms a repetition of all alerts that fire and that this receiver was notified of; null when there are none. For a
   * receiver that forgets alerts that are not repeated: no notification, so that it is in no outbox.
   */
  resend(receiver: string): Promise<Notification | null>;
}

/** Reads the assets that notifications of an alert name, in the transaction that forms them. */
export type ReadSample = (
  parts: Pick<StoreParts, "evidence">,
  alert: AlertState,
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

// Some milliseconds: an incident of thousands must not hold up requests.
const composedAtOnce = 100;

/** Returns a notifier over the store. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { store, board, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });
  // A wait that would end after it does not outlast a clock that was set back, or a restart.
  let forwardSinceMs = clock.nowMs();
  let latestMs = forwardSinceMs;

  async function runOnce(): Promise<NotifierRun> {
    const settings = options.settings();
    const glance = await planNow(store, settings);
    if (!hasWork(glance) && !(await hasFreeActs(actsContext(store, settings, glance))))
      return { formed: 0, nextAtMs: nextLook(glance) };
    const { planned, formed } = await form(settings);
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

  async function form(settings: AlertingSettings): Promise<Formed> {
    try {
      return await store.transaction(async (parts) => {
        const planned = await planNow(parts, settings);
        const told = planned === null ? [] : await carryOut(parts, settings, planned);
        const formed = [...told, ...(await formActs(parts, settings, planned))];
        await parts.outbox.enqueue(formed.map(outboxEntry));
        return { planned, formed };
      });
    } catch (error) {
      // It may have been stored all the same.
      options.onEnqueued();
      throw error;
    }
  }

  async function planNow(parts: StoreParts, settings: AlertingSettings): Promise<Planned | null> {
    const nowMs = clock.nowMs();
    if (nowMs < latestMs) forwardSinceMs = nowMs;
    latestMs = nowMs;
    const holds = await readHolds(parts, settings, nowMs);
    if (holds === null) return null;
    return { nowMs, holds, due: due(holds.incidents, holds.queued, settings, { nowMs, forwardSinceMs }) };
  }

  async function carryOut(
    parts: StoreParts,
    settings: AlertingSettings,
    { nowMs, holds, due }: Planned,
  ): Promise<readonly FormedNotification[]> {
    const ids = due.notifications.flatMap(({ notices }) => notices.map(({ alertId }) => alertId));
    const notified = await parts.deliveries.firstAccepted([...new Set(ids)]);
    const shownOf = await incidentNotices(
      parts,
      { settings, board, nowMs },
      due.notifications.map(({ incident }) => incident.number),
    );
    const samples = new Map<string, readonly SampledAsset[]>();
    const fleets = new Map<number, FleetNotice>();
    const formed: FormedNotification[] = [];
    let composed = 0;

    async function sampleOf({ alertId, event }: DueNotice, held: HeldAlert): Promise<readonly SampledAsset[]> {
      if (event !== "firing" && event !== "escalated") return [];
      const known = samples.get(alertId);
      if (known !== undefined) return known;
      const sample = (await options.readSample?.(parts, held.alert, reportOf(held))) ?? [];
      samples.set(alertId, sample);
      return sample;
    }

    for (const { receiver, incident, isOfVerdict, notices, part } of due.notifications) {
      const isSampled = settings.receivers.find(({ name }) => name === receiver)?.sample ?? true;
      const alerts: AlertNotice[] = [];
      for (const notice of notices) {
        const held = holds.alerts.get(notice.alertId);
        if (held === undefined) continue;
        const facts = currentFacts(held);
        const notifiedAtMs = notified.get(notice.alertId);
        alerts.push(
          composeNotice(notice, facts, {
            assetsUrl: assetsUrlOf(settings, facts),
            sample: isSampled ? await sampleOf(notice, held) : [],
            opensGate: held.end?.opensGate === true,
            ...(notifiedAtMs === undefined ? {} : { notifiedAtMs }),
          }),
        );
        if (++composed % composedAtOnce === 0) await eventLoopTurn();
      }
      const verdict = isOfVerdict ? fleetOf(incident) : null;
      if (verdict !== null && !fleets.has(incident.number)) fleets.set(incident.number, fleetNow(holds, verdict));
      const fleet = verdict === null ? null : (fleets.get(incident.number) ?? null);
      formed.push(
        ...formFor(settings, { receiver, fleet, ...shownOf(incident.number, part, receiver), alerts }, nowMs),
      );
      if (composed >= composedAtOnce) await eventLoopTurn();
    }
    await parts.queued.save(due.queued);
    await parts.queued.forget(holds.lost);
    if (due.queued.alerts.some(({ isEnded }) => isEnded)) await parts.queued.tidy(nowMs);
    return formed;
  }

  /** Returns the notifications of these alerts for a receiver, within its budget, for each of its recipients. */
  function formFor(
    settings: AlertingSettings,
    { receiver, fleet, incident, part, alerts }: Pick<Notification, "receiver" | "fleet" | "alerts"> & ShownIncident,
    nowMs: number,
  ): readonly FormedNotification[] {
    const { externalUrl, sample = 0 } = settings;
    const compose = (some: readonly AlertNotice[]): Notification =>
      composeNotification({ id: newId(), receiver, nowMs, externalUrl, fleet, incident, part, sample, alerts: some });
    const route = settings.receivers.find(({ name }) => name === receiver) ?? { name: receiver };
    const { budget = null } = options.receiverOf?.(receiver) ?? {};
    return recipientsOf(route).flatMap((recipient) =>
      withinBudget(alerts, compose, budget).map((notification) => ({ recipient, notification })),
    );
  }

  /** This comes after what is due was formed: what waits of an alert holds its acts back. */
  async function formActs(
    parts: StoreParts,
    settings: AlertingSettings,
    planned: Planned | null,
  ): Promise<readonly FormedNotification[]> {
    const nowMs = clock.nowMs();
    const news = await takeActs(actsContext(parts, settings, planned));
    if (news.length === 0) return [];
    const shownOf = await incidentNotices(
      parts,
      { settings, board, nowMs },
      news.map(({ incident }) => incident),
    );
    const parted = planned?.due.parts ?? [];
    const queued = planned === null ? [] : [...planned.holds.queued.incidents, ...planned.due.queued.incidents];
    const known = new Map(queued.map((one) => [`${one.incident} ${one.receiver}`, one]));
    const formed: FormedNotification[] = [];
    for (const { receiver, incident, alerts } of news) {
      const own = parted.find((one) => one.receiver === receiver && one.incident.number === incident)?.part ?? [];
      const part = [...own, ...alerts.map(({ id }) => id)];
      formed.push(...formFor(settings, { receiver, fleet: null, ...shownOf(incident, part, receiver), alerts }, nowMs));
      // A reminder comes repeatInterval after the last message, of whatever.
      const before = known.get(`${incident} ${receiver}`);
      if (before !== undefined) await parts.queued.save({ alerts: [], incidents: [{ ...before, lastAtMs: nowMs }] });
    }
    return formed;
  }

  function fleetNow({ alerts }: Pick<Holds, "alerts">, fleet: FleetState): FleetNotice {
    const firing = [...alerts.values()].flatMap(({ alert, end }) => (end === null ? [alert] : []));
    return fleetNotice(fleet, firing, board);
  }

  function reportOf({ alert, end }: HeldAlert): CheckReport | null {
    const report = reportFor(alert.kind, board.state(alert.check, alert.slug));
    // Of one that is over only a result speaks that has ended it.
    return end === null || report?.severity === "ok" ? report : null;
  }

  function currentFacts(held: HeldAlert): AlertFacts {
    const { alert, end, target } = held;
    const context = target ?? alert.changed ?? { labels: {}, url: null };
    return factsOf(alert, reportOf(held), context, end);
  }

  async function resend(receiver: string): Promise<Notification | null> {
    const settings = options.settings();
    const nowMs = clock.nowMs();
    const holds = await readHolds(store, settings, nowMs);
    if (holds === null) return null;
    const own = holds.queued.alerts.filter((one) => one.receiver === receiver && !one.isEnded);
    const accepted = await store.deliveries.notifiedOf(own.map(({ alertId }) => alertId));
    const alerts: AlertNotice[] = [];
    for (const { alertId, severity } of own) {
      const held = holds.alerts.get(alertId);
      if (severity === null || held === undefined || held.end !== null) continue;
      if (accepted.get(alertId)?.has(receiver) !== true) continue;
      const notice = { alertId, event: "reminder", severity, previousSeverity: severity, reason: "resend" } as const;
      alerts.push(composeNotice(notice, currentFacts(held)));
    }
    if (alerts.length === 0) return null;
    // All incidents at once: it is for a receiver that knows alerts only.
    const told = holds.queued.incidents.filter((one) => one.receiver === receiver && one.knowsVerdict);
    const verdict = holds.incidents.find(
      ({ incident, alerts }) =>
        told.some((one) => one.incident === incident.number) && alerts.some(({ end }) => end === null),
    );
    const fleet = verdict === undefined ? null : fleetOf(verdict.incident);
    const { externalUrl } = settings;
    return composeNotification({
      id: newId(),
      receiver,
      nowMs,
      externalUrl,
      fleet: fleet === null ? null : fleetNow(holds, fleet),
      incident: null,
      alerts,
    });
  }

  function actsContext(parts: StoreParts, settings: AlertingSettings, planned: Planned | null): ActsContext {
    const { holds, due } = planned ?? { holds: null, due: nothingDue };
    return { parts, board, settings, holds, due };
  }

  return { runOnce, resend };
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

interface Formed {
  /** null: no receiver could be told of anything. */
  readonly planned: Planned | null;
  readonly formed: readonly FormedNotification[];
}

const nothingDue = { queued: { alerts: [], incidents: [] }, waiting: [] };

function hasWork(planned: Planned | null): boolean {
  if (planned === null) return false;
  const { holds, due } = planned;
  return due.notifications.length + due.queued.alerts.length + due.queued.incidents.length + holds.lost.length > 0;
}

function nextLook(planned: Planned | null): number | null {
  if (planned === null) return null;
  const { nowMs, holds, due } = planned;
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
    payload: JSON.stringify(facts),
  };
}
