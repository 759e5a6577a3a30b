import type { HealthcheckResult } from "./healthcheck.ts";

/** When the excess of a spike began, as far as its events tell. */
export interface SpikeOnset {
  /** Epoch ms. */
  readonly atMs: number;
  /** The last thing that people marked before it; null where nothing is marked. */
  readonly marker: { readonly text: string; readonly atMs: number } | null;
}

/** What a result says of its onset; null when it says nothing that can be read: keys of `observed` are each service's own. */
export function spikeOnsetOf({ observed }: Pick<HealthcheckResult, "observed">): SpikeOnset | null {
  const atMs = instantOf(observed["onsetAt"]);
  if (atMs === null) return null;
  const text = observed["marker"];
  const markerAtMs = instantOf(observed["markerAt"]);
  const isMarked = typeof text === "string" && text !== "" && markerAtMs !== null;
  return { atMs, marker: isMarked ? { text, atMs: markerAtMs } : null };
}

function instantOf(value: unknown): number | null {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
