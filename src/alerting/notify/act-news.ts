import { addressKey, type Address } from "../../store/alerts/outbox.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { readActEntries, wantsAct, type ActEntry } from "../acts/act-notice.ts";
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
 * later ones of its organization. A silence holds no act back: a person did it on purpose.
 */
export async function freeActs(
  parts: Pick<StoreParts, "actNotices" | "deliveries">,
  settings: AlertingSettings,
  { queued }: Pick<Holds, "queued">,
  due: Pick<Due, "queued" | "waiting">,
): Promise<{ readonly taken: readonly number[]; readonly news: readonly ActNews[] }> {
  const acts = (await parts.actNotices.all()).map((act) => ({ ...act, entries: readActEntries(act.body) }));
  if (acts.length === 0) return { taken: [], news: [] };
  const isToldOf = await parts.deliveries.toldOfEach(
    acts.flatMap(({ entries }) => entries.map(({ alert }) => alert.id)),
  );
  const queuedNow = [...queued.alerts, ...due.queued.alerts].filter(({ severity }) => severity !== null);
  const keyOf = (alertId: string, address: Address): string => `${alertId} ${addressKey(address)}`;
  const known = new Set(queuedNow.map((one) => keyOf(one.alertId, one)));
  const waiting = new Map(due.waiting.map((one) => [keyOf(one.alertId, one), one.sinceMs]));
  const held = new Set<string>();
  const free = acts.flatMap(({ seq, slug, atMs, entries }) => {
    const routed = addressesOf(settings.receivers).map(({ route, ...address }) => {
      const isTold = (id: string): boolean => isToldOf(id, address) || known.has(keyOf(id, address));
      const isFor = ({ alert }: ActEntry): boolean => isRouted(settings, route, alert, () => isTold(alert.id));
      return { address, entries: entries.filter((entry) => wantsAct(route, entry) && isFor(entry)) };
    });
    const isHeld = routed.some(({ address, entries }) =>
      entries.some(({ alert }) => (waiting.get(keyOf(alert.id, address)) ?? Infinity) <= atMs),
    );
    if (isHeld) held.add(slug);
    if (held.has(slug)) return [];
    const news = routed.flatMap(({ address, entries }): ActNews[] =>
      [...Map.groupBy(entries, ({ alert }) => alert.incident?.number ?? 0)].map(([incident, some]) => {
        return { ...address, incident, atMs, entries: some };
      }),
    );
    return [{ seq, news }];
  });
  return { taken: free.map(({ seq }) => seq), news: free.flatMap(({ news }) => news) };
}
