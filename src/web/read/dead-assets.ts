import { z } from "zod";

import { FlatlineError } from "../../base/errors.ts";
import { hourMs, secondMs } from "../../base/time.ts";
import type { AlertEnd, AlertState } from "../../store/alerts/alerts.ts";
import type { SlugInterval } from "../../store/events/asset-events.ts";
import { assetCursorSchema, cursorSchema, writeAssetCursor, writeCursor } from "../api/paging.ts";
import type { AlertAssetsPort, ListedAsset } from "../ports/dead-assets.ts";
import type { Running } from "./running.ts";

export const assetStates = ["all", "dead", "alive"] as const;
export type AssetState = (typeof assetStates)[number];

/** A page of the assets that died in one alert, or in all of an incident. */
export interface DeadAssetList {
  /** null: of several alerts, of which only the deaths are known. */
  readonly alertId: string | null;
  /** Deaths, whatever the filter is. */
  readonly count: number;
  /** Different assets of them; null: not counted. */
  readonly known: number | null;
  readonly fromMs: number;
  readonly state: AssetState;
  readonly assets: readonly ListedAsset[];
  /** Where the next page begins; null: that was all. */
  readonly next: string | null;
  /** Why there is nothing to see; null: there is. */
  readonly problem: string | null;
}

/** What the address of a page asks of a list: `assets`, `after`. */
export interface DeadAssetAsk {
  readonly state: AssetState;
  readonly after: string | null;
}

export interface DeadAssetReading {
  /** Reads the list of an alert; null: it has no assets. */
  ofAlert(alertId: string, ask: DeadAssetAsk): Promise<DeadAssetList | null>;
  /** Reads the list of the spike alerts among these; null: no single events are known, or there is none. */
  ofAlerts(alerts: readonly EndedOrLive[], ask: Pick<DeadAssetAsk, "after">): Promise<DeadAssetList | null>;
}

interface EndedOrLive {
  readonly alert: AlertState;
  readonly end: AlertEnd | null;
}

const pageSize = 100;
// A page that is live is read again every two seconds, and all events of an alert are more than that is worth.
const freshMs = 10 * secondMs;
const mostFresh = 100;
// Until when deaths are looked for, and how many of that very instant were on the pages before.
const mergedPlace = z.tuple([z.int(), z.int().min(0)]);

/** Returns what an address asks for. */
export function readAsk(params: URLSearchParams): DeadAssetAsk {
  const state = assetStates.find((one) => one === params.get("assets")) ?? "all";
  return { state, after: params.get("after") };
}

/** Creates the reading of dead assets for pages. */
export function createDeadAssetReading(
  running: Pick<Running, "store" | "clock" | "holdsEvents">,
  alertAssets: Pick<AlertAssetsPort, "of">,
): DeadAssetReading {
  const { store, clock, holdsEvents } = running;
  const fresh = new Map<string, { readonly atMs: number; readonly list: Promise<DeadAssetList | null> }>();

  async function readAlert(alertId: string, { state, after }: DeadAssetAsk): Promise<DeadAssetList | null> {
    const assets = await alertAssets.of(alertId);
    if (assets === null) return null;
    const cursor = after === null ? null : (assetCursorSchema.safeParse(after).data ?? null);
    const common = { alertId, state };
    try {
      const page = await assets.page({
        limit: pageSize,
        ...(state === "dead" ? { stillDead: true } : {}),
        ...(state === "alive" ? { aliveAgain: true } : {}),
        ...(cursor === null ? {} : { cursor }),
      });
      const { count, knownCount, fromMs, next } = page;
      const more = next === null ? null : writeAssetCursor(next);
      return { ...common, count, known: knownCount, fromMs, assets: page.assets, next: more, problem: null };
    } catch (error) {
      if (!(error instanceof FlatlineError) || (error.code !== "too_large" && error.code !== "unavailable"))
        throw error;
      return { ...common, count: 0, known: null, fromMs: 0, assets: [], next: null, problem: error.message };
    }
  }

  return {
    ofAlert: (alertId, ask) => {
      const key = JSON.stringify([alertId, ask.state, ask.after]);
      const known = fresh.get(key);
      if (known !== undefined && clock.monotonicMs() - known.atMs < freshMs) return known.list;
      if (fresh.size >= mostFresh) fresh.clear();
      const list = readAlert(alertId, ask);
      fresh.set(key, { atMs: clock.monotonicMs(), list });
      list.catch(() => fresh.delete(key));
      return list;
    },
    ofAlerts: async (alerts, { after }) => {
      if (!holdsEvents()) return null;
      const nowMs = clock.nowMs();
      const spans = alerts.flatMap(({ alert, end }): SlugInterval[] => {
        const { check, kind, slug, windowHours, startsAtMs } = alert;
        if (check !== "dead-asset-spike" || kind !== "verdict" || windowHours === undefined) return [];
        return [{ slug, interval: { afterMs: startsAtMs - windowHours * hourMs, untilMs: end?.atMs ?? nowMs } }];
      });
      if (spans.length === 0) return null;
      const [untilMs, skip] = (after === null ? null : readPlace(mergedPlace, after)) ?? [nowMs, 0];
      const before = ({ slug, interval }: SlugInterval): SlugInterval => ({
        slug,
        interval: { ...interval, untilMs: Math.min(interval.untilMs, untilMs) },
      });
      const limit = skip + pageSize + 1;
      const deaths = await store.evidence.newestDeaths({ spans: spans.map(before), assetTypes: [], limit });
      const shown = deaths.slice(skip, skip + pageSize);
      const facts = await store.evidence.factsOf(shown);
      const counted = await store.events.deaths(spans.map(({ slug, interval }) => ({ slug, intervals: [interval] })));
      const lastMs = shown.at(-1)?.atMs ?? untilMs;
      const skipped = lastMs === untilMs ? skip : 0;
      const next = [lastMs, skipped + shown.filter(({ atMs }) => atMs === lastMs).length];
      return {
        alertId: null,
        count: counted.flat().reduce((sum, one) => sum + (one.deaths[0] ?? 0), 0),
        known: null,
        fromMs: Math.min(...spans.map(({ interval }) => interval.afterMs)),
        state: "all",
        assets: shown.map(({ slug, ...death }) => ({
          slug,
          asset: death.asset,
          assetType: facts.assetTypes.get(death.typeId) ?? null,
          deadAtMs: death.atMs,
          attributes: death.attributeSetId === null ? {} : (facts.attributeSets.get(death.attributeSetId) ?? {}),
          revivedAtMs: null,
          answer: null,
        })),
        next: deaths.length > skip + pageSize ? writeCursor(next) : null,
        problem: null,
      };
    },
  };
}

function readPlace<Place>(schema: z.ZodType<Place>, text: string): Place | null {
  const read = cursorSchema(schema).safeParse(text);
  return read.success ? read.data : null;
}
