import type { ActNotice } from "../../store/alerts/notices.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { readActEntries, wantsAct, type ActEntry } from "../acts/act-notice.ts";
import type { Plan } from "../decide/grouping.ts";
import { isRouted, type TrackedAlert } from "../decide/outstanding.ts";
import type { AlertingSettings, ReceiverRoute } from "../settings.ts";
import { assetsUrlOf, composeActNotice, restoreUrlOf } from "./compose.ts";
import type { AlertNotice } from "./notification.ts";
import { reportFor, snapshotOf } from "./snapshot.ts";

export interface ActsContext {
  readonly parts: Pick<StoreParts, "alerts" | "notices" | "deliveries">;
  readonly board: Pick<Board, "state">;
  readonly settings: AlertingSettings;
  /** The alerts that the notifier looks at; one that is over and settled is not among them. */
  readonly alerts: readonly TrackedAlert[];
  /** What is said now, and what stays unsaid for now. */
  readonly plan: Pick<Plan, "sent" | "postponed">;
}

/** What one receiver is notified of one act: of alerts of one incident. */
export interface ActNews {
  readonly receiver: string;
  /** Its number. */
  readonly incident: number;
  readonly alerts: readonly AlertNotice[];
}

/** An act that nothing holds back any more. */
interface FreeAct {
  readonly act: ActNotice;
  readonly entries: readonly ActEntry[];
  readonly routed: readonly { readonly receiver: string; readonly entries: readonly ActEntry[] }[];
}

/**
 * Takes the acts that no receiver was notified of out of the store, as news for each receiver that they are routed to, in order
 * (CONTRACT 12). An act comes after everything that was to be said of its alerts before: while some of it waits to be sent
 * with others the act stays, and so do later ones of its organization. A silence holds no act back: a person did it on purpose.
 */
export async function takeActs(context: ActsContext): Promise<readonly ActNews[]> {
  const free = await freeActs(context);
  const news: ActNews[] = [];
  for (const { act, entries, routed } of free) {
    const notices = await composeEntries(context, act, entries);
    for (const { receiver, entries } of routed) {
      const byIncident = Map.groupBy(entries, ({ alert }) => alert.incident?.number ?? 0);
      for (const [incident, some] of byIncident) {
        const alerts = some.flatMap((entry) => notices.get(entry) ?? []);
        if (alerts.length > 0) news.push({ receiver, incident, alerts });
      }
    }
  }
  await context.parts.notices.forgetActs(free.map(({ act }) => act.seq));
  return news;
}

/** Returns true if `takeActs` would take any. */
export async function hasFreeActs(context: ActsContext): Promise<boolean> {
  return (await freeActs(context)).length > 0;
}

async function freeActs(context: ActsContext): Promise<readonly FreeAct[]> {
  const { parts, settings, plan } = context;
  const acts = (await parts.notices.acts()).map((act) => ({ act, entries: readActEntries(act.body) }));
  const notified = await parts.deliveries.notifiedOf(idsOf(acts.flatMap(({ entries }) => entries)));
  const held = new Set<string>();
  return acts.flatMap(({ act, entries }) => {
    const routed = settings.receivers.map((route) => ({
      receiver: route.name,
      entries: entries.filter((entry) => wantsAct(route, entry) && isRoutedTo(context, entry, route, notified)),
    }));
    const isHeld = routed.some(({ receiver, entries }) =>
      entries.some(({ alert }) =>
        plan.postponed.some(
          (news) => news.receiver === receiver && news.alertId === alert.id && news.sinceMs <= act.atMs,
        ),
      ),
    );
    if (isHeld) held.add(act.slug);
    return held.has(act.slug) ? [] : [{ act, entries, routed }];
  });
}

function idsOf(entries: readonly ActEntry[]): readonly string[] {
  return [...new Set(entries.map(({ alert }) => alert.id))];
}

function isRoutedTo(
  { settings, alerts, plan }: ActsContext,
  { alert }: ActEntry,
  route: ReceiverRoute,
  notified: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const { id } = alert;
  const isNotified = (): boolean =>
    notified.get(id)?.has(route.name) === true ||
    plan.sent.some(({ alertId, receiver }) => alertId === id && receiver === route.name) ||
    alerts.some((tracked) => tracked.id === id && tracked.sent.has(route.name));
  return isRouted(settings, route, alert, isNotified);
}

async function composeEntries(
  { parts, board, settings, alerts }: ActsContext,
  { atMs }: ActNotice,
  entries: readonly ActEntry[],
): Promise<ReadonlyMap<ActEntry, AlertNotice>> {
  const notified = await parts.deliveries.firstAccepted(idsOf(entries));
  const notices = new Map<ActEntry, AlertNotice>();
  for (const entry of entries) {
    const { id, kind, check, slug } = entry.alert;
    const isLive = alerts.some((tracked) => tracked.id === id && tracked.live !== null);
    // It may have ended since; and of one that is over the last result speaks no longer.
    const endsAtMs = isLive ? null : ((await parts.alerts.find(id))?.end?.atMs ?? entry.endsAtMs);
    const report = isLive ? reportFor(kind, board.state(check, slug)) : null;
    const context = settings.targetOf(check, slug) ?? { labels: {}, url: null };
    const snapshot = snapshotOf(entry.alert, report, context, endsAtMs);
    const notifiedAtMs = notified.get(id);
    const urls = { assetsUrl: assetsUrlOf(settings, snapshot), restoreUrl: restoreUrlOf(settings, snapshot) };
    const facts = notifiedAtMs === undefined ? { ...urls, atMs } : { ...urls, atMs, notifiedAtMs };
    notices.set(entry, composeActNotice(entry, snapshot, facts));
  }
  return notices;
}
