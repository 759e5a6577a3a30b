import { dayMs, hourMs, minuteMs } from "../../../base/time.ts";
import { formatLengthInProse } from "../../parts/figures.ts";
import { formatInstant } from "./counts.ts";
import type { ChartIncident, ChartRange } from "./data.ts";

/** A stretch of time, epoch ms. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What decides about the range of a chart. */
export interface SpanAsk {
  readonly path: string;
  /** The parameters of the address that choose the span: `range`, or `from` and `to`. Others are kept in the links. */
  readonly params: URLSearchParams;
  readonly nowMs: number;
  readonly incident: Pick<ChartIncident, "beganMs" | "endedMs"> | null;
  /** null: before all that one can ask for. */
  readonly knownFromMs: number | null;
  readonly isThin: boolean;
}

// Nothing older is kept.
const reachMs = 400 * dayMs;
const weekMs = 7 * dayMs;
const lengths = [
  ["24h", "24 h", dayMs],
  ["3d", "3 d", 3 * dayMs],
  ["7d", "7 d", weekMs],
] as const;
const longest = ["90d", "90 d", 90 * dayMs] as const;

/**
 * Returns the stretch that an address asks for, with the links to the others: `from` and `to` (epoch ms, or
 * `2026-01-15T03:00` in UTC; without `to` until now), or `range`; without either the incident's, or 7 d.
 */
export function chooseSpan(ask: SpanAsk): { readonly span: Span; readonly ranges: readonly ChartRange[] } {
  const { params, nowMs, incident } = ask;
  const offered = offeredSpans(ask);
  const asked = readSpan(params, nowMs);
  const standard = incident === null ? "7d" : "incident";
  const found =
    offered.find(([key]) => key === (params.get("range") ?? standard)) ??
    offered[incident === null ? offered.length - 1 : 0];
  const span = asked ?? found?.[2] ?? { fromMs: nowMs - weekMs, toMs: nowMs };
  const ranges = offered.map(([key, name]) => ({
    name,
    href: addressOf(ask, key === standard ? {} : { range: key }),
    isCurrent: asked === null && key === found?.[0],
  }));
  const words = `${formatInstant(span.fromMs, nowMs)} to ${span.toMs === nowMs ? "now" : formatInstant(span.toMs, nowMs)}`;
  const own = asked === null ? [] : [{ name: words, href: addressOf(ask, spanParams(span)), isCurrent: true }];
  const before = { fromMs: span.fromMs - weekMs, toMs: span.toMs - weekMs };
  const isBeforeKnown = ask.knownFromMs === null || ask.knownFromMs < before.toMs;
  const week = isBeforeKnown
    ? [{ name: "a week before", href: addressOf(ask, spanParams(before)), isCurrent: false }]
    : [];
  return { span, ranges: [...ranges, ...own, ...week] };
}

/** Those that fit into what is known; of a short past all of it instead of the others. */
function offeredSpans({
  nowMs,
  incident,
  knownFromMs,
  isThin,
}: SpanAsk): (readonly [key: string, name: string, span: Span])[] {
  const until = (lengthMs: number): Span => ({ fromMs: nowMs - lengthMs, toMs: nowMs });
  const all = incident === null ? [...lengths, longest] : lengths;
  const knownMs = knownFromMs === null ? Number.POSITIVE_INFINITY : nowMs - knownFromMs;
  const fitting = all.filter(([, , lengthMs]) => lengthMs <= knownMs && !(isThin && incident !== null));
  const own =
    incident === null ? [] : [["incident", "this incident", spanOf(incident, { nowMs, knownFromMs, isThin })] as const];
  const rest =
    fitting.length < all.length
      ? [["all", `all that is known, ${hoursInProse(knownMs)}`, until(Math.max(knownMs, minuteMs))] as const]
      : [];
  return [...own, ...fitting.map(([key, name, lengthMs]) => [key, name, until(lengthMs)] as const), ...rest];
}

/** "25 h": below three days the hours are counted, as the window's. */
function hoursInProse(lengthMs: number): string {
  return lengthMs < hourMs || lengthMs >= 3 * dayMs
    ? formatLengthInProse(lengthMs)
    : `${Math.floor(lengthMs / hourMs)} h`;
}

/** An incident with some time before and after it; of a short past the beginning of what is known, and some of the unknown. */
function spanOf(
  { beganMs, endedMs }: Pick<ChartIncident, "beganMs" | "endedMs">,
  { nowMs, knownFromMs, isThin }: Pick<SpanAsk, "nowMs" | "knownFromMs" | "isThin">,
): Span {
  const lengthMs = (endedMs ?? nowMs) - beganMs;
  const beforeMs = Math.max(hourMs, lengthMs / 4);
  const toMs = endedMs === null ? nowMs : Math.min(nowMs, endedMs + beforeMs / 4);
  if (isThin && knownFromMs !== null && knownFromMs < beganMs)
    return { fromMs: knownFromMs - (toMs - knownFromMs) * unknownShare, toMs };
  return { fromMs: Math.min(beganMs - beforeMs, toMs - minuteMs), toMs };
}

const unknownShare = 0.07;

/** The stretch that `from` and `to` ask for; null: none, or one that cannot be. */
function readSpan(params: URLSearchParams, nowMs: number): Span | null {
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

function spanParams({ fromMs, toMs }: Span): Readonly<Record<string, string>> {
  return { from: String(Math.round(fromMs)), to: String(Math.round(toMs)) };
}

function addressOf({ path, params }: SpanAsk, changes: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(params);
  for (const name of ["range", "from", "to"]) query.delete(name);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
