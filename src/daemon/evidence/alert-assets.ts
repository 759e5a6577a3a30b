import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { Logger } from "../../base/logger.ts";
import type { LookAnswer } from "../../contract/second-opinion.ts";
import type { AlertCost, KeptAlert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import type { AlertAssetsPort } from "../../web/ports/dead-assets.ts";
import { createAssetList, readDeadAssets, readingDeadline, type AssetSpan } from "./asset-list.ts";
import { readDied } from "./look-assets.ts";

export interface AlertAssetsOptions {
  readonly store: Pick<Store, "alerts" | "audit" | "events" | "evidence" | "looks">;
  readonly clock: Clock;
  /** Whether the stored events are those that the checks look at. */
  readonly isOurs: () => boolean;
}

// Revivals arrive over days, and an incident of hundreds is opened again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 10_000;
// The times are stored with the alert: within half a percent of the median's rank, and a kilobyte.
const mostQuantiles = 201;

/** Creates the assets that died in alerts, from the stored events (CONTRACT 12). */
export function createAlertAssets({ store, clock, isOurs }: AlertAssetsOptions): AlertAssetsPort {
  /** The deaths that an alert cost: from the minute of the onset on, else those of all of its window. */
  function costSpan({ alert, end, windowHours }: KeptWithAssets): AssetSpan {
    return { slug: alert.slug, afterMs: countedFromMs(alert, windowHours), endMs: end?.atMs ?? null };
  }

  /** An alert with its window; null: none that has assets. */
  async function keptWithAssets(alertId: string): Promise<KeptWithAssets | null> {
    const kept = isOurs() ? await store.alerts.find(alertId) : null;
    if (kept === null) return null;
    const { check, kind, windowHours } = kept.alert;
    const hasAssets = check === "dead-asset-spike" && kind === "verdict" && windowHours !== undefined;
    return hasAssets ? { ...kept, windowHours } : null;
  }

  async function readCost(kept: KeptWithAssets): Promise<AlertCost> {
    const { slug, afterMs, endMs } = costSpan(kept);
    const deaths = { afterMs, untilMs: endMs ?? clock.nowMs() };
    const assets = await readDeadAssets(store.evidence, slug, deaths, readingDeadline(clock));
    const [byType = []] = await store.events.deaths([{ slug, intervals: [deaths] }]);
    const closed = assets
      .flatMap(({ death, revivedAtMs }) =>
        revivedAtMs === null ? [] : [Math.round((revivedAtMs - death.atMs) / secondMs)],
      )
      .toSorted((left, right) => left - right);
    return {
      deaths: byType.reduce((sum, one) => sum + (one.deaths[0] ?? 0), 0),
      knownCount: assets.length,
      revived: closed.length,
      stillDead: assets.length - closed.length,
      closedSeconds: closed.reduce((sum, seconds) => sum + seconds, 0),
      closedQuantiles: quantilesOf(closed),
    };
  }

  /** Returns the answers of an incident's dead assets at the last look; an answer that tells nothing leaves the one before. */
  async function answersOf(incidentNumber: number): Promise<ReadonlyMap<string, LookAnswer>> {
    const answers = new Map<string, LookAnswer>();
    for (const look of await store.looks.of(incidentNumber))
      for (const { role, slug, asset, answer } of await store.looks.answersOf(look)) {
        const key = keyOf(slug, asset);
        if (role === "sample" && (answer !== "undecided" || !answers.has(key))) answers.set(key, answer);
      }
    return answers;
  }

  const costs = new Map<string, { readonly atMs: number; readonly cost: AlertCost }>();

  return {
    of: async (alertId) => {
      const kept = await keptWithAssets(alertId);
      if (kept === null) return null;
      const { alert, end, windowHours } = kept;
      const span = { slug: alert.slug, afterMs: alert.startsAtMs - windowHours * hourMs, endMs: end?.atMs ?? null };
      const { slug } = alert;
      return createAssetList({ store, clock }, { spans: [span], subject: alertId, slug, answers: null });
    },
    ofIncident: async ({ number, id }, alertIds) => {
      if (!isOurs()) return null;
      const spans: AssetSpan[] = [];
      for (const alertId of alertIds) {
        const kept = await keptWithAssets(alertId);
        if (kept !== null) spans.push(costSpan(kept));
      }
      const answers = await answersOf(number);
      const answerOf = (slug: string, asset: string): LookAnswer | null => answers.get(keyOf(slug, asset)) ?? null;
      return createAssetList({ store, clock }, { spans, subject: id, slug: null, answers: answerOf });
    },
    diedIn: async (alertId) => {
      const kept = await keptWithAssets(alertId);
      if (kept === null) return null;
      const { slug, afterMs, endMs } = costSpan(kept);
      return readDied({ evidence: store.evidence, clock }, slug, { afterMs, untilMs: endMs ?? clock.nowMs() });
    },
    costOf: async (alertId) => {
      const known = costs.get(alertId);
      if (known !== undefined && clock.nowMs() - known.atMs < rememberMs) return known.cost;
      const kept = await keptWithAssets(alertId);
      if (kept === null) return null;
      const cost = kept.alert.cost ?? (await readCost(kept));
      costs.set(alertId, { atMs: clock.nowMs(), cost });
      for (const id of costs.keys()) if (costs.size > mostCosts) costs.delete(id);
      return cost;
    },
  };
}

/**
 * Stores with the ended alerts judged `checker` what they cost before the events up to `beforeMs` go (CONTRACT 15): from then on
 * it is what was known then. One that cannot be read is left out, for the events of all others would wait for it.
 */
export async function keepCosts(
  context: { readonly store: Store; readonly assets: Pick<AlertAssetsPort, "costOf">; readonly logger: Logger },
  beforeMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const { store, assets, logger } = context;
  const due = (await store.alerts.judgedChecker()).filter(
    ({ alert, end }) =>
      end !== null && alert.cost === undefined && countedFromMs(alert, alert.windowHours ?? 0) < beforeMs,
  );
  for (const { alert } of due) {
    if (signal?.aborted === true) return;
    try {
      const cost = await assets.costOf(alert.id);
      if (cost === null) continue;
      await store.transaction(async ({ alerts }) => {
        const kept = await alerts.find(alert.id);
        if (kept !== null) await alerts.change({ ...kept.alert, cost });
      });
    } catch (error) {
      logger.warn({ err: error, alertId: alert.id, slug: alert.slug }, "cost of an alert could not be kept");
    }
  }
}

/**
 * Returns the instant after which its deaths are counted as its cost: from the minute of the onset on, else all of its
 * window.
 */
function countedFromMs({ onset, startsAtMs }: KeptAlert["alert"], windowHours: number): number {
  return onset === undefined ? startsAtMs - windowHours * hourMs : onset.atMs - 1;
}

/** Returns the values, or of many so many that are evenly drawn from the first to the last. */
function quantilesOf(sorted: readonly number[]): number[] {
  if (sorted.length <= mostQuantiles) return [...sorted];
  return Array.from(
    { length: mostQuantiles },
    (_, index) => sorted[Math.floor(((index + 0.5) * sorted.length) / mostQuantiles)] ?? 0,
  );
}

interface KeptWithAssets extends KeptAlert {
  readonly windowHours: number;
}

function keyOf(slug: string, asset: string): string {
  return JSON.stringify([slug, asset]);
}
