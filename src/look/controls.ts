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
}

// CONTRACT 16.
const longDeadMs = 14 * dayMs;
// There are enough older ones, and their organization's events since then have to be read.
const deathsOfMs = 7 * dayMs;
const aliveWithinMs = 7 * dayMs;
const mostAssets = 100_000;
// Many of the last events may be of few assets, and of assets that the caller leaves out: those that died in the incident
// and were found alive since are often the latest. The second read is for a caller that took too few of the first.
const aliveReads = [512, 20_000] as const;
const withinMs = minuteMs;

/** Creates the reading of assets of which it is known whether they live. */
export function createControls(
  evidence: Pick<EvidenceStore, "assetEvents" | "newestAlive" | "factsOf">,
  clock: Clock,
): {
  /** Those whose latest event found them alive, the latest first. @throws unavailable when it takes too long */
  alive(query: ControlQuery): AsyncIterable<NamedAsset>;
  /** Those that are dead for 14 days or more and not undone, the latest first. @throws as alive */
  longDead(query: ControlQuery): AsyncIterable<NamedAsset>;
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

  async function readAlive({ slug, assetTypes }: ControlQuery, untilMs: number, limit: number): Promise<ReadAlive> {
    const interval = { afterMs: untilMs - aliveWithinMs, untilMs };
    const found = await evidence.newestAlive({ slug, interval, assetTypes, limit });
    const living = new AssetBook<AssetEventRow>();
    for (const event of found) if (living.get(event) === undefined) living.set(event, event);
    const [oldest] = found.slice(-1);
    if (oldest === undefined) return { assets: [], isAll: true };
    for await (const event of eventsAfter(slug, oldest.atMs - 1))
      if (event.isDeath && event.count > 0)
        for (const [name, alive] of living.meant(event)) if (event.atMs >= alive.atMs) living.delete(name);
    return { assets: await named(slug, living.values()), isAll: found.length < limit };
  }

  return {
    alive: async function* (query) {
      const untilMs = clock.nowMs();
      const given = new Set<string>();
      for (const limit of aliveReads) {
        const { assets, isAll } = await readAlive(query, untilMs, limit);
        for (const one of assets) {
          const key = JSON.stringify([one.assetType, one.asset]);
          if (given.has(key)) continue;
          given.add(key);
          yield one;
        }
        if (isAll) return;
      }
    },
    longDead: async function* ({ slug, assetTypes }) {
      const untilMs = clock.nowMs() - longDeadMs;
      const deaths = { afterMs: untilMs - deathsOfMs, untilMs };
      const ledger = new DeadAssetLedger<AssetEventRow>({ deaths, mostAssets });
      for await (const event of eventsAfter(slug, deaths.afterMs)) if (!ledger.add(event)) break;
      const dead = ledger.assets().flatMap(({ death, revivedAtMs }) => (revivedAtMs === null ? [death] : []));
      for (const one of await named(slug, dead))
        if (assetTypes.length === 0 || (one.assetType !== null && assetTypes.includes(one.assetType))) yield one;
    },
  };
}

interface ReadAlive {
  readonly assets: readonly NamedAsset[];
  /** Whether there are no others. */
  readonly isAll: boolean;
}
