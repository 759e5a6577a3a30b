import type { Alert } from "../../store/alerts/alerts.ts";
import { addressKey, type Address } from "../../store/alerts/outbox.ts";
import type { Queued } from "../../store/alerts/queued.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { Due } from "../decide/due.ts";
import type { Reason } from "../decide/reasons.ts";
import { addressesOf, isRouted } from "../decide/routing.ts";
import type { AlertingSettings, ReceiverRoute } from "../settings.ts";

/** An act on one alert. `alert` is as the act left it. */
export interface ActEntry {
  readonly event: "acknowledged" | "unacknowledged" | "judged" | "released" | "commented";
  readonly reason: Reason;
  readonly alert: Alert;
  /** The name as people see it ("Dana Reyes (web)"); null: a run did it. */
  readonly by: string | null;
  readonly comment: string | null;
}

/** One act on alerts of one incident, for one address. */
export interface ActNews extends Address {
  readonly incident: number;
  readonly atMs: number;
  readonly entries: readonly ActEntry[];
}

/** Stores an act in its transaction, if any receiver wants to be notified of it. */
export async function noteAct(
  { actNotices }: Pick<StoreParts, "actNotices">,
  { receivers }: Pick<AlertingSettings, "receivers">,
  { actId, atMs }: { readonly actId: string; readonly atMs: number },
  entries: readonly ActEntry[],
): Promise<void> {
  if (!receivers.some((route) => entries.some((entry) => wantsAct(route, entry)))) return;
  const notices = entries.map((entry) => ({ slug: entry.alert.slug, body: JSON.stringify(entry) }));
  await actNotices.append({ actId, atMs }, notices);
}

/**
 * Returns the acts that can be sent now, in order, for each receiver that they are routed to (CONTRACT 12). An act
 * waits for every earlier notification of its alerts, and later acts of the incident wait with it. Silences do not
 * delay acts: a person did them on purpose.
 */
export async function freeActs(
  parts: Pick<StoreParts, "actNotices" | "deliveries">,
  settings: AlertingSettings,
  queued: Queued,
  due: Pick<Due, "queued" | "waiting">,
): Promise<{ readonly taken: readonly string[]; readonly news: readonly ActNews[] }> {
  const notices = (await parts.actNotices.all()).map(({ body, ...act }) => {
    // noteAct wrote it in the same schema version of the store.
    return { ...act, entry: JSON.parse(body) as ActEntry };
  });
  if (notices.length === 0) return { taken: [], news: [] };
  const isToldOf = await parts.deliveries.toldOfEach(notices.map(({ entry }) => entry.alert.id));
  const queuedNow = [...queued.alerts, ...due.queued.alerts].filter(({ severity }) => severity !== null);
  const keyOf = (alertId: string, address: Address): string => `${alertId} ${addressKey(address)}`;
  const known = new Set(queuedNow.map((one) => keyOf(one.alertId, one)));
  const waiting = new Map(due.waiting.map((one) => [keyOf(one.alertId, one), one.sinceMs]));
  const held = new Set<number>();
  const free = [...Map.groupBy(notices, ({ actId }) => actId)].flatMap(([actId, own]) => {
    const atMs = own[0]?.atMs ?? 0;
    const incident = own[0]?.entry.alert.incident?.number ?? 0;
    const news = addressesOf(settings.receivers).flatMap(({ route, ...address }): ActNews[] => {
      const isTold = (id: string): boolean => isToldOf(id, address) || known.has(keyOf(id, address));
      const entries = own.flatMap(({ entry }) => {
        const { alert } = entry;
        return wantsAct(route, entry) && isRouted(settings, route, alert, () => isTold(alert.id)) ? [entry] : [];
      });
      return entries.length === 0 ? [] : [{ ...address, incident, atMs, entries }];
    });
    const isWaiting = (one: ActNews): boolean =>
      one.entries.some(({ alert }) => (waiting.get(keyOf(alert.id, one)) ?? Infinity) <= atMs);
    if (news.some(isWaiting)) held.add(incident);
    return held.has(incident) ? [] : [{ actId, news }];
  });
  return { taken: free.map(({ actId }) => actId), news: free.flatMap(({ news }) => news) };
}

function wantsAct({ sendActs, sendComments }: ReceiverRoute, { event }: ActEntry): boolean {
  return (event === "commented" ? sendComments : sendActs) === true;
}
