import { SpikeInputError } from "./spike-input-error.ts";
import type { SpikeThresholds } from "./thresholds.ts";

const hourMs = 3_600_000;
const hoursPerDay = 24;

/** Instants, epoch ms. Baseline: (baselineStartMs, windowStartMs]. Window: (windowStartMs, endMs] (CONTRACT 2). */
export interface SpikeWindow {
  readonly baselineStartMs: number;
  readonly windowStartMs: number;
  readonly endMs: number;
}

/**
 * Returns the window that ends at `nowMs` and the baseline before it. A start is never below the first safe integer: no
 * event is older, and a database would not keep it.
 * @throws SpikeInputError when `nowMs` is no integer of a date's range
 */
export function spikeWindow(
  nowMs: number,
  thresholds: Pick<SpikeThresholds, "windowHours" | "baselineDays">,
): SpikeWindow {
  checkInstant("nowMs", nowMs);
  const windowStartMs = Math.max(nowMs - thresholds.windowHours * hourMs, Number.MIN_SAFE_INTEGER);
  const baselineStartMs = windowStartMs - thresholds.baselineDays * hoursPerDay * hourMs;
  return { baselineStartMs: Math.max(baselineStartMs, Number.MIN_SAFE_INTEGER), windowStartMs, endMs: nowMs };
}

/** Returns the share (0–1) of the baseline after the organization's first stored event; 0: there is no event. */
export function windowCoverage(window: SpikeWindow, firstEventAtMs: number | null): number {
  if (firstEventAtMs === null) return 0;
  const baselineMs = window.windowStartMs - window.baselineStartMs;
  const coveredMs = window.windowStartMs - Math.max(firstEventAtMs, window.baselineStartMs);
  return baselineMs === 0 ? 1 : Math.max(0, coveredMs / baselineMs);
}

/** @throws SpikeInputError when it is no integer that a Date can hold */
export function checkInstant(field: string, atMs: number): void {
  if (Number.isInteger(atMs) && !Number.isNaN(new Date(atMs).getTime())) return;
  throw new SpikeInputError(
    field,
    `${field} must be an instant in integer milliseconds since the epoch, got ${String(atMs)}`,
  );
}
