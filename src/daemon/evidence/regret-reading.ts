import { RegretCounter, type Regret } from "../../evidence/regret.ts";
import { assetEventPages } from "../../store/events/asset-events.ts";
import type { EvidenceStore } from "../../store/events/evidence.ts";

/** The organization, the time of the deaths, and until when an asset may be found alive. */
export interface RegretQuery {
  readonly slug: string;
  readonly deaths: { readonly afterMs: number; readonly untilMs: number };
  readonly untilMs: number;
}

// Some 40 MB of names: more assets than any organization has at once.
const mostAssets = 200_000;

/**
 * False deaths among those of an interval, page by page; null when there are too many assets to count. Rejects with the signal's reason when it aborts.
 */
export async function readRegret(
  store: Pick<EvidenceStore, "assetEvents">,
  { slug, deaths, untilMs }: RegretQuery,
  signal: AbortSignal,
): Promise<Regret | null> {
  const counter = new RegretCounter(mostAssets);
  for await (const page of assetEventPages(store, { slug, interval: { afterMs: deaths.afterMs, untilMs } })) {
    signal.throwIfAborted();
    for (const event of page) {
      if (event.isDeath && event.atMs > deaths.untilMs) continue;
      if (!counter.add(event)) return null;
    }
  }
  return counter.regret;
}
