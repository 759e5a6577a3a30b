import type { AlertState } from "../../store/alerts/alerts.ts";
import type { AlertChange, SentState } from "../../store/alerts/notices.ts";
import type { Board, CheckState } from "../../store/runs/board.ts";
import type { StoreParts } from "../../store/store-parts.ts";
import { countFleet } from "../decide/fleet-bound.ts";
import { countSpiking, type PlanInput } from "../decide/grouping.ts";
import { isFleetAlert } from "../decide/news.ts";
import { matches } from "../decide/matching.ts";
import { isSilenced, ruleOf, rulesAt } from "../decide/silences.ts";
import type { SilenceRule } from "../../contract/silence.ts";
import type { AlertingSettings } from "../settings.ts";
import type { TrackedAlert } from "../decide/outstanding.ts";

/** Everything that is read before a plan is made. */
export interface Tracked {
  readonly input: PlanInput;
  /** Those of the configuration and those made at run time, ended ones that still matter included. */
  readonly silences: readonly SilenceRule[];
  /** States of the spike check; empty where no fleet verdict can be at stake. */
  readonly spikeStates: readonly CheckState[];
}

export interface LoadOptions {
  readonly settings: AlertingSettings;
  /** The last states of checks; of what other processes run up to 2 s old. */
  readonly board: Pick<Board, "states">;
  readonly nowMs: number;
  readonly newId: () => string;
}

/** Reads the alerts that fire, the changes and the earlier notifications; null when no receiver could be notified of anything. */
export async function loadTracked(parts: StoreParts, options: LoadOptions): Promise<Tracked | null> {
  const { settings, board, nowMs, newId } = options;
  const live = (await parts.alerts.allLive()).filter(({ state }) => state === "firing");
  const changes = await parts.notices.changes();
  const fleet = await parts.notices.liveFleet("dead-asset-spike");
  if (live.length === 0 && changes.length === 0 && fleet === null) return null;
  const sent = await parts.notices.sent();
  const oldestMs = changes.reduce((oldest, { atMs }) => Math.min(oldest, atMs), nowMs);
  const silences = [...settings.silences, ...(await parts.silences.endingAfter(oldestMs)).map(ruleOf)];
  const alerts = trackAlerts({ live, changes, sent, silences, settings, nowMs });
  const receiverStates = new Map((await parts.notices.receiverStates()).map((state) => [state.receiver, state]));
  const isFleet =
    fleet !== null || (settings.fleet !== null && countSpiking(alerts) >= settings.fleet.minOrganizations);
  const spikeStates = isFleet ? board.states().filter(({ check }) => check === "dead-asset-spike") : [];
  const spiking = alerts.flatMap((alert) => (alert.live !== null && isFleetAlert(alert) ? [alert.slug] : []));
  const organizations = countFleet(spikeStates, spiking);
  return { input: { nowMs, settings, alerts, receiverStates, fleet, organizations, newId }, silences, spikeStates };
}

interface TrackInput {
  readonly live: readonly AlertState[];
  readonly changes: readonly AlertChange[];
  readonly sent: readonly SentState[];
  readonly silences: readonly SilenceRule[];
  readonly settings: AlertingSettings;
  readonly nowMs: number;
}

function trackAlerts({ live, changes, sent, silences, settings, nowMs }: TrackInput): TrackedAlert[] {
  const liveById = new Map(live.map((alert) => [alert.id, alert]));
  const changesById = Map.groupBy(changes, ({ alertId }) => alertId);
  const holding = rulesAt(silences, nowMs);
  const sentById = Map.groupBy(sent, ({ alertId }) => alertId);
  return [...new Set([...changesById.keys(), ...liveById.keys()])].flatMap((id) => {
    const alert = liveById.get(id) ?? null;
    const own = changesById.get(id) ?? [];
    const named = alert ?? own[0];
    if (named === undefined) return [];
    const { check, slug, kind } = named;
    const target = settings.targetOf(check, slug);
    const subject = { check, slug, labels: target?.labels ?? {} };
    return {
      id,
      check,
      slug,
      kind,
      live: alert,
      changes: own,
      target,
      isHeld: holding.some((rule) => matches(rule, subject)) || (alert !== null && alert.acknowledgement !== null),
      wasHeldAt: (atMs: number) => isSilenced(silences, subject, atMs),
      sent: new Map((sentById.get(id) ?? []).map((one) => [one.receiver, one])),
    };
  });
}
