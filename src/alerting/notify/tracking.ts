import type { AlertState } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import type { AlertChange, SentState } from "../../store/alerts/notices.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import type { PlanInput } from "../decide/grouping.ts";
import { matches } from "../decide/matching.ts";
import type { TrackedAlert } from "../decide/outstanding.ts";
import { isSilenced, ruleOf, rulesAt } from "../decide/silences.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { AlertingSettings } from "../settings.ts";

/** Everything that is read before a plan is made. */
export interface Tracked {
  readonly input: PlanInput;
  /** The rules of the configuration and those made at run time, with those that have ended and still matter. */
  readonly silences: readonly SilenceRule[];
}

/** Reads the alerts that fire, the changes and the earlier notifications; null when no receiver could be notified of anything. */
export async function loadTracked(
  parts: StoreParts,
  { settings, nowMs }: { readonly settings: AlertingSettings; readonly nowMs: number },
): Promise<Tracked | null> {
  const live = (await parts.alerts.allLive()).filter(({ state }) => state === "firing");
  const changes = await parts.notices.changes();
  if (live.length === 0 && changes.length === 0) return null;
  const sent = await parts.notices.sent();
  const oldestMs = changes.reduce((oldest, { atMs }) => Math.min(oldest, atMs), nowMs);
  const silences = [...settings.silences, ...(await parts.silences.endingAfter(oldestMs)).map(ruleOf)];
  const numbers = new Set([
    ...live.map(({ incident }) => incident?.number ?? 0),
    ...changes.map(({ incident }) => incident),
  ]);
  const incidents = await parts.incidents.byNumbers([...numbers]);
  const alerts = trackAlerts({ live, changes, sent, silences, incidents, settings, nowMs });
  const known = await parts.notices.receiverIncidents();
  return { input: { nowMs, settings, alerts, known }, silences };
}

interface TrackInput {
  readonly live: readonly AlertState[];
  readonly changes: readonly AlertChange[];
  readonly sent: readonly SentState[];
  readonly silences: readonly SilenceRule[];
  readonly incidents: readonly Incident[];
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

function trackAlerts({ live, changes, sent, silences, incidents, settings, nowMs }: TrackInput): TrackedAlert[] {
  const liveById = new Map(live.map((alert) => [alert.id, alert]));
  const changesById = Map.groupBy(changes, ({ alertId }) => alertId);
  const holding = rulesAt(silences, nowMs);
  const sentById = Map.groupBy(sent, ({ alertId }) => alertId);
  const incidentByNumber = new Map(incidents.map((incident) => [incident.number, incident]));
  return [...new Set([...changesById.keys(), ...liveById.keys()])].flatMap((id) => {
    const alert = liveById.get(id) ?? null;
    const own = changesById.get(id) ?? [];
    const named = alert ?? own[0];
    const incident = incidentByNumber.get(alert?.incident?.number ?? own[0]?.incident ?? 0);
    if (named === undefined || incident === undefined) return [];
    const { check, slug, kind } = named;
    const target = settings.targetOf(check, slug);
    const subject = { check, slug, labels: target?.labels ?? {} };
    return {
      id,
      check,
      slug,
      kind,
      incident,
      live: alert,
      changes: own,
      target,
      isSilenced: holding.some((rule) => matches(rule, subject)),
      wasSilencedAt: (atMs: number) => isSilenced(silences, subject, atMs),
      sent: new Map((sentById.get(id) ?? []).map((one) => [one.receiver, one])),
    };
  });
}
