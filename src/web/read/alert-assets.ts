import type { Logger } from "../../base/logger.ts";
import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { LookAnswer } from "../../contract/second-opinion.ts";
import type { CostAnswer } from "../../contract/v1/cost.ts";
import type { AlertCost, Alert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import { createAssetList, readDeadAssets, readingDeadline, type AssetSpan, type DeadAssets } from "./asset-list.ts";

// Revivals arrive over days, and an incident of hundreds is opened again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 10_000;
// The times are stored with the alert: within half a percent of the median's rank, and a kilobyte.
const mostQuantiles = 201;

export type AlertAssets = ReturnType<typeof createAlertAssets>;

/**
 * Creates the assets that died in alerts, from the stored events (CONTRACT 12); `isOurs`: whether the checks look at these.
 * Its functions throw what those of createAssetList do.
 */
export function createAlertAssets({
  store,
  clock,
  logger,
  isOurs,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isOurs: () => boolean;
}) {
  const costs = new Map<string, { readonly atMs: number; readonly cost: AlertCost }>();

  /** An alert with the deaths of its window; null: none that has assets. */
  async function find(alertId: string): Promise<{ readonly kept: Alert; readonly span: AssetSpan } | null> {
    const kept = isOurs() ? await store.alerts.find(alertId) : null;
    if (kept === null) return null;
    const { check, kind, slug, startsAtMs, windowHours } = kept;
    if (check !== "dead-asset-spike" || kind !== "verdict" || windowHours === undefined) return null;
    return { kept, span: { slug, afterMs: startsAtMs - windowHours * hourMs, endMs: kept.end?.atMs ?? null } };
  }

  /** The deaths that an alert cost: from the minute of the onset on, else those of all of its window; null: as in `of`. */
  async function costSpanOf(alertId: string): Promise<AssetSpan | null> {
    const found = await find(alertId);
    const onset = found?.kept.onset;
    return found === null || onset === undefined ? (found?.span ?? null) : { ...found.span, afterMs: onset.atMs - 1 };
  }

  async function readCost({ slug, afterMs, endMs }: AssetSpan): Promise<AlertCost> {
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

  async function costOfOne({ id, cost: stored }: Alert): Promise<AlertCost | null> {
    const known = costs.get(id);
    if (known !== undefined && clock.nowMs() - known.atMs < rememberMs) return known.cost;
    const span = await costSpanOf(id);
    if (span === null) return null;
    const cost = stored ?? (await readCost(span));
    costs.set(id, { atMs: clock.nowMs(), cost });
    for (const one of costs.keys()) if (costs.size > mostCosts) costs.delete(one);
    return cost;
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

  return {
    costSpanOf,
    /** null: no such alert, or one that has no assets. */
    of: async (alertId: string): Promise<DeadAssets | null> => {
      const found = await find(alertId);
      if (found === null) return null;
      const { span } = found;
      return createAssetList({ store, clock }, { spans: [span], subject: alertId, slug: span.slug, answers: null });
    },
    /** Those that died in these alerts of an incident, from the onset of each on; null: the events are not ours. */
    ofIncident: async (
      { number, id }: { readonly number: number; readonly id: string },
      alertIds: readonly string[],
    ): Promise<DeadAssets | null> => {
      if (!isOurs()) return null;
      const spans: AssetSpan[] = [];
      for (const alertId of alertIds) spans.push(...[(await costSpanOf(alertId)) ?? []].flat());
      const answers = await answersOf(number);
      const answerOf = (slug: string, asset: string): LookAnswer | null => answers.get(keyOf(slug, asset)) ?? null;
      return createAssetList({ store, clock }, { spans, subject: id, slug: null, answers: answerOf });
    },
    /** The cost of all alerts judged `checker` among these; null: none is, or none has assets. */
    costOf: async (alerts: readonly Alert[]): Promise<CostAnswer | null> => {
      const found: AlertCost[] = [];
      for (const alert of alerts)
        if (alert.judgement?.verdict === "checker") found.push(...[(await costOfOne(alert)) ?? []].flat());
      return found.length === 0 ? null : sumOf(found);
    },
    /**
     * Stores with the ended alerts judged `checker` what they cost before the events up to `beforeMs` go (CONTRACT 15): from then
     * on it is what was known then. One that cannot be read is left out, for the events of all others would wait for it.
     */
    keepCosts: async (beforeMs: number, signal?: AbortSignal): Promise<void> => {
      for (const alert of await store.alerts.judgedChecker()) {
        if (signal?.aborted === true) return;
        if (alert.end === null || alert.cost !== undefined) continue;
        try {
          if (((await costSpanOf(alert.id))?.afterMs ?? beforeMs) >= beforeMs) continue;
          const cost = await costOfOne(alert);
          if (cost === null) continue;
          await store.transaction(async ({ alerts }) => {
            const kept = await alerts.find(alert.id);
            if (kept !== null) await alerts.change({ ...kept, cost });
          });
        } catch (error) {
          logger.warn({ err: error, alertId: alert.id, slug: alert.slug }, "cost of an alert could not be kept");
        }
      }
    },
  };
}

/** Returns the values, or of many so many that are evenly drawn from the first to the last. */
function quantilesOf(sorted: readonly number[]): number[] {
  if (sorted.length <= mostQuantiles) return [...sorted];
  return Array.from(
    { length: mostQuantiles },
    (_, index) => sorted[Math.floor(((index + 0.5) * sorted.length) / mostQuantiles)] ?? 0,
  );
}

/** Returns what all of these cost together. */
export function sumOf(costs: readonly AlertCost[]): CostAnswer {
  const sum = (key: "deaths" | "knownCount" | "revived" | "stillDead" | "closedSeconds"): number =>
    costs.reduce((total, cost) => total + cost[key], 0);
  return {
    deaths: sum("deaths"),
    knownCount: sum("knownCount"),
    revived: sum("revived"),
    stillDead: sum("stillDead"),
    medianClosedSeconds: medianClosed(costs),
    closedSeconds: sum("closedSeconds"),
  };
}

/** Over all that were revived: each quantile of an alert stands for as many of its own. */
function medianClosed(costs: readonly AlertCost[]): number | null {
  const closed = costs
    .flatMap(({ revived, closedQuantiles }) =>
      closedQuantiles.map((seconds) => ({ seconds, weight: revived / closedQuantiles.length })),
    )
    .toSorted((left, right) => left.seconds - right.seconds);
  const half = costs.reduce((total, { revived }) => total + revived, 0) / 2;
  let below = 0;
  for (const [index, { seconds, weight }] of closed.entries()) {
    below += weight;
    // An even number of values has the mean of the middle two.
    if (below === half) return (seconds + (closed[index + 1]?.seconds ?? seconds)) / 2;
    if (below > half) return seconds;
  }
  return closed.at(-1)?.seconds ?? null;
}

function keyOf(slug: string, asset: string): string {
  return JSON.stringify([slug, asset]);
}
