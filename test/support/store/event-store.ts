import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createSystemClock } from "../../../src/base/time.ts";
import { importEvents, type ImportOptions, type ImportOutcome } from "../../../src/store/events/import.ts";
import { storeTarget } from "../../../src/store/events/imports.ts";
import type { EventFile } from "../../../src/store/events/read.ts";
import type { AssetTypeCounts } from "../../../src/spike/asset-types.ts";
import type { LivenessEvent } from "../../../src/store/events/rules.ts";
import type { Store, StoreLocation } from "../../../src/store/store.ts";
import { engineNamed, type StoreEngineCase } from "./engines.ts";

/** A folder of its own with an open store in it, for tests of events. */
export interface EventWorld {
  readonly folder: string;
  readonly location: StoreLocation;
  readonly store: Store;
  /** Writes a file into the folder and answers its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  import(files: readonly EventFile[], options?: Partial<ImportOptions>): Promise<ImportOutcome>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** On SQLite, in a file. */
export async function createEventWorld(): Promise<EventWorld & { readonly location: { readonly path: string } }> {
  const world = await createWorldOn(engineNamed("SQLite"));
  return { ...world, location: world.location as { readonly path: string } };
}

/** On the engine of a `describe.each(storeEngines)`. */
export async function createWorldOn({ makePlace }: Pick<StoreEngineCase<string>, "makePlace">): Promise<EventWorld> {
  const place = await makePlace();
  const store = await place.open(createSystemClock());
  const { location } = place;
  return eventWorld({ location, folder: await makeFolder(), store }, () => place.remove());
}

function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "flatline-events-"));
}

function eventWorld(
  { location, folder, store }: Pick<EventWorld, "location" | "folder" | "store">,
  close: () => Promise<void>,
): EventWorld {
  const clock = createSystemClock();
  return {
    folder,
    location,
    store,
    write: async (name, content) => {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    },
    import: (files, options = {}) =>
      importEvents({
        files,
        rebaseTo: null,
        target: storeTarget(store, clock),
        signal: new AbortController().signal,
        ...options,
      }),
    [Symbol.asyncDispose]: async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A death without anything optional. */
export function death(atMs: number, slug: string, more: Partial<LivenessEvent> = {}): LivenessEvent {
  return { atMs, slug, assetType: null, asset: null, status: "DETECTED_AS_DEAD", id: null, count: 1, ...more };
}

export function toCsv(events: readonly LivenessEvent[]): string {
  const cell = (value: string | number | null): string => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = events.map(({ atMs, slug, assetType, asset, status, id, count }) =>
    [atMs, slug, assetType, asset, status, id, count].map(cell).join(","),
  );
  return ["at,slug,assetType,asset,status,id,count", ...rows, ""].join("\n");
}

export function toNdjson(events: readonly LivenessEvent[]): string {
  return events
    .map(({ atMs, ...rest }) => {
      const present = Object.entries(rest).filter(([, value]) => value !== null);
      return `${JSON.stringify({ at: new Date(atMs).toISOString(), ...Object.fromEntries(present) })}\n`;
    })
    .join("");
}

/** The events of batches that a store keeps: each is known by its id, or by what it says. */
export function keptOf(batches: readonly (readonly LivenessEvent[])[]): LivenessEvent[] {
  const seen = new Set<string>();
  return batches.flatMap((batch) => {
    const equal = new Map<string, number>();
    return batch.filter(({ slug, id, atMs, assetType, asset, status, count }) => {
      const content = JSON.stringify([slug, atMs, assetType, asset, status, asset === null ? count : null]);
      const number = asset === null ? (equal.get(content) ?? 0) : 0;
      equal.set(content, number + 1);
      const key = id === null ? `${number} ${content}` : JSON.stringify([slug, id]);
      if (seen.has(key)) return false;
      return seen.add(key);
    });
  });
}

/** What the store has to count of events that it keeps, one after the other. */
export function countOneByOne(events: readonly LivenessEvent[], query: CountQuery): AssetTypeCounts[] {
  const counts = new Map<string | null, { currentCount: number; baselineCount: number }>();
  for (const { slug, status, atMs, assetType, count } of events) {
    if (slug !== query.slug || status !== "DETECTED_AS_DEAD") continue;
    const isCurrent = atMs > query.windowStartMs && atMs <= query.endMs;
    const isBaseline = atMs > query.baselineStartMs && atMs <= query.windowStartMs;
    if ((!isCurrent && !isBaseline) || count === 0) continue;
    const known = counts.get(assetType) ?? { currentCount: 0, baselineCount: 0 };
    known[isCurrent ? "currentCount" : "baselineCount"] += count;
    counts.set(assetType, known);
  }
  return sortCounts([...counts].map(([assetType, count]) => ({ assetType, ...count })));
}

function sortCounts(counts: readonly AssetTypeCounts[]): AssetTypeCounts[] {
  return counts.toSorted((a, b) => (a.assetType ?? "").localeCompare(b.assetType ?? ""));
}

/** Bounds of a window and its baseline: (baselineStart, windowStart] and (windowStart, end]. */
export interface CountQuery {
  readonly slug: string;
  readonly baselineStartMs: number;
  readonly windowStartMs: number;
  readonly endMs: number;
}

/** Deaths of a window and its baseline by asset type, as the store counts them. */
export async function countsOf(
  { events }: Pick<Store, "events">,
  { slug, baselineStartMs, windowStartMs, endMs }: CountQuery,
): Promise<AssetTypeCounts[]> {
  const intervals = [
    { afterMs: windowStartMs, untilMs: endMs },
    { afterMs: baselineStartMs, untilMs: windowStartMs },
  ];
  const [byType = []] = await events.deaths([{ slug, intervals }]);
  return byType.map(({ assetType, deaths: [currentCount = 0, baselineCount = 0] }) => ({
    assetType,
    currentCount,
    baselineCount,
  }));
}
