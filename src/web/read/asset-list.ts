import { minuteMs, type Clock } from "../../base/time.ts";
import { FlatlineError } from "../../base/errors.ts";
import { AssetBook } from "../../contract/assets.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import { showsLife, type LookAnswer } from "../../contract/second-opinion.ts";
import { DeadAssetLedger, type DeadAsset } from "../../evidence/dead-assets.ts";
import { chunksOf } from "../../store/engine/chunks.ts";
import {
  assetEventPages,
  type AssetEventRow,
  type EventFacts,
  type EventPlace,
} from "../../store/events/asset-events.ts";
import type { Store } from "../../store/store.ts";
import type { Actor } from "../../contract/actor.ts";

/** An asset of an organization that died in an alert, by its last death there. */
export interface ListedAsset {
  readonly slug: string;
  readonly asset: string;
  /** null: its event named none. */
  readonly assetType: string | null;
  readonly deadAtMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** When it was first found alive after that; null: not yet. */
  readonly revivedAtMs: number | null;
  /** What the verifier said of it, in the list of an incident; null: nothing. */
  readonly answer: LookAnswer | null;
}

export interface AssetFilter {
  /** Without those that were found alive since. */
  readonly stillDead?: boolean;
  readonly assetType?: string;
}

/** After whom the next page begins: deaths after `toMs` are not of this listing, and what comes first has rank 0. */
export type AssetCursor = readonly [toMs: number, rank: number, atMs: number, ordinal: number];

/** The assets that died in one alert, or in some of an incident. */
export type DeadAssets = ReturnType<typeof createAssetList>;
export type AssetPage = Awaited<ReturnType<DeadAssets["page"]>>;

/** The deaths of one alert: those of (afterMs, endMs]. */
export interface AssetSpan {
  readonly slug: string;
  readonly afterMs: number;
  /** null: the alert lives, so that they go on. */
  readonly endMs: number | null;
}

/** What a list is of. */
export interface ListedSpans {
  readonly spans: readonly AssetSpan[];
  /** Id of the alert or incident, and its organization, for the audit; null: of several. */
  readonly subject: string;
  readonly slug: string | null;
  /** Returns the verifier's answer about an asset; null: the list is by time alone, else living assets come first. */
  readonly answers: ((slug: string, asset: string) => LookAnswer | null) | null;
}

interface Listed extends DeadAsset<AssetEventRow> {
  readonly slug: string;
  readonly answer: LookAnswer | null;
  /** What comes first in the list: 0. */
  readonly rank: number;
}

// Some 200 MB of names: more assets than an organization has.
const mostAssets = 1_000_000;
const withinMs = minuteMs;
// The last instant that a Date knows: an asset may be found alive at any time.
const lastInstantMs = 8_640_000_000_000_000;

/** Returns the deaths of each organization up to `toMs`, in order of time: where spans overlap, a death is in one of them. */
export function deathsOf(spans: readonly AssetSpan[], toMs: number): ReadonlyMap<string, readonly Interval[]> {
  const deaths = new Map<string, Interval[]>();
  for (const { slug, afterMs, endMs } of spans.toSorted((left, right) => left.afterMs - right.afterMs)) {
    const known = deaths.get(slug) ?? [];
    const last = known.at(-1);
    const untilMs = Math.min(endMs ?? toMs, toMs);
    if (last === undefined || afterMs > last.untilMs) deaths.set(slug, [...known, { afterMs, untilMs }]);
    else known[known.length - 1] = { ...last, untilMs: Math.max(last.untilMs, untilMs) };
  }
  return deaths;
}

/** Returns how many deaths there are in these spans up to `toMs`, of assets with and without a name. */
export async function countDeaths(
  events: Pick<Store["events"], "deaths">,
  spans: readonly AssetSpan[],
  toMs: number,
): Promise<number> {
  const counted = await events.deaths([...deathsOf(spans, toMs)].map(([slug, intervals]) => ({ slug, intervals })));
  return counted
    .flat()
    .flatMap(({ deaths }) => deaths)
    .reduce((sum, deaths) => sum + deaths, 0);
}

/**
 * Reads the assets of an organization that died in these intervals, each with its last death there, in no order.
 * @throws FlatlineError too_large, unavailable (when the signal aborts)
 */
export async function readDeadAssets(
  evidence: Pick<Store["evidence"], "assetEvents">,
  slug: string,
  intervals: readonly Interval[],
  signal: AbortSignal,
): Promise<DeadAsset<AssetEventRow>[]> {
  const found = new AssetBook<DeadAsset<AssetEventRow>>();
  for (const deaths of intervals) {
    const ledger = new DeadAssetLedger<AssetEventRow>({ deaths, mostAssets });
    const interval = { afterMs: deaths.afterMs, untilMs: lastInstantMs };
    for await (const page of assetEventPages(evidence, { slug, interval })) {
      if (signal.aborted) throw new FlatlineError("unavailable", "the events of this alert could not be read in time");
      for (const event of page) if (!ledger.add(event)) throw tooMany();
    }
    for (const one of ledger.assets()) found.set(one.death, one);
  }
  return [...found.values()];
}

/** How long dead assets may be read for one answer. */
export function readingDeadline(clock: Clock): AbortSignal {
  return clock.timeout(withinMs);
}

/**
 * Creates the list of the assets that died in some alerts, each of an organization once, with its last death there.
 * Its functions throw FlatlineError too_large, unavailable (not in time).
 */
export function createAssetList(
  { store, clock }: { readonly store: Pick<Store, "audit" | "events" | "evidence">; readonly clock: Clock },
  { spans, subject, slug: only, answers }: ListedSpans,
) {
  async function readAll(toMs: number): Promise<Listed[]> {
    const signal = readingDeadline(clock);
    const listed: Listed[] = [];
    for (const [slug, deaths] of deathsOf(spans, toMs)) {
      for (const { death, revivedAtMs } of await readDeadAssets(store.evidence, slug, deaths, signal)) {
        const answer = answers?.(slug, death.asset) ?? null;
        const rank = answers === null || (answer !== null && showsLife(answer)) ? 0 : revivedAtMs === null ? 2 : 1;
        listed.push({ slug, death, revivedAtMs, answer, rank });
      }
      if (listed.length > mostAssets) throw tooMany();
    }
    return listed.toSorted(inOrder);
  }

  function latestMs(): number {
    const nowMs = clock.nowMs();
    return spans.length === 0 ? nowMs : Math.max(...spans.map(({ endMs }) => endMs ?? nowMs));
  }

  async function filtered(
    assets: readonly Listed[],
    { stillDead = false, assetType }: AssetFilter,
  ): Promise<readonly Listed[]> {
    const dead = stillDead ? assets.filter(({ revivedAtMs }) => revivedAtMs === null) : assets;
    if (assetType === undefined) return dead;
    const typeIds = [...new Set(dead.map(({ death }) => death.typeId))];
    const facts = await store.evidence.factsOf(typeIds.map((typeId) => ({ typeId, attributeSetId: null })));
    return dead.filter(({ death }) => facts.assetTypes.get(death.typeId) === assetType);
  }

  async function described(assets: readonly Listed[]): Promise<ListedAsset[]> {
    const facts = await store.evidence.factsOf(assets.map(({ death }) => death));
    return assets.map(({ slug, death, revivedAtMs, answer }) => ({
      slug,
      ...describeDeath(death, facts),
      revivedAtMs,
      answer,
    }));
  }

  async function* pieces(assets: readonly Listed[]): AsyncGenerator<readonly ListedAsset[]> {
    for (const some of chunksOf(assets)) yield await described(some);
  }

  async function attributeNames(assets: readonly Listed[]): Promise<string[]> {
    const names = new Set<string>();
    const setIds = [...new Set(assets.flatMap(({ death }) => death.attributeSetId ?? []))];
    for (const some of chunksOf(setIds)) {
      const facts = await store.evidence.factsOf(some.map((attributeSetId) => ({ typeId: 0, attributeSetId })));
      for (const set of facts.attributeSets.values()) for (const name of Object.keys(set)) names.add(name);
    }
    return [...names].toSorted();
  }

  return {
    /** Newest first; of an incident first what answered, then what was found alive since, then the rest. */
    page: async ({
      limit,
      cursor,
      ...filter
    }: AssetFilter & { readonly limit: number; readonly cursor?: AssetCursor }) => {
      const [toMs = latestMs(), rank = -1, atMs = 0, ordinal = 0] = cursor ?? [];
      const all = await readAll(toMs);
      const rest = (await filtered(all, filter)).filter((one) => inOrder(one, { rank, death: { atMs, ordinal } }) > 0);
      const shown = rest.slice(0, limit);
      const last = shown.at(-1);
      const next: AssetCursor | null =
        last === undefined || rest.length === shown.length
          ? null
          : [toMs, last.rank, last.death.atMs, last.death.ordinal];
      return {
        /** The deaths are those of (fromMs, toMs]. */
        fromMs: Math.min(toMs, ...spans.map(({ afterMs }) => afterMs)),
        toMs,
        /** All deaths, and how many different assets of them are known; whatever the filters are. */
        count: await countDeaths(store.events, spans, toMs),
        knownCount: all.length,
        /** How many of these showed life to the verifier, and how many events found alive since. */
        seenAliveCount: all.filter(({ answer }) => answer !== null && showsLife(answer)).length,
        revivedCount: all.filter(({ revivedAtMs }) => revivedAtMs !== null).length,
        assets: await described(shown),
        /** null: that was all. */
        next,
      };
    },
    /** All of them, with the names of their attributes; an act of `author`. `toRestore`: for the audit. */
    all: async (filter: AssetFilter & { readonly toRestore?: boolean }, author: Actor) => {
      const matching = await filtered(await readAll(latestMs()), filter);
      const detail = { ...filter, assets: matching.length };
      const act = { action: "assets.csv", slug: only, subject, detail } as const;
      await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
      return { attributes: await attributeNames(matching), pieces: pieces(matching) };
    },
  };
}

/** Returns what is shown of the death of an asset. */
export function describeDeath(
  death: AssetEventRow,
  facts: EventFacts,
): Pick<ListedAsset, "asset" | "assetType" | "deadAtMs" | "attributes"> {
  const { asset, typeId, attributeSetId, atMs } = death;
  return {
    asset,
    assetType: facts.assetTypes.get(typeId) ?? null,
    deadAtMs: atMs,
    attributes: attributeSetId === null ? {} : (facts.attributeSets.get(attributeSetId) ?? {}),
  };
}

/** The newest first of those of a rank. */
function inOrder(
  left: { readonly rank: number; readonly death: EventPlace },
  right: { readonly rank: number; readonly death: EventPlace },
): number {
  return left.rank - right.rank || right.death.atMs - left.death.atMs || right.death.ordinal - left.death.ordinal;
}

function tooMany(): FlatlineError {
  return new FlatlineError("too_large", `more than ${mostAssets.toLocaleString("en")} assets died in it`);
}
