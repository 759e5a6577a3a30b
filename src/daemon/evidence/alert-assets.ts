import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import { FlatlineError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { DeadAssetLedger, type DeadAsset } from "../../evidence/dead-assets.ts";
import type { AlertCost, KeptAlert } from "../../store/alerts/alerts.ts";
import {
  assetEventPages,
  type AssetEventRow,
  type EventFacts,
  type EventPlace,
} from "../../store/events/asset-events.ts";
import type { Store } from "../../store/store.ts";
import type { AlertAssets, AlertAssetsPort, AssetFilter, ListedAsset } from "../../web/ports/dead-assets.ts";

export interface AlertAssetsOptions {
  readonly store: Pick<Store, "alerts" | "audit" | "events" | "evidence">;
  readonly clock: Clock;
  /** Whether the stored events are those that the checks look at. */
  readonly isOurs: () => boolean;
}

// Some 200 MB of names: more assets than an organization has.
const mostAssets = 1_000_000;
const withinMs = minuteMs;
const rowsAPiece = 500;
// Revivals come in over days, and an incident of hundreds is looked at again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 10_000;
// They are stored with the alert: within half a percent of the median's rank, and a kilobyte.
const mostQuantiles = 201;
// The last instant that a Date knows: an asset may be found alive at any time.
const lastInstantMs = 8_640_000_000_000_000;

/** Creates the assets that died in an alert, from the stored events (CONTRACT 12). */
export function createAlertAssets({ store, clock, isOurs }: AlertAssetsOptions): AlertAssetsPort {
  async function read(slug: string, deaths: Interval): Promise<DeadAsset<AssetEventRow>[]> {
    const ledger = new DeadAssetLedger<AssetEventRow>({ deaths, mostAssets });
    const signal = clock.timeout(withinMs);
    const interval = { afterMs: deaths.afterMs, untilMs: lastInstantMs };
    for await (const page of assetEventPages(store.evidence, { slug, interval })) {
      if (signal.aborted) throw new FlatlineError("unavailable", "the events of this alert could not be read in time");
      for (const event of page) if (!ledger.add(event)) throw tooMany();
    }
    return ledger.assets().toSorted((left, right) => -comparePlaces(left.death, right.death));
  }

  function assetsOf({ alert, end }: KeptAlert, windowHours: number): AlertAssets {
    const { id: alertId, slug, startsAtMs } = alert;
    const fromMs = startsAtMs - windowHours * hourMs;

    async function list(toMs: number): Promise<DeadAsset<AssetEventRow>[]> {
      return read(slug, { afterMs: fromMs, untilMs: toMs });
    }

    return {
      slug,
      page: async ({ limit, cursor, ...filter }) => {
        const toMs = cursor?.toMs ?? end?.atMs ?? clock.nowMs();
        const all = await list(toMs);
        const matching = await filtered(all, filter);
        const rest =
          cursor === undefined ? matching : matching.filter(({ death }) => comparePlaces(death, cursor.after) < 0);
        const shown = rest.slice(0, limit);
        const [byType = []] = await store.events.deaths([{ slug, intervals: [{ afterMs: fromMs, untilMs: toMs }] }]);
        const last = shown.at(-1)?.death;
        return {
          alertId,
          fromMs,
          toMs,
          count: byType.reduce((sum, { deaths }) => sum + (deaths[0] ?? 0), 0),
          knownCount: all.length,
          assets: await listed(shown),
          next: last === undefined || rest.length === shown.length ? null : { toMs, after: placeOf(last) },
        };
      },
      all: async (filter, author) => {
        const matching = await filtered(await list(end?.atMs ?? clock.nowMs()), filter);
        const detail = { ...filter, assets: matching.length };
        const act = { action: "assets.csv", slug, subject: alertId, detail } as const;
        await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
        return { attributes: await attributeNames(matching), pieces: pieces(matching) };
      },
    };
  }

  async function filtered(
    assets: readonly DeadAsset<AssetEventRow>[],
    { stillDead = false, aliveAgain = false, assetType }: AssetFilter,
  ): Promise<readonly DeadAsset<AssetEventRow>[]> {
    const dead = assets.filter(
      ({ revivedAtMs }) => (!stillDead || revivedAtMs === null) && (!aliveAgain || revivedAtMs !== null),
    );
    if (assetType === undefined) return dead;
    const typeIds = [...new Set(dead.map(({ death }) => death.typeId))];
    const facts = await store.evidence.factsOf(typeIds.map((typeId) => ({ typeId, attributeSetId: null })));
    return dead.filter(({ death }) => facts.assetTypes.get(death.typeId) === assetType);
  }

  async function listed(assets: readonly DeadAsset<AssetEventRow>[]): Promise<ListedAsset[]> {
    const facts = await store.evidence.factsOf(assets.map(({ death }) => death));
    return assets.map(({ death, revivedAtMs }) => ({ ...describeDeath(death, facts), revivedAtMs }));
  }

  async function* pieces(assets: readonly DeadAsset<AssetEventRow>[]): AsyncGenerator<readonly ListedAsset[]> {
    for (let start = 0; start < assets.length; start += rowsAPiece)
      yield await listed(assets.slice(start, start + rowsAPiece));
  }

  async function attributeNames(assets: readonly DeadAsset<AssetEventRow>[]): Promise<string[]> {
    const names = new Set<string>();
    const setIds = [...new Set(assets.flatMap(({ death }) => death.attributeSetId ?? []))];
    for (let start = 0; start < setIds.length; start += rowsAPiece) {
      const some = setIds.slice(start, start + rowsAPiece).map((attributeSetId) => ({ typeId: 0, attributeSetId }));
      for (const set of (await store.evidence.factsOf(some)).attributeSets.values())
        for (const name of Object.keys(set)) names.add(name);
    }
    return [...names].toSorted();
  }

  /** An alert with its window; null: none that has assets. */
  async function keptWithAssets(alertId: string): Promise<(KeptAlert & { readonly windowHours: number }) | null> {
    const kept = isOurs() ? await store.alerts.find(alertId) : null;
    if (kept === null) return null;
    const { check, kind, windowHours } = kept.alert;
    const hasAssets = check === "dead-asset-spike" && kind === "verdict" && windowHours !== undefined;
    return hasAssets ? { ...kept, windowHours } : null;
  }

  async function readCost({
    alert,
    end,
    windowHours,
  }: KeptAlert & { readonly windowHours: number }): Promise<AlertCost> {
    const { slug } = alert;
    const deaths = { afterMs: countedFromMs(alert, windowHours), untilMs: end?.atMs ?? clock.nowMs() };
    const assets = await read(slug, deaths);
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

  const costs = new Map<string, { readonly atMs: number; readonly cost: AlertCost }>();

  return {
    of: async (alertId) => {
      const kept = await keptWithAssets(alertId);
      return kept === null ? null : assetsOf(kept, kept.windowHours);
    },
    diedIn: async (alertId) => {
      const kept = await keptWithAssets(alertId);
      if (kept === null) return null;
      const { alert, end, windowHours } = kept;
      const deaths = { afterMs: countedFromMs(alert, windowHours), untilMs: end?.atMs ?? clock.nowMs() };
      const assets = await read(alert.slug, deaths);
      const typeIds = [...new Set(assets.map(({ death }) => death.typeId))];
      const { assetTypes } = await store.evidence.factsOf(typeIds.map((typeId) => ({ typeId, attributeSetId: null })));
      return assets.map(({ death: { asset, typeId }, revivedAtMs }) => ({
        asset,
        assetType: assetTypes.get(typeId) ?? null,
        isUndone: revivedAtMs !== null,
      }));
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
  const due = (await store.judgements.judgedChecker()).filter(
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

/** After this instant are the deaths that it cost: from the minute of the onset on, else all of its window. */
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

interface Interval {
  readonly afterMs: number;
  readonly untilMs: number;
}

/** Returns what is shown of the death of an asset. */
export function describeDeath(death: AssetEventRow, facts: EventFacts): Omit<ListedAsset, "revivedAtMs"> {
  const { asset, typeId, attributeSetId, atMs } = death;
  return {
    asset,
    assetType: facts.assetTypes.get(typeId) ?? null,
    deadAtMs: atMs,
    attributes: attributeSetId === null ? {} : (facts.attributeSets.get(attributeSetId) ?? {}),
  };
}

function placeOf({ atMs, importId, ordinal }: EventPlace): EventPlace {
  return { atMs, importId, ordinal };
}

function comparePlaces(left: EventPlace, right: EventPlace): number {
  return left.atMs - right.atMs || left.importId - right.importId || left.ordinal - right.ordinal;
}

function tooMany(): FlatlineError {
  return new FlatlineError("too_large", `more than ${mostAssets.toLocaleString("en")} assets died in this alert`);
}
