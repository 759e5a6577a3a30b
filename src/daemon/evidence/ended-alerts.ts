import type { Logger } from "../../base/logger.ts";
import { dayMs, hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { CheckName } from "../../contract/report.ts";
import type { Regret } from "../../evidence/regret.ts";
import type { AlertHistoryEntry } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import type { EndedAlert } from "../../web/ports.ts";
import { readRegret } from "./regret-reading.ts";

export interface EndedAlertsOptions {
  readonly store: Pick<Store, "alerts" | "evidence">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long before an alert's begin its deaths begin; null: the events of this organization are not ours. */
  readonly windowHoursOf: (slug: string) => number | null;
}

const mostAlerts = 10;
const mostEntries = 500;
const lookBackMs = 90 * dayMs;
// As long as it takes until an asset that lives is looked at again, by real records (examples/records).
const revivalMs = 60 * dayMs;
// Revivals come in over days: a page that is loaded again need not count again.
const rememberMs = 5 * minuteMs;
const withinMs = 2 * secondMs;

/** The alerts that ended lately, newest first, with how many of their deaths were undone since. */
export function createEndedAlerts(
  options: EndedAlertsOptions,
): (check: CheckName, slug: string) => Promise<readonly EndedAlert[]> {
  const { store, clock, logger, windowHoursOf } = options;
  const known = new Map<string, { readonly atMs: number; readonly regret: Regret | null }>();

  async function regretOf(
    slug: string,
    alert: Omit<EndedAlert, "deaths">,
    signal: AbortSignal,
  ): Promise<Regret | null> {
    const windowHours = windowHoursOf(slug);
    if (windowHours === null || alert.kind !== "verdict") return null;
    const nowMs = clock.nowMs();
    const last = known.get(alert.id);
    if (last !== undefined && nowMs - last.atMs < rememberMs) return last.regret;
    const deaths = { afterMs: alert.startsAtMs - windowHours * hourMs, untilMs: alert.endsAtMs };
    const untilMs = Math.min(nowMs, alert.endsAtMs + revivalMs);
    const regret = await readRegret(store.evidence, { slug, deaths, untilMs }, signal);
    for (const [id, { atMs }] of known) if (nowMs - atMs >= rememberMs) known.delete(id);
    known.set(alert.id, { atMs: nowMs, regret });
    return regret;
  }

  return async (check, slug) => {
    const fromMs = clock.nowMs() - lookBackMs;
    const history = await store.alerts.history({ check, slug, fromMs, limit: mostEntries });
    const ended = endedOf(history).slice(0, mostAlerts);
    if (check !== "dead-asset-spike") return ended.map((alert) => ({ ...alert, deaths: null }));
    const signal = clock.timeout(withinMs);
    const alerts: EndedAlert[] = [];
    for (const alert of ended) {
      const deaths = await regretOf(slug, alert, signal).catch((error: unknown) => {
        logger.warn({ err: error, slug, alertId: alert.id }, "the undone deaths of an alert could not be counted");
        return null;
      });
      alerts.push({ ...alert, deaths: deaths === null || deaths.judgedCount === 0 ? null : deaths });
    }
    return alerts;
  };
}

/** Newest first; those that fired, from their first entry to their last. */
function endedOf(history: readonly AlertHistoryEntry[]): Omit<EndedAlert, "deaths">[] {
  const ended: Omit<EndedAlert, "deaths">[] = [];
  for (const entries of Map.groupBy(history, ({ alertId }) => alertId).values()) {
    const sorted = entries.toSorted((left, right) => left.atMs - right.atMs);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined) continue;
    if (last.event !== "resolved" && last.event !== "recovered") continue;
    const { alertId: id, kind, atMs: startsAtMs } = first;
    ended.push({ id, kind, severity: last.severity, startsAtMs, endsAtMs: last.atMs, reason: last.reason });
  }
  return ended.toSorted((left, right) => right.endsAtMs - left.endsAtMs);
}
