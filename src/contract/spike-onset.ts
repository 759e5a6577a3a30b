import type { HealthcheckResult } from "./healthcheck.ts";

/** Start of a spike's excess, as known from its events. */
export interface SpikeOnset {
  /** Epoch ms. */
  readonly atMs: number;
  /** The last marker before the onset; null without one. */
  readonly marker: { readonly text: string; readonly atMs: number } | null;
}

/**
 * Returns the onset of a result; null if there is none, or if it cannot be read: each service defines its own `observed`
 * keys.
 */
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
