import { addressKey, type Address } from "../../store/alerts/outbox.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { readActEntry, wantsAct, type ActEntry } from "../acts/act-notice.ts";
import type { Due } from "../decide/due.ts";
import { addressesOf, isRouted } from "../decide/routing.ts";
import type { AlertingSettings } from "../settings.ts";
import type { Holds } from "./holds.ts";

/** What one address is told of one act: of alerts of one incident. */
export interface ActNews extends Address {
  /** Its number. */
  readonly incident: number;
  readonly atMs: number;
  readonly entries: readonly ActEntry[];
}

/**
 * Returns the acts that nothing holds back any more, as news for each receiver that they are routed to, in order (CONTRACT 12). An
 * act comes after everything that was to be told of its alerts before: while some of it waits for others the act stays, and so do
 * later ones of its incident. A silence holds no act back: a person did it on purpose.
 */
export async function freeActs(
  parts: Pick<StoreParts, "actNotices" | "deliveries">,
  settings: AlertingSettings,
  { queued }: Pick<Holds, "queued">,
  due: Pick<Due, "queued" | "waiting">,
): Promise<{ readonly taken: readonly string[]; readonly news: readonly ActNews[] }> {
  const notices = (await parts.actNotices.all()).map((notice) => ({ ...notice, entry: readActEntry(notice.body) }));
  if (notices.length === 0) return { taken: [], news: [] };
  const isToldOf = await parts.deliveries.toldOfEach(notices.map(({ entry }) => entry.alert.id));
  const queuedNow = [...queued.alerts, ...due.queued.alerts].filter(({ severity }) => severity !== null);
  const keyOf = (alertId: string, address: Address): string => `${alertId} ${addressKey(address)}`;
  const known = new Set(queuedNow.map((one) => keyOf(one.alertId, one)));
  const waiting = new Map(due.waiting.map((one) => [keyOf(one.alertId, one), one.sinceMs]));
  const held = new Set<number | undefined>();
  const free = [...Map.groupBy(notices, ({ actId }) => actId)].flatMap(([actId, own]) => {
    const entries = own.map(({ entry }) => entry);
    const atMs = own[0]?.atMs ?? 0;
    const incident = entries[0]?.alert.incident?.number;
    const routed = addressesOf(settings.receivers).map(({ route, ...address }) => {
      const isTold = (id: string): boolean => isToldOf(id, address) || known.has(keyOf(id, address));
      const isFor = ({ alert }: ActEntry): boolean => isRouted(settings, route, alert, () => isTold(alert.id));
      return { address, entries: entries.filter((entry) => wantsAct(route, entry) && isFor(entry)) };
    });
    const isHeld = routed.some(({ address, entries }) =>
      entries.some(({ alert }) => (waiting.get(keyOf(alert.id, address)) ?? Infinity) <= atMs),
    );
    if (isHeld) held.add(incident);
    if (held.has(incident)) return [];
    const news = routed.flatMap(({ address, entries }): ActNews[] =>
      [...Map.groupBy(entries, ({ alert }) => alert.incident?.number ?? 0)].map(([incident, some]) => {
        return { ...address, incident, atMs, entries: some };
      }),
    );
    return [{ actId, news }];
  });
  return { taken: free.map(({ actId }) => actId), news: free.flatMap(({ news }) => news) };
}
