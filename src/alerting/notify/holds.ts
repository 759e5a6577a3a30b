import type { Alert } from "../../store/alerts/alerts.ts";
import { addressKey } from "../../store/alerts/outbox.ts";
import type { Queued } from "../../store/alerts/queued.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { HeldAlert } from "../decide/difference.ts";
import type { HeldIncident } from "../decide/due.ts";
import { addressesOf } from "../decide/routing.ts";
import { rulesBySlug, silencedAt } from "../decide/silences.ts";
import type { AlertingSettings } from "../settings.ts";
import { silenceRules } from "../view.ts";

/** Everything that decides which notifications are due. */
export interface Holds {
  readonly incidents: readonly HeldIncident[];
  readonly alerts: ReadonlyMap<string, HeldAlert>;
  readonly queued: Queued;
  /** All silences, of the configuration and made at run time, also ended ones that still matter. */
  readonly silences: readonly SilenceRule[];
  /** Alerts that were queued but are deleted now. */
  readonly lost: readonly string[];
}

/** Reads the firing alerts, the ended ones that a receiver does not know of yet, and what was queued. */
export async function readHolds(
  parts: Pick<StoreParts, "alerts" | "queued" | "incidents" | "silences">,
  settings: AlertingSettings,
  nowMs: number,
): Promise<Holds> {
  const live = (await parts.alerts.allLive()).filter(({ state }) => state === "firing");
  const stored = await parts.queued.all();
  const named = new Set(addressesOf(settings.receivers).map(addressKey));
  const queued: Queued = {
    alerts: stored.alerts.filter((one) => named.has(addressKey(one))),
    incidents: stored.incidents.filter((one) => named.has(addressKey(one))),
  };
  const isLive = new Set(live.map(({ id }) => id));
  const open = queued.alerts.filter((one) => !one.isEnded && one.severity !== null && !isLive.has(one.alertId));
  const ended = await readEnded(parts, open);
  const oldestMs = live.reduce((oldest, { changed }) => Math.min(oldest, changed?.firedAtMs ?? oldest), nowMs);
  const silences = await silenceRules(parts, settings, oldestMs);
  const isSilencedNow = silencedAt(silences, nowMs);
  const rulesOf = rulesBySlug(silences);
  const held = [...live, ...ended].map((alert): HeldAlert => {
    const { check, slug } = alert;
    const target = settings.targetOf(check, slug);
    const subject = { check, slug, labels: target?.labels ?? {} };
    return {
      ...alert,
      target,
      isSilenced: alert.end === null && isSilencedNow(subject),
      wasSilencedAt: (atMs) => silencedAt(rulesOf(slug), atMs)(subject),
    };
  });
  const byIncident = Map.groupBy(held, (alert) => alert.incident?.number ?? 0);
  const incidents = await parts.incidents.byNumbers([...byIncident.keys()]);
  const alerts = new Map(held.map((one) => [one.id, one]));
  return {
    incidents: incidents.map((incident) => ({ incident, alerts: byIncident.get(incident.number) ?? [] })),
    alerts,
    queued,
    silences,
    lost: open.flatMap(({ alertId }) => (alerts.has(alertId) ? [] : [alertId])),
  };
}

async function readEnded(
  { incidents }: Pick<StoreParts, "incidents">,
  open: Queued["alerts"],
): Promise<readonly Alert[]> {
  if (open.length === 0) return [];
  const ids = new Set(open.map(({ alertId }) => alertId));
  const members = await incidents.members([...new Set(open.map(({ incident }) => incident))], []);
  return [...members.values()].flat().filter((alert) => alert.end !== null && ids.has(alert.id));
}
