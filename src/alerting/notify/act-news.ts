import type { ActNotice } from "../../store/alerts/act-notices.ts";
import type { Board } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { readActEntries, wantsAct, type ActEntry } from "../acts/act-notice.ts";
import type { Due } from "../decide/due.ts";
import { isRouted } from "../decide/routing.ts";
import type { AlertingSettings } from "../settings.ts";
import { factsOf, reportFor } from "./alert-facts.ts";
import { assetsUrlOf, composeActNotice, restoreUrlOf } from "./compose.ts";
import type { Holds } from "./holds.ts";
import type { AlertNotice } from "./notification.ts";

export interface ActsContext {
  readonly parts: Pick<StoreParts, "alerts" | "actNotices" | "deliveries">;
  readonly board: Pick<Board, "state">;
  readonly settings: AlertingSettings;
  /** null: nothing fires, and no end is to be told. */
  readonly holds: Pick<Holds, "alerts" | "queued"> | null;
  /** What is told now, and what waits for its time. */
  readonly due: Pick<Due, "queued" | "waiting">;
}

/** What one receiver is told of one act: of alerts of one incident. */
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
 * Takes the acts that no receiver was told of out of the store, as news for each receiver that they are routed to, in order
 * (CONTRACT 12). An act comes after everything that was to be told of its alerts before: while some of it waits for others the act
 * stays, and so do later ones of its organization. A silence holds no act back: a person did it on purpose.
 */
export async function takeActs(context: ActsContext): Promise<readonly ActNews[]> {
  const free = await freeActs(context);
  const news: ActNews[] = [];
  for (const { act, entries, routed } of free) {
    const notices = await composeEntries(context, act, entries);
    for (const { receiver, entries } of routed) {
      const byIncident = Map.groupBy(entries, ({ alert }) => alert.incident?.number ?? 0);
      for (const [incident, some] of byIncident)
        news.push({ receiver, incident, alerts: some.flatMap((entry) => notices.get(entry) ?? []) });
    }
  }
  await context.parts.actNotices.forget(free.map(({ act }) => act.seq));
  return news;
}

/** Returns true if `takeActs` would take any. */
export async function hasFreeActs(context: ActsContext): Promise<boolean> {
  return (await freeActs(context)).length > 0;
}

async function freeActs({ parts, settings, holds, due }: ActsContext): Promise<readonly FreeAct[]> {
  const acts = (await parts.actNotices.all()).map((act) => ({ act, entries: readActEntries(act.body) }));
  if (acts.length === 0) return [];
  const told = await parts.deliveries.notifiedOf(idsOf(acts.flatMap(({ entries }) => entries)));
  const queued = [...(holds?.queued.alerts ?? []), ...due.queued.alerts].filter(({ severity }) => severity !== null);
  const known = new Set(queued.map(({ alertId, receiver }) => `${alertId} ${receiver}`));
  const waiting = new Map(due.waiting.map((one) => [`${one.alertId} ${one.receiver}`, one.sinceMs]));
  const held = new Set<string>();
  return acts.flatMap(({ act, entries }) => {
    const routed = settings.receivers.map((route) => {
      const isTold = (id: string): boolean =>
        told.get(id)?.has(route.name) === true || known.has(`${id} ${route.name}`);
      const isFor = ({ alert }: ActEntry): boolean => isRouted(settings, route, alert, () => isTold(alert.id));
      return { receiver: route.name, entries: entries.filter((entry) => wantsAct(route, entry) && isFor(entry)) };
    });
    const isHeld = routed.some(({ receiver, entries }) =>
      entries.some(({ alert }) => (waiting.get(`${alert.id} ${receiver}`) ?? Infinity) <= act.atMs),
    );
    if (isHeld) held.add(act.slug);
    return held.has(act.slug) ? [] : [{ act, entries, routed: routed.filter(({ entries }) => entries.length > 0) }];
  });
}

function idsOf(entries: readonly ActEntry[]): readonly string[] {
  return [...new Set(entries.map(({ alert }) => alert.id))];
}

async function composeEntries(
  { parts, board, settings, holds }: ActsContext,
  { atMs }: ActNotice,
  entries: readonly ActEntry[],
): Promise<ReadonlyMap<ActEntry, AlertNotice>> {
  const notified = await parts.deliveries.firstAccepted(idsOf(entries));
  const notices = new Map<ActEntry, AlertNotice>();
  for (const entry of entries) {
    const { id, kind, check, slug } = entry.alert;
    const isLive = holds?.alerts.get(id)?.end === null;
    // It may have ended since; and of one that is over the last result speaks no longer.
    const endsAtMs = isLive ? null : ((await parts.alerts.find(id))?.end?.atMs ?? entry.endsAtMs);
    const report = isLive ? reportFor(kind, board.state(check, slug)) : null;
    const context = settings.targetOf(check, slug) ?? { labels: {}, url: null };
    const facts = factsOf(entry.alert, report, context, endsAtMs === null ? null : { atMs: endsAtMs });
    const notifiedAtMs = notified.get(id);
    const urls = { assetsUrl: assetsUrlOf(settings, facts), restoreUrl: restoreUrlOf(settings, facts) };
    const shown = notifiedAtMs === undefined ? { ...urls, atMs } : { ...urls, atMs, notifiedAtMs };
    notices.set(entry, composeActNotice(entry, facts, shown));
  }
  return notices;
}
