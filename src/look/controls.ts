import { dayMs, minuteMs, type Clock } from "../base/time.ts";
import { FlatlineError } from "../base/errors.ts";
import { AssetBook } from "../contract/assets.ts";
import { DeadAssetLedger } from "../evidence/dead-assets.ts";
import { assetEventPages, type AssetEventRow } from "../store/events/asset-events.ts";
import type { EvidenceStore } from "../store/events/evidence.ts";

/** An asset of an organization. */
export interface NamedAsset {
  readonly slug: string;
  readonly asset: string;
  readonly assetType: string | null;
}

export interface ControlQuery {
  readonly slug: string;
  /** Empty: of any type. */
  readonly assetTypes: readonly string[];
  readonly limit: number;
}

// CONTRACT 16.
const longDeadMs = 14 * dayMs;
// Of older ones there are enough, and their organization's events since then have to be read.
const deathsOfMs = 7 * dayMs;
const aliveWithinMs = 7 * dayMs;
const mostAssets = 100_000;
// Many of the last events may be of few assets.
const eventsAnAsset = 8;
const withinMs = minuteMs;

/** Creates the reading of assets of which it is known whether they live. */
export function createControls(
  evidence: Pick<EvidenceStore, "assetEvents" | "newestAlive" | "factsOf">,
  clock: Clock,
): {
  /** Those whose latest event found them alive, the latest first. @throws unavailable when it takes too long */
  alive(query: ControlQuery): Promise<readonly NamedAsset[]>;
  /** Those that are dead for 14 days or more and not undone, the latest first. @throws as alive */
  longDead(query: ControlQuery): Promise<readonly NamedAsset[]>;
} {
  async function* eventsAfter(slug: string, afterMs: number): AsyncGenerator<AssetEventRow> {
    const signal = clock.timeout(withinMs);
    const interval = { afterMs, untilMs: clock.nowMs() };
    for await (const page of assetEventPages(evidence, { slug, interval })) {
      if (signal.aborted) throw new FlatlineError("unavailable", "the events could not be read in time");
      yield* page;
    }
  }

  async function named(slug: string, rows: readonly AssetEventRow[]): Promise<readonly NamedAsset[]> {
    const { assetTypes } = await evidence.factsOf(rows.map(({ typeId }) => ({ typeId, attributeSetId: null })));
    const latestFirst = rows.toSorted((left, right) => right.atMs - left.atMs);
    return latestFirst.map(({ asset, typeId }) => ({ slug, asset, assetType: assetTypes.get(typeId) ?? null }));
  }

  return {
    alive: async ({ slug, assetTypes, limit }) => {
      const untilMs = clock.nowMs();
      const interval = { afterMs: untilMs - aliveWithinMs, untilMs };
      const found = await evidence.newestAlive({ slug, interval, assetTypes, limit: limit * eventsAnAsset });
      const living = new AssetBook<AssetEventRow>();
      for (const event of found) if (living.get(event) === undefined) living.set(event, event);
      const [oldest] = found.slice(-1);
      if (oldest === undefined) return [];
      for await (const event of eventsAfter(slug, oldest.atMs - 1))
        if (event.isDeath && event.count > 0)
          for (const [name, alive] of living.meant(event)) if (event.atMs >= alive.atMs) living.delete(name);
      return (await named(slug, living.values())).slice(0, limit);
    },
    longDead: async ({ slug, assetTypes, limit }) => {
      const untilMs = clock.nowMs() - longDeadMs;
      const deaths = { afterMs: untilMs - deathsOfMs, untilMs };
      const ledger = new DeadAssetLedger<AssetEventRow>({ deaths, mostAssets });
      for await (const event of eventsAfter(slug, deaths.afterMs)) if (!ledger.add(event)) break;
      const dead = ledger.assets().flatMap(({ death, revivedAtMs }) => (revivedAtMs === null ? [death] : []));
      const all = await named(slug, dead);
      const wanted = all.filter(
        ({ assetType }) => assetTypes.length === 0 || (assetType !== null && assetTypes.includes(assetType)),
      );
      return wanted.slice(0, limit);
    },
  };
}
