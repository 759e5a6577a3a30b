import { dayMs } from "../base/time.ts";
import { AssetBook } from "../contract/assets.ts";
import type { EvidenceStore } from "../store/events/evidence.ts";
import type { AssetStatus, LivenessStore } from "../store/events/liveness.ts";

/** What checks read of stored events beside their counts. */
export interface EventReads {
  readonly liveness: LivenessStore;
  readonly evidence: Pick<EvidenceStore, "assetEvents">;
  /** Instant of the organization's first stored event; null without one. */
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
  /** The latest event at or before `nowMs` of each asset that has one of these contents, of whatever type. */
  lastStatuses(slug: string, assets: readonly string[], nowMs: number): Promise<readonly AssetStatus[]>;
}

export interface EventReadsOptions {
  readonly liveness: LivenessStore;
  readonly firstEventAtMs: (slug: string) => Promise<number | null>;
  readonly evidence: Pick<EvidenceStore, "assetEvents" | "eventsVersion">;
}

// A name that an asset had longer ago than this is history: the asset would have been seen since.
const lookbackMs = 90 * dayMs;
// The stretches that are read from now backwards, until each asset is found; doubled each time.
const firstStretchMs = 8 * dayMs;

interface Looked {
  readonly assets: string;
  readonly version: string;
  readonly nowMs: number;
  readonly statuses: AssetBook<AssetStatus>;
}

/**
 * Creates the reads of one source. The past of the assets of an organization is read again when events came in since, of
 * whatever time, or the clock goes back (`check --at`).
 */
export function createEventReads({ liveness, firstEventAtMs, evidence }: EventReadsOptions): EventReads {
  const looked = new Map<string, Looked>();

  async function findStatuses(
    slug: string,
    assets: readonly string[],
    nowMs: number,
    found: AssetBook<AssetStatus>,
  ): Promise<void> {
    const startMs = nowMs - lookbackMs;
    // An asset of another type with that content may have died before the stretch in which this one was seen.
    const types = await liveness.deadTypes(slug, { afterMs: startMs, untilMs: nowMs });
    const seen = new Set<string>();
    const isFound = (asset: string): boolean =>
      seen.has(asset) && types.every((typeId) => found.get({ typeId, asset }) !== undefined);
    let stretchMs = firstStretchMs;
    for (let untilMs = nowMs; untilMs > startMs; stretchMs *= 2) {
      const missing = assets.filter((asset) => !isFound(asset));
      if (missing.length === 0) return;
      const afterMs = Math.max(startMs, untilMs - stretchMs);
      const statuses = await liveness.lastStatuses({ slug, assets: missing, interval: { afterMs, untilMs } });
      for (const status of statuses) {
        seen.add(status.asset);
        if (found.get(status) === undefined) found.set(status, status);
      }
      untilMs = afterMs;
    }
  }

  return {
    liveness,
    evidence,
    firstEventAtMs,
    lastStatuses: async (slug, assets, nowMs) => {
      const key = JSON.stringify(assets);
      // Noted before the reads: events that arrive during them are read again the next time.
      const version = await evidence.eventsVersion();
      const last = looked.get(slug);
      const isKnown = last !== undefined && last.assets === key && last.version === version && nowMs >= last.nowMs;
      const statuses = isKnown ? last.statuses : new AssetBook<AssetStatus>();
      if (isKnown) {
        const interval = { afterMs: last.nowMs, untilMs: nowMs };
        for (const status of await liveness.lastStatuses({ slug, assets, interval })) statuses.set(status, status);
      } else await findStatuses(slug, assets, nowMs, statuses);
      looked.set(slug, { assets: key, version, nowMs, statuses });
      return statuses.values();
    },
  };
}
