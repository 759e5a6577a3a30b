import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { LookAnswer } from "../../contract/second-opinion.ts";
import type { CostAnswer } from "../../contract/v1/alerts.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import {
  countDeaths,
  createAssetList,
  deathsOf,
  readDeadAssets,
  readingDeadline,
  type AssetSpan,
  type DeadAssets,
} from "./asset-list.ts";

// Revivals arrive over days, and an incident of hundreds is opened again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 100;

export type AlertAssets = ReturnType<typeof createAlertAssets>;

/** Returns the deaths of an alert's window; null: it has no assets. */
function windowOf({ check, kind, slug, startsAtMs, windowHours, end }: Alert): AssetSpan | null {
  if (check !== "dead-asset-spike" || kind !== "verdict" || windowHours === undefined) return null;
  return { slug, afterMs: startsAtMs - windowHours * hourMs, endMs: end?.atMs ?? null };
}

/** Returns the deaths that an alert cost: from the minute of the onset on, else those of all of its window; null: it has no assets. */
export function costSpanOf(alert: Alert): AssetSpan | null {
  const span = windowOf(alert);
  return span === null || alert.onset === undefined ? span : { ...span, afterMs: alert.onset.atMs - 1 };
}

/**
 * Creates the assets that died in alerts, from the stored events (CONTRACT 12); `isOurs`: whether the checks look at these;
 * `keptForMs`: for how long they are kept, 0 for good. Its functions throw what those of createAssetList do.
 */
export function createAlertAssets({
  store,
  clock,
  isOurs,
  keptForMs,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly isOurs: () => boolean;
  readonly keptForMs: () => number;
}) {
  const costs = new Map<string, { readonly atMs: number; readonly cost: CostAnswer | null }>();

  /** An asset of an organization counts once; null: the alerts have no assets, or events of theirs are gone. */
  async function readCost(alerts: readonly Alert[]): Promise<CostAnswer | null> {
    const nowMs = clock.nowMs();
    const oldestMs = keptForMs() > 0 ? nowMs - keptForMs() : -Infinity;
    const spans = alerts.flatMap((alert) => costSpanOf(alert) ?? []).filter(({ afterMs }) => afterMs >= oldestMs);
    if (!isOurs() || spans.length === 0) return null;
    let knownCount = 0;
    const closed: number[] = [];
    for (const [slug, intervals] of deathsOf(spans, nowMs))
      for (const { death, revivedAtMs } of await readDeadAssets(
        store.evidence,
        slug,
        intervals,
        readingDeadline(clock),
      )) {
        knownCount++;
        if (revivedAtMs !== null) closed.push(Math.round((revivedAtMs - death.atMs) / secondMs));
      }
    closed.sort((left, right) => left - right);
    const middle = [closed[Math.ceil(closed.length / 2) - 1], closed[Math.floor(closed.length / 2)]];
    const [low = null, high = null] = middle;
    return {
      deaths: await countDeaths(store.events, spans, nowMs),
      knownCount,
      revived: closed.length,
      stillDead: knownCount - closed.length,
      // Of an even number the mean of the middle two.
      medianClosedSeconds: low === null || high === null ? null : (low + high) / 2,
      closedSeconds: closed.reduce((total, seconds) => total + seconds, 0),
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

  return {
    /** null: no such alert, or one that has no assets. */
    of: async (alertId: string): Promise<DeadAssets | null> => {
      const alert = isOurs() ? await store.alerts.find(alertId) : null;
      const span = alert === null ? null : windowOf(alert);
      if (span === null) return null;
      return createAssetList({ store, clock }, { spans: [span], subject: alertId, slug: span.slug, answers: null });
    },
    /** Those that died in these alerts of an incident, from the onset of each on; null: the events are not ours. */
    ofIncident: async (
      { number, id }: { readonly number: number; readonly id: string },
      alerts: readonly Alert[],
    ): Promise<DeadAssets | null> => {
      if (!isOurs()) return null;
      const spans = alerts.flatMap((alert) => costSpanOf(alert) ?? []);
      const answers = await answersOf(number);
      const answerOf = (slug: string, asset: string): LookAnswer | null => answers.get(keyOf(slug, asset)) ?? null;
      return createAssetList({ store, clock }, { spans, subject: id, slug: null, answers: answerOf });
    },
    /** The cost of all alerts judged `checker` among these; null: none is, or none has assets. */
    costOf: async (alerts: readonly Alert[]): Promise<CostAnswer | null> => {
      const judged = alerts.filter(({ judgement }) => judgement?.verdict === "checker");
      const key = judged.map(({ id }) => id).join();
      const known = costs.get(key);
      if (known !== undefined && clock.nowMs() - known.atMs < rememberMs) return known.cost;
      const cost = await readCost(judged);
      costs.delete(key);
      costs.set(key, { atMs: clock.nowMs(), cost });
      for (const oldest of costs.keys()) if (costs.size > mostCosts) costs.delete(oldest);
      return cost;
    },
  };
}

function keyOf(slug: string, asset: string): string {
  return JSON.stringify([slug, asset]);
}
