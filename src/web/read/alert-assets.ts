import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { LookAnswer } from "../../contract/second-opinion.ts";
import type { CostAnswer } from "../../contract/v1/alerts.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Store } from "../../store/store.ts";
import {
  createAssetList,
  deathsOf,
  readDeadAssets,
  readingDeadline,
  type AssetSpan,
  type DeadAssets,
} from "./asset-list.ts";

// Revivals arrive over days, and an incident of hundreds is opened again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 10_000;
// 40 MB of times, of all of them together.
const mostTimes = 5_000_000;

export type AlertAssets = ReturnType<typeof createAlertAssets>;

/** What the alerts of an organization cost, and how long each asset of it that was found alive counted as dead, in seconds. */
interface AlertCost extends Pick<CostAnswer, "deaths" | "knownCount"> {
  readonly closed: readonly number[];
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
  const costs = new Map<string, { readonly atMs: number; readonly cost: AlertCost | null }>();
  let heldTimes = 0;

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

  /** What alerts of one organization cost together; null: they have no assets, or events of theirs are gone. */
  async function readCost(slug: string, alerts: readonly Alert[]): Promise<AlertCost | null> {
    const nowMs = clock.nowMs();
    const found = await Promise.all(alerts.map(({ id }) => costSpanOf(id)));
    const oldestMs = keptForMs() > 0 ? nowMs - keptForMs() : -Infinity;
    const spans = found.flatMap((span) => (span === null || span.afterMs < oldestMs ? [] : [span]));
    if (spans.length === 0) return null;
    const intervals = deathsOf(spans, nowMs).get(slug) ?? [];
    const assets = await readDeadAssets(store.evidence, slug, intervals, readingDeadline(clock));
    const [byType = []] = await store.events.deaths([{ slug, intervals }]);
    return {
      deaths: byType.flatMap(({ deaths }) => deaths).reduce((sum, deaths) => sum + deaths, 0),
      knownCount: assets.length,
      closed: assets.flatMap(({ death, revivedAtMs }) =>
        revivedAtMs === null ? [] : [Math.round((revivedAtMs - death.atMs) / secondMs)],
      ),
    };
  }

  async function costOfOrganization(slug: string, alerts: readonly Alert[]): Promise<AlertCost | null> {
    const key = alerts.map(({ id }) => id).join();
    const known = costs.get(key);
    if (known !== undefined && clock.nowMs() - known.atMs < rememberMs) return known.cost;
    const cost = await readCost(slug, alerts);
    forget(key);
    costs.set(key, { atMs: clock.nowMs(), cost });
    heldTimes += cost?.closed.length ?? 0;
    for (const one of costs.keys()) if (costs.size > mostCosts || heldTimes > mostTimes) forget(one);
    return cost;
  }

  function forget(key: string): void {
    heldTimes -= costs.get(key)?.cost?.closed.length ?? 0;
    costs.delete(key);
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
    /** The cost of all alerts judged `checker` among these, an asset per organization once; null: none is, or none has assets. */
    costOf: async (alerts: readonly Alert[]): Promise<CostAnswer | null> => {
      const found: AlertCost[] = [];
      const judged = alerts.filter(({ judgement }) => judgement?.verdict === "checker");
      for (const [slug, own] of Map.groupBy(judged, (alert) => alert.slug))
        found.push(...[(await costOfOrganization(slug, own)) ?? []].flat());
      return found.length === 0 ? null : sumOf(found);
    },
  };
}

function sumOf(costs: readonly AlertCost[]): CostAnswer {
  const sum = (value: (cost: AlertCost) => number): number => costs.reduce((total, cost) => total + value(cost), 0);
  const closed = costs.flatMap((cost) => cost.closed).toSorted((left, right) => left - right);
  const [low = null, high = null] = [closed[Math.ceil(closed.length / 2) - 1], closed[Math.floor(closed.length / 2)]];
  const knownCount = sum((cost) => cost.knownCount);
  return {
    deaths: sum(({ deaths }) => deaths),
    knownCount,
    revived: closed.length,
    stillDead: knownCount - closed.length,
    // Of an even number the mean of the middle two.
    medianClosedSeconds: low === null || high === null ? null : (low + high) / 2,
    closedSeconds: closed.reduce((total, seconds) => total + seconds, 0),
  };
}

function keyOf(slug: string, asset: string): string {
  return JSON.stringify([slug, asset]);
}
