import { FlatlineError } from "../../base/errors.ts";
import { medianOf } from "../../base/numbers.ts";
import { hourMs, minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { Actor } from "../../contract/actor.ts";
import { AssetBook } from "../../contract/assets.ts";
import type { Interval } from "../../contract/liveness-counts.ts";
import { showsLife, type LookAnswer } from "../../contract/second-opinion.ts";
import type { CostAnswer } from "../../contract/v1/alerts.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import type { Incident } from "../../store/alerts/incidents.ts";
import { chunksOf } from "../../store/engine/chunks.ts";
import { assetEventPages, type AssetEventRow, type EventFacts } from "../../store/events/asset-events.ts";
import type { Store } from "../../store/store.ts";
import type { Running } from "./running.ts";

/** The dead assets of an alert or an incident (CONTRACT 12). */
export type DeadAssets = NonNullable<Awaited<ReturnType<AlertAssets["of"]>>>;
export type AssetPage = Awaited<ReturnType<DeadAssets["page"]>>;
/** An asset with its last death in an alert. */
export type ListedAsset = AssetPage["assets"][number];
export type AlertAssets = ReturnType<typeof createAlertAssets>;

export interface AssetFilter {
  /** Leaves out assets that were found alive since. */
  readonly stillDead?: boolean | undefined;
  readonly assetType?: string | undefined;
}

/** The last asset of a page; deaths after `toMs` are not listed. */
export type AssetCursor = readonly [toMs: number, rank: number, atMs: number, ordinal: number];

interface Listing {
  readonly spans: readonly AssetSpan[];
  /** Id of the alert or incident, for the audit log; `slug` null: several organizations. */
  readonly subject: string;
  readonly slug: string | null;
  /** Returns the verifier's answer about an asset; null: the list is only in the order of time. */
  readonly answerOf: ((slug: string, asset: string) => LookAnswer | null) | null;
}

/** The deaths of one alert: (afterMs, endMs]. */
interface AssetSpan {
  readonly slug: string;
  readonly afterMs: number;
  /** null: the alert is live. */
  readonly endMs: number | null;
}

interface DeadAsset {
  readonly death: AssetEventRow;
  /** The first sign of life after that death; null: none. */
  revivedAtMs: number | null;
}

/** The place of an asset in a list. Rank 0: the verifier saw it alive, or time alone orders; 1: revived; 2: neither. */
interface Ranked {
  readonly rank: number;
  readonly death: Pick<AssetEventRow, "atMs" | "ordinal">;
}

// A million names take about 200 MB; no organization has so many assets.
const mostAssets = 1_000_000;
const withinMs = minuteMs;
// The last instant of a Date: an asset may be found alive at any time.
const lastInstantMs = 8_640_000_000_000_000;
// Revivals come over days, and people open a large incident again and again.
const rememberMs = 5 * minuteMs;
const mostCosts = 100;

/** Reads dead assets from the stored events. Methods throw FlatlineError too_large, or unavailable after a minute. */
export function createAlertAssets(running: Pick<Running, "store" | "clock" | "holdsEvents" | "config">) {
  const { store, clock, holdsEvents } = running;
  const { evidence, events } = store;
  const costs = new Map<string, { readonly atMs: number; readonly cost: CostAnswer | null }>();

  async function* diedIn(spans: readonly AssetSpan[], toMs: number) {
    const signal = readingDeadline(clock);
    for (const [slug, deaths] of deathsOf(spans, toMs))
      yield { slug, assets: await readDeadAssets(evidence, slug, deaths, signal) };
  }

  /** Counts the deaths of each organization in its intervals, also of assets without a name. */
  async function countDeaths(asked: ReturnType<typeof deathsOf>): Promise<number> {
    let sum = 0;
    for (const counted of await events.deaths(Array.from(asked, ([slug, intervals]) => ({ slug, intervals }))))
      for (const { deaths } of counted) for (const count of deaths) sum += count;
    return sum;
  }

  /** Returns the cost, each asset once; null: the alerts have no assets, or their events were deleted. */
  async function readCost(alerts: readonly Alert[]): Promise<CostAnswer | null> {
    const nowMs = clock.nowMs();
    const { eventRetentionMs } = running.config().storage;
    const oldestMs = eventRetentionMs > 0 ? nowMs - eventRetentionMs : -Infinity;
    const spans = alerts.flatMap((alert) => costSpanOf(alert) ?? []).filter(({ afterMs }) => afterMs >= oldestMs);
    if (!holdsEvents() || spans.length === 0) return null;
    let knownCount = 0;
    const closed: number[] = [];
    for await (const { assets } of diedIn(spans, nowMs)) {
      knownCount += assets.length;
      for (const { death, revivedAtMs } of assets)
        if (revivedAtMs !== null) closed.push(Math.round((revivedAtMs - death.atMs) / secondMs));
    }
    return {
      deaths: await countDeaths(deathsOf(spans, nowMs)),
      knownCount,
      revived: closed.length,
      stillDead: knownCount - closed.length,
      medianClosedSeconds: medianOf(closed),
      closedSeconds: closed.reduce((total, seconds) => total + seconds, 0),
    };
  }

  /** Returns the verifier's answers for an incident; an undecided one does not replace an earlier answer. */
  async function answersOf(incidentNumber: number): Promise<(slug: string, asset: string) => LookAnswer | null> {
    const answers = new Map<string, LookAnswer>();
    const keyOf = (slug: string, asset: string): string => JSON.stringify([slug, asset]);
    for (const look of await store.looks.of(incidentNumber))
      for (const { role, slug, asset, answer } of await store.looks.answersOf(look)) {
        const key = keyOf(slug, asset);
        if (role === "sample" && (answer !== "undecided" || !answers.has(key))) answers.set(key, answer);
      }
    return (slug, asset) => answers.get(keyOf(slug, asset)) ?? null;
  }

  function listOf({ spans, subject, slug: only, answerOf }: Listing) {
    const latestMs = (nowMs: number): number =>
      spans.length === 0 ? nowMs : Math.max(...spans.map(({ endMs }) => endMs ?? nowMs));

    async function readAll(toMs: number) {
      const listed = [];
      for await (const { slug, assets } of diedIn(spans, toMs)) {
        for (const one of assets) {
          const answer = answerOf?.(slug, one.death.asset) ?? null;
          const isSeenAlive = answer !== null && showsLife(answer);
          const rank = answerOf === null || isSeenAlive ? 0 : one.revivedAtMs === null ? 2 : 1;
          listed.push({ ...one, slug, answer, rank, isSeenAlive });
        }
        if (listed.length > mostAssets) throw tooMany();
      }
      return listed.toSorted(inOrder);
    }
    type Listed = Awaited<ReturnType<typeof readAll>>[number];

    async function filtered(assets: readonly Listed[], { stillDead = false, assetType }: AssetFilter) {
      const dead = stillDead ? assets.filter(({ revivedAtMs }) => revivedAtMs === null) : assets;
      if (assetType === undefined) return dead;
      const { assetTypes } = await evidence.factsOf(
        dead.map(({ death: { typeId } }) => ({ typeId, attributeSetId: null })),
      );
      return dead.filter(({ death }) => assetTypes.get(death.typeId) === assetType);
    }

    async function described(assets: readonly Listed[]) {
      const facts = await evidence.factsOf(assets.map(({ death }) => death));
      return assets.map(({ slug, death, revivedAtMs, answer }) => ({
        slug,
        ...describeDeath(death, facts),
        revivedAtMs,
        /** The verifier's answer; null: none. */
        answer,
      }));
    }

    async function* pieces(assets: readonly Listed[]) {
      for (const some of chunksOf(assets)) yield await described(some);
    }

    async function attributeNames(assets: readonly Listed[]): Promise<string[]> {
      const names = new Set<string>();
      for (const some of chunksOf(assets)) {
        const { attributeSets } = await evidence.factsOf(some.map(({ death }) => death));
        for (const set of attributeSets.values()) for (const name of Object.keys(set)) names.add(name);
      }
      return [...names].toSorted();
    }

    return {
      /** Newest first; for an incident: first what answered, then what was found alive since, then the rest. */
      page: async ({
        limit,
        cursor,
        ...filter
      }: AssetFilter & { readonly limit: number; readonly cursor?: AssetCursor | undefined }) => {
        const [toMs, rank, atMs, ordinal] = cursor ?? [latestMs(clock.nowMs()), -1, 0, 0];
        const all = await readAll(toMs);
        const rest = (await filtered(all, filter)).filter(
          (one) => inOrder(one, { rank, death: { atMs, ordinal } }) > 0,
        );
        const last = rest.length > limit ? rest[limit - 1] : undefined;
        return {
          /** The deaths are in (fromMs, toMs]. */
          fromMs: Math.min(toMs, ...spans.map(({ afterMs }) => afterMs)),
          toMs,
          /** All deaths and all known assets, without filters. */
          count: await countDeaths(deathsOf(spans, toMs)),
          knownCount: all.length,
          /** Assets that answered the verifier, and assets that events found alive. */
          seenAliveCount: all.filter(({ isSeenAlive }) => isSeenAlive).length,
          revivedCount: all.filter(({ revivedAtMs }) => revivedAtMs !== null).length,
          assets: await described(rest.slice(0, limit)),
          /** null: the last page. */
          next: last === undefined ? null : ([toMs, last.rank, last.death.atMs, last.death.ordinal] as AssetCursor),
        };
      },
      /** Returns all assets and the names of their attributes, and writes the audit log. `toRestore`: for that log. */
      all: async (filter: AssetFilter & { readonly toRestore?: boolean }, author: Actor) => {
        const matching = await filtered(await readAll(latestMs(clock.nowMs())), filter);
        const detail = { ...filter, assets: matching.length };
        const act = { action: "assets.csv", slug: only, subject, detail } as const;
        await store.audit.append({ atMs: clock.nowMs(), actor: author, ...act });
        return { attributes: await attributeNames(matching), pieces: pieces(matching) };
      },
    };
  }

  return {
    /** null: no such alert, or it has no assets. */
    of: async (alertId: string) => {
      const alert = holdsEvents() ? await store.alerts.find(alertId) : null;
      const span = alert === null ? null : windowOf(alert);
      return span && listOf({ spans: [span], subject: alertId, slug: span.slug, answerOf: null });
    },
    /** The dead assets of these alerts since their onsets; null: the checks use no stored events. */
    ofIncident: async ({ number, id }: Pick<Incident, "number" | "id">, alerts: readonly Alert[]) => {
      if (!holdsEvents()) return null;
      const spans = alerts.flatMap((alert) => costSpanOf(alert) ?? []);
      return listOf({ spans, subject: id, slug: null, answerOf: await answersOf(number) });
    },
    /** The last dead assets in these alerts' windows, and all deaths since `fromMs`; null: none. */
    newest: async (alerts: readonly Alert[], limit: number) => {
      const nowMs = clock.nowMs();
      const spans = alerts.flatMap((alert) => windowOf(alert) ?? []);
      if (spans.length === 0 || !holdsEvents()) return null;
      const asked = deathsOf(spans, nowMs);
      const died = [...asked].flatMap(([slug, own]) => own.map((interval) => ({ slug, interval })));
      const deaths = await evidence.newestDeaths({ spans: died, assetTypes: [], limit });
      const facts = await evidence.factsOf(deaths);
      return {
        nowMs,
        assets: deaths.map((death) => ({ slug: death.slug, ...describeDeath(death, facts) })),
        isOfMany: new Set(spans.map(({ slug }) => slug)).size > 1,
        count: await countDeaths(asked),
        fromMs: Math.min(...spans.map(({ afterMs }) => afterMs)),
      };
    },
    /** The cost of these alerts that are judged `checker`; null: no such alert, or no assets. */
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

/** Returns the deaths in an alert's window; null: it has no assets. */
function windowOf({ check, kind, slug, startsAtMs, windowHours, end }: Alert): AssetSpan | null {
  if (check !== "dead-asset-spike" || kind !== "verdict" || windowHours === undefined) return null;
  return { slug, afterMs: startsAtMs - windowHours * hourMs, endMs: end?.atMs ?? null };
}

/** Returns the deaths since an alert's onset, or all of its window if the onset is unknown; null: no assets. */
export function costSpanOf(alert: Alert): AssetSpan | null {
  const span = windowOf(alert);
  return span === null || alert.onset === undefined ? span : { ...span, afterMs: alert.onset.atMs - 1 };
}

/** Returns the intervals of each organization in the order of time; overlapping ones are merged. */
function deathsOf(spans: readonly AssetSpan[], toMs: number): ReadonlyMap<string, readonly Interval[]> {
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

/**
 * Reads the assets that died in these intervals (in the order of time), each with its last death. A sign of life at the
 * instant of a death does not count. @throws FlatlineError too_large, unavailable (when the signal aborts)
 */
export async function readDeadAssets(
  evidence: Pick<Store["evidence"], "assetEvents">,
  slug: string,
  intervals: readonly Interval[],
  signal: AbortSignal,
): Promise<DeadAsset[]> {
  const found = new AssetBook<DeadAsset>();
  const interval = { afterMs: intervals[0]?.afterMs ?? lastInstantMs, untilMs: lastInstantMs };
  const isIn = (atMs: number): boolean => intervals.some(({ afterMs, untilMs }) => atMs > afterMs && atMs <= untilMs);
  for await (const page of assetEventPages(evidence, { slug, interval })) {
    if (signal.aborted) throw new FlatlineError("unavailable", "the events of this alert could not be read in time");
    for (const event of page) {
      if (!event.isDeath) {
        for (const [, one] of found.meant(event))
          if (one.revivedAtMs === null && event.atMs > one.death.atMs) one.revivedAtMs = event.atMs;
      } else if (event.count > 0 && isIn(event.atMs)) found.set(event, { death: event, revivedAtMs: null });
    }
    if (found.size > mostAssets) throw tooMany();
  }
  return found.values();
}

/** Returns the time limit for one answer's dead assets. */
export function readingDeadline(clock: Clock): AbortSignal {
  return clock.timeout(withinMs);
}

/** Returns the fields of a death. */
export function describeDeath({ asset, typeId, attributeSetId, atMs }: AssetEventRow, facts: EventFacts) {
  return {
    asset,
    /** null: its event had none. */
    assetType: facts.assetTypes.get(typeId) ?? null,
    deadAtMs: atMs,
    attributes: attributeSetId === null ? {} : (facts.attributeSets.get(attributeSetId) ?? {}),
  };
}

/** Orders by rank, then newest first. */
function inOrder(left: Ranked, right: Ranked): number {
  return left.rank - right.rank || right.death.atMs - left.death.atMs || right.death.ordinal - left.death.ordinal;
}

function tooMany(): FlatlineError {
  return new FlatlineError("too_large", `more than ${mostAssets.toLocaleString("en")} assets died in it`);
}
