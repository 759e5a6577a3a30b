import type { Logger } from "../../base/logger.ts";
import { dayMs, hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import { causeByRevivals } from "../../evidence/likely-cause.ts";
import type { Regret } from "../../evidence/regret.ts";
import type { KeptAlert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import type { EndedAlert } from "../../web/read/checks.ts";
import { readRegret } from "./regret-reading.ts";

export interface EndedAlertsOptions {
  readonly store: Pick<Store, "alerts" | "evidence">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The window of the spike check now; null: the events of this organization are not ours. */
  readonly windowHoursOf: (slug: string) => number | null;
}

const mostAlerts = 10;
const lookBackMs = 90 * dayMs;
// As long as it takes until a living asset is looked at again, by real records (examples/records).
const revivalMs = 60 * dayMs;
// Revivals arrive over days: a page that is loaded again need not count again.
const rememberMs = 5 * minuteMs;
const withinMs = 2 * secondMs;

/** Creates the alerts that ended lately, newest first, with how many of their dead assets were found alive since. */
export function createEndedAlerts(
  options: EndedAlertsOptions,
): (check: CheckName, slug: string) => Promise<readonly EndedAlert[]> {
  const { store, clock, logger, windowHoursOf } = options;
  const known = new Map<string, { readonly atMs: number; readonly regret: Regret | null }>();

  async function regretOf(
    { slug, id, kind, startsAtMs, endsAtMs, windowHours: ownHours }: EndedKept,
    signal: AbortSignal,
  ): Promise<Regret | null> {
    const windowHours = windowHoursOf(slug);
    if (windowHours === null || kind !== "verdict") return null;
    const nowMs = clock.nowMs();
    const last = known.get(id);
    if (last !== undefined && nowMs - last.atMs < rememberMs) return last.regret;
    const deaths = { afterMs: startsAtMs - (ownHours ?? windowHours) * hourMs, untilMs: endsAtMs };
    const untilMs = Math.min(nowMs, endsAtMs + revivalMs);
    const regret = await readRegret(store.evidence, { slug, deaths, untilMs }, signal);
    for (const [other, { atMs }] of known) if (nowMs - atMs >= rememberMs) known.delete(other);
    known.set(id, { atMs: nowMs, regret });
    return regret;
  }

  return async (check, slug) => {
    const fromMs = clock.nowMs() - lookBackMs;
    const ended = (await store.alerts.ended({ check, slug, fromMs, limit: mostAlerts })).flatMap(endedOf);
    if (check !== "dead-asset-spike") return ended.map((alert) => viewOf(alert, null));
    const signal = clock.timeout(withinMs);
    const alerts: EndedAlert[] = [];
    for (const alert of ended) {
      const deaths = await regretOf(alert, signal).catch((error: unknown) => {
        logger.warn({ err: error, slug, alertId: alert.id }, "the undone deaths of an alert could not be counted");
        return null;
      });
      alerts.push(viewOf(alert, deaths === null || deaths.judgedCount === 0 ? null : deaths));
    }
    return alerts;
  };
}

type EndedKept = KeptAlert["alert"] & { readonly endsAtMs: number };

function endedOf({ alert, end }: KeptAlert): EndedKept[] {
  return end === null ? [] : [{ ...alert, endsAtMs: end.atMs }];
}

function viewOf(
  { id, kind, severity, startsAtMs, endsAtMs, reason, judgement }: EndedKept,
  deaths: EndedAlert["deaths"],
): EndedAlert {
  const revisedCause = deaths === null ? null : (causeByRevivals(deaths)?.reason ?? null);
  return { id, kind, severity, startsAtMs, endsAtMs, reason, deaths, revisedCause, judgement: judgement ?? null };
}
