import { FlatlineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time.ts";
import type { NewOutboxEntry } from "../../store/alerts/outbox.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Store } from "../../store/store.ts";
import { hasFreeActs, takeActs, type ActsContext } from "./act-news.ts";
import { assetsUrlOf, composeNotice, composeNotification } from "./compose.ts";
import { planNotifications, type Plan } from "../decide/grouping.ts";
import { recipientsOf, type Receiver } from "../deliver/receiver.ts";
import { withinBudget } from "./budget.ts";
import { fleetOf, type FleetState } from "../view.ts";
import { fleetNotice, incidentNotices, type ShownIncident } from "./incident-notice.ts";
import type { AlertNotice, FleetNotice, Notification } from "./notification.ts";
import type { PlannedNotice, TrackedAlert } from "../decide/outstanding.ts";
import type { AlertingSettings } from "../settings.ts";
import { nextSilenceChangeAtMs } from "../decide/silences.ts";
import { readSnapshot, reportFor, snapshotOf, type AlertSnapshot } from "./snapshot.ts";
import { loadTracked, type Tracked } from "./tracking.ts";

/** What one look at the alerts did. */
export interface NotifierRun {
  /** Notifications that were put into the outbox, one for each recipient. */
  readonly formed: number;
  /** The instant of the next look if nothing changes; null: none is needed. */
  readonly nextAtMs: number | null;
}

/** Forms notifications: changes and earlier notifications in, outbox rows out, each time in one transaction (CONTRACT 7). */
export interface Notifier {
  /** Forms what is due now. */
  runOnce(): Promise<NotifierRun>;
  /**
   * Forms a repetition of all alerts that fire and that this receiver was notified of; null when there are none. For a
   * receiver that forgets alerts that are not repeated. It is stored in the outbox as under way, so that what follows
   * it is not delivered before its delivery has ended.
   */
  resend(receiver: string): Promise<Notification | null>;
}

export interface NotifierOptions {
  readonly store: Store;
  /** The last states of checks, for what notifications show. */
  readonly board: Pick<Board, "state">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ids of notifications and fleet verdicts, unique over all time. */
  readonly newId: () => string;
  /** Returns the settings that hold now. */
  readonly settings: () => AlertingSettings;
  /** Returns what bounds and orders the deliveries to the receiver with this name [nothing does]. */
  readonly receiverOf?: (receiver: string) => Pick<Receiver, "budget" | "isByIncident"> | null;
  /** Called after a commit, when a row waits in the outbox. */
  readonly onEnqueued: () => void;
}

/** Returns a notifier over the store. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { store, board, clock, newId } = options;
  const logger = options.logger.child({ room: "alerting" });

  async function runOnce(): Promise<NotifierRun> {
    const settings = options.settings();
    const glance = await planNow(store, settings);
    const isIdle = glance === null || !hasWork(glance.plan);
    if (isIdle && !(await hasFreeActs(actsContext(store, settings, glance))))
      return { formed: 0, nextAtMs: nextLook(glance) };
    const done = await form(settings);
    for (const { recipient, notification } of done.formed) {
      const { id, receiver, status, alerts } = notification;
      const to = recipient === null ? {} : { recipient };
      logger.info({ notification: id, receiver, ...to, status, alerts: alerts.length }, "notification formed");
    }
    const { planned, formed } = done;
    if (formed.length === 0) return { formed: 0, nextAtMs: nextLook(planned) };
    options.onEnqueued();
    // Alerts that were notified now have reminders and pauses that the plan could not know of yet.
    return { formed: formed.length, nextAtMs: clock.nowMs() };
  }

  async function form(settings: AlertingSettings): Promise<Formed> {
    try {
      return await store.transaction(async (parts) => {
        const planned = await planNow(parts, settings);
        const formed = planned === null ? [] : await carryOut(parts, settings, planned);
        return { planned, formed: [...formed, ...(await formActs(parts, settings, planned))] };
      });
    } catch (error) {
      // It may have been stored all the same.
      options.onEnqueued();
      throw error;
    }
  }

  async function planNow(parts: StoreParts, settings: AlertingSettings): Promise<Planned | null> {
    const tracked = await loadTracked(parts, { settings, nowMs: clock.nowMs() });
    return tracked === null ? null : { tracked, plan: planNotifications(tracked.input) };
  }

  async function carryOut(
    parts: StoreParts,
    settings: AlertingSettings,
    { tracked, plan }: Planned,
  ): Promise<readonly FormedNotification[]> {
    const alerts = new Map(tracked.input.alerts.map((alert) => [alert.id, alert]));
    const seqs = plan.notifications.flatMap(({ notices }) => notices.flatMap(({ seq }) => seq ?? []));
    const stored = await parts.notices.snapshots([...new Set(seqs)]);
    const ids = plan.notifications.flatMap(({ notices }) => notices.map(({ alertId }) => alertId));
    const notified = await parts.deliveries.firstAccepted([...new Set(ids)]);
    const snapshots = new Map<string, AlertSnapshot>();
    const incidents = await incidentNotices(
      parts,
      { settings, board, nowMs: clock.nowMs() },
      plan.notifications.map(({ incident }) => incident.number),
    );
    const fleets = new Map<number, FleetNotice>();
    const formed: FormedNotification[] = [];
    for (const { receiver, incident, isOfVerdict, notices, part } of plan.notifications) {
      const shown = [];
      const isSampled = settings.receivers.find(({ name }) => name === receiver)?.sample ?? true;
      for (const notice of notices) {
        const snapshot = await snapshotFor({ parts, board }, alerts, stored, snapshots, notice);
        const notifiedAtMs = notified.get(notice.alertId);
        const facts = { isSampled, assetsUrl: assetsUrlOf(settings, snapshot) };
        shown.push(composeNotice(notice, snapshot, notifiedAtMs === undefined ? facts : { ...facts, notifiedAtMs }));
      }
      const verdict = isOfVerdict ? fleetOf(incident) : null;
      if (verdict !== null && !fleets.has(incident.number)) fleets.set(incident.number, fleetNow(tracked, verdict));
      const fleet = verdict === null ? null : (fleets.get(incident.number) ?? null);
      const sent = { receiver, fleet, ...incidents(incident.number, part), alerts: shown };
      formed.push(...formFor(settings, sent, tracked.input.nowMs));
    }
    await parts.outbox.enqueueAll(formed.map(outboxEntry));
    await parts.notices.saveSent(plan.sent);
    for (const known of plan.known) await parts.notices.saveReceiverIncident(known);
    await parts.notices.settle(plan.settled.flatMap(({ id, live }) => (live === null ? [] : [id])));
    const over = plan.settled.flatMap(({ id, live }) => (live === null ? [id] : []));
    await parts.notices.forgetAlerts(over);
    if (over.length > 0) await parts.notices.forgetEndedIncidents();
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
    const { budget = null, isByIncident = false } = options.receiverOf?.(receiver) ?? {};
    return recipientsOf(route).flatMap((recipient) =>
      withinBudget(alerts, compose, budget).map((notification) => ({ recipient, notification, isByIncident })),
    );
  }

  /** This comes after the plan was carried out: what it leaves unsaid of an alert holds its acts back. */
  async function formActs(
    parts: StoreParts,
    settings: AlertingSettings,
    planned: Planned | null,
  ): Promise<readonly FormedNotification[]> {
    const nowMs = clock.nowMs();
    const news = await takeActs(actsContext(parts, settings, planned));
    const acted = await incidentNotices(
      parts,
      { settings, board, nowMs },
      news.map(({ incident }) => incident),
    );
    const whole = planned?.plan.parts ?? [];
    const formed = news.flatMap(({ receiver, incident, alerts }) => {
      const own = whole.find((one) => one.receiver === receiver && one.incident.number === incident)?.part ?? [];
      const part = [...own, ...alerts.map(({ id }) => id)];
      return formFor(settings, { receiver, fleet: null, ...acted(incident, part), alerts }, nowMs);
    });
    await parts.outbox.enqueueAll(formed.map(outboxEntry));
    return formed;
  }

  function fleetNow({ input: { alerts } }: Tracked, fleet: FleetState): FleetNotice {
    return fleetNotice(
      fleet,
      alerts.flatMap(({ live }) => live ?? []),
      board,
    );
  }

  function actsContext(parts: StoreParts, settings: AlertingSettings, planned: Planned | null): ActsContext {
    const alerts = planned?.tracked.input.alerts ?? [];
    return { parts, board, settings, alerts, plan: planned?.plan ?? { sent: [], postponed: [] } };
  }

  async function resend(receiver: string): Promise<Notification | null> {
    // Most of the time nothing fires.
    if ((await store.alerts.allLive()).length === 0) return null;
    return store.transaction(async (parts) => {
      const notification = await formResend(parts, receiver);
      if (notification !== null)
        await parts.outbox.enqueue({
          ...outboxEntry({ recipient: null, notification, isByIncident: false }),
          isUnderWay: true,
        });
      return notification;
    });
  }

  async function formResend(parts: StoreParts, receiver: string): Promise<Notification | null> {
    const settings = options.settings();
    const tracked = await loadTracked(parts, { settings, nowMs: clock.nowMs() });
    if (tracked === null) return null;
    const shown = [];
    for (const alert of tracked.input.alerts) {
      const sent = alert.sent.get(receiver);
      if (alert.live === null || sent === undefined || sent.isEnded) continue;
      const snapshot = await liveSnapshot({ parts, board }, alert);
      const { severity } = sent;
      shown.push(
        composeNotice(
          { alertId: alert.id, event: "reminder", severity, previousSeverity: severity, reason: "resend", seq: null },
          snapshot,
        ),
      );
    }
    if (shown.length === 0) return null;
    // All incidents at once: it is for a receiver that knows alerts only.
    const { known, nowMs, alerts } = tracked.input;
    const told = known.find((one) => one.receiver === receiver && one.knowsVerdict)?.incident;
    const incident = alerts.find((alert) => alert.live !== null && alert.incident.number === told)?.incident;
    const verdict = incident === undefined ? null : fleetOf(incident);
    return composeNotification({
      id: newId(),
      receiver,
      nowMs,
      externalUrl: settings.externalUrl,
      fleet: verdict === null ? null : fleetNow(tracked, verdict),
      incident: null,
      alerts: shown,
    });
  }

  return { runOnce, resend };
}

interface FormedNotification {
  /** null: the receiver is one. */
  readonly recipient: string | null;
  readonly notification: Notification;
  /** Order is kept by incident, too. */
  readonly isByIncident: boolean;
}

interface Formed {
  /** null: no receiver could be notified of anything. */
  readonly planned: Planned | null;
  readonly formed: readonly FormedNotification[];
}

interface Planned {
  readonly tracked: Tracked;
  readonly plan: Plan;
}

function hasWork({ notifications, sent, known, settled }: Plan): boolean {
  return notifications.length + sent.length + known.length + settled.length > 0;
}

function nextLook(planned: Planned | null): number | null {
  if (planned === null) return null;
  const { tracked, plan } = planned;
  const silenceMs = plan.hasSilenced ? nextSilenceChangeAtMs(tracked.silences, tracked.input.nowMs) : null;
  if (silenceMs === null || plan.nextAtMs === null) return silenceMs ?? plan.nextAtMs;
  return Math.min(silenceMs, plan.nextAtMs);
}

function outboxEntry({ recipient, notification, isByIncident }: FormedNotification): NewOutboxEntry {
  const { id, receiver, generatedAtMs, fleet, incident, alerts } = notification;
  // By (check, slug, kind), not by episode: a late `resolved` of the last one would end the next one at its receiver. An
  // incident counts as one of them where it is one thing at the receiver, or has a verdict, so that its end never overtakes its begin.
  const whole = fleet?.id ?? (isByIncident ? incident?.id : undefined);
  const own = alerts.map(({ check, slug, kind }) => `${check}/${slug}/${kind}`);
  const subjects = [...new Set([...(whole === undefined ? [] : [whole]), ...own])];
  return {
    id,
    receiver,
    recipient,
    createdAtMs: generatedAtMs,
    notBeforeMs: generatedAtMs,
    subjects,
    incident: incident?.number ?? null,
    payload: JSON.stringify(notification),
  };
}

/** One reading for all receivers that are notified of the same moment. */
async function snapshotFor(
  source: SnapshotSource,
  alerts: ReadonlyMap<string, TrackedAlert>,
  stored: ReadonlyMap<number, string>,
  known: Map<string, AlertSnapshot>,
  { alertId, seq }: PlannedNotice,
): Promise<AlertSnapshot> {
  const key = `${seq ?? "live"} ${alertId}`;
  let snapshot = known.get(key);
  if (snapshot === undefined) {
    const text = seq === null ? undefined : stored.get(seq);
    snapshot = text === undefined ? await liveSnapshot(source, alerts.get(alertId)) : readSnapshot(text);
    known.set(key, snapshot);
  }
  return snapshot;
}

/** What an alert's present is read from. */
interface SnapshotSource {
  readonly parts: StoreParts;
  readonly board: Pick<Board, "state">;
}

async function liveSnapshot({ parts, board }: SnapshotSource, alert: TrackedAlert | undefined): Promise<AlertSnapshot> {
  const state = alert?.live ?? null;
  if (state === null) throw new FlatlineError("internal", "an alert that has ended has no present");
  const report = reportFor(state.kind, board.state(state.check, state.slug));
  const last = await parts.notices.lastSnapshot(state.id);
  const sent = last === null ? null : readSnapshot(last);
  const context = alert?.target ?? sent ?? { labels: {}, url: null };
  // The one that its last change had: it stays the same until the next.
  return snapshotOf(state, report, { ...context, sample: sent?.sample ?? [] }, null);
}
