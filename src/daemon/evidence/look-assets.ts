import { FlatlineError } from "../../base/errors.ts";
import { dayMs } from "../../base/time.ts";
import { AssetBook } from "../../contract/assets.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import type { Died, LookSources, NamedAsset } from "../../look/plan.ts";
import { assetEventPages, type AssetEventRow } from "../../store/events/asset-events.ts";
import { costSpanOf, readDeadAssets, readingDeadline } from "../../web/read/dead-assets.ts";
import type { Ground } from "../ground.ts";

type Reading = Pick<Ground, "store" | "clock">;

const aliveWithinMs = 7 * dayMs;
// Many, because few assets may have most of the last events, and some died in the incident.
const mostAliveEvents = 5_000;
// CONTRACT 16.
const longDeadMs = 14 * dayMs;
// Each stretch is read only when the ones before it had too few assets.
const deathsOfMs = [7 * dayMs, 70 * dayMs, Infinity];

/** Creates the reads of assets for second opinions. */
export function createLookAssets(reading: Reading): Omit<LookSources, "sentinelsOf"> {
  const { clock } = reading;
  return {
    diedIn: async (alert) => {
      const span = costSpanOf(alert);
      if (span === null) return null;
      return readDied(reading, span.slug, { afterMs: span.afterMs, untilMs: span.endMs ?? clock.nowMs() });
    },
    alive: (query) => readAlive(reading, query),
    longDead: async function* (slug) {
      let untilMs = clock.nowMs() - longDeadMs;
      for (const spanMs of deathsOfMs) {
        const afterMs = Math.max(0, untilMs - spanMs);
        yield* await readDied(reading, slug, { afterMs, untilMs });
        untilMs = afterMs;
      }
    },
  };
}

/** Returns the assets that died in an interval, in no order. @throws too_large, unavailable (not in time) */
async function readDied({ store, clock }: Reading, slug: string, deaths: Interval): Promise<readonly Died[]> {
  const assets = await readDeadAssets(store.evidence, slug, [deaths], readingDeadline(clock));
  const events = assets.map(({ death }) => death);
  const typeOf = await typesOf(store, events);
  return assets.map(({ death, revivedAtMs }) => ({
    asset: death.asset,
    assetType: typeOf(death),
    isUndone: revivedAtMs !== null,
  }));
}

/** Returns the assets whose latest event found them alive, the latest first. @throws unavailable (not in time) */
async function readAlive(
  { store, clock }: Reading,
  { slug, assetTypes }: Parameters<LookSources["alive"]>[0],
): Promise<readonly NamedAsset[]> {
  const untilMs = clock.nowMs();
  const interval = { afterMs: untilMs - aliveWithinMs, untilMs };
  const found = await store.evidence.newestAlive({ slug, interval, assetTypes, limit: mostAliveEvents });
  const living = new AssetBook<AssetEventRow>();
  for (const event of found) if (living.get(event) === undefined) living.set(event, event);
  const since = { afterMs: (found.at(-1)?.atMs ?? untilMs) - 1, untilMs };
  const signal = readingDeadline(clock);
  for await (const page of assetEventPages(store.evidence, { slug, interval: since })) {
    if (signal.aborted) throw new FlatlineError("unavailable", "the events could not be read in time");
    for (const event of page)
      if (event.isDeath && event.count > 0)
        for (const [name, alive] of living.meant(event)) if (event.atMs >= alive.atMs) living.delete(name);
  }
  const latestFirst = living.values().toSorted((left, right) => right.atMs - left.atMs);
  const typeOf = await typesOf(store, latestFirst);
  return latestFirst.map((event) => ({ slug, asset: event.asset, assetType: typeOf(event) }));
}

async function typesOf(
  { evidence }: Reading["store"],
  events: readonly AssetEventRow[],
): Promise<(event: AssetEventRow) => string | null> {
  const typeIds = [...new Set(events.map(({ typeId }) => typeId))];
  const { assetTypes } = await evidence.factsOf(typeIds.map((typeId) => ({ typeId, attributeSetId: null })));
  return ({ typeId }) => assetTypes.get(typeId) ?? null;
}
