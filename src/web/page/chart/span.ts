import { dayMs, minuteMs } from "../../../base/time.ts";

/** A stretch of time, epoch ms. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

// Nothing older is kept.
const reachMs = 400 * dayMs;

/**
 * The stretch that `from` and `to` of an address ask for: epoch ms, or `2026-01-15T03:00` in UTC; without `to` until now. null:
 * they ask for none, or for one that cannot be.
 */
export function readSpan(params: URLSearchParams, nowMs: number): Span | null {
  const fromMs = readTime(params.get("from"));
  const asked = params.get("to");
  const toMs = asked === null || asked === "" ? nowMs : readTime(asked);
  if (fromMs === null || toMs === null) return null;
  const span = { fromMs: Math.max(fromMs, nowMs - reachMs), toMs: Math.min(toMs, nowMs) };
  return span.toMs - span.fromMs >= minuteMs ? span : null;
}

function readTime(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{12,14}$/.test(text)) return Number(text);
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
