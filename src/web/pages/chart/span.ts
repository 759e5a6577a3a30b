import { dayMs, hourMs, minuteMs } from "../../../base/time.ts";
import { durationText } from "../../../words/numbers.ts";
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
  /** `range` and `weeks` choose the span. Other parameters are kept in the links. */
  readonly params: URLSearchParams;
  readonly nowMs: number;
  readonly incident: Pick<ChartIncident, "beganMs" | "endedMs"> | null;
  /** null: before all that one can ask for. */
  readonly knownFromMs: number | null;
  readonly isThin: boolean;
}

const weekMs = 7 * dayMs;
// Nothing older is kept.
const mostWeeks = 57;
const lengths = [
  ["24h", "24 h", dayMs],
  ["3d", "3 d", 3 * dayMs],
  ["7d", "7 d", weekMs],
] as const;
const longest = ["90d", "90 d", 90 * dayMs] as const;

/** Returns the stretch that an address asks for, `range` [the incident's, or 7 d] `weeks` [0] before, with the links to the others. */
export function chooseSpan(ask: SpanAsk): { readonly span: Span; readonly ranges: readonly ChartRange[] } {
  const { params, nowMs, incident } = ask;
  const offered = offeredSpans(ask);
  const standard = incident === null ? "7d" : "incident";
  const [key, , chosen] = offered.find(([one]) => one === (params.get("range") ?? standard)) ??
    offered[incident === null ? offered.length - 1 : 0] ?? [standard, "", { fromMs: nowMs - weekMs, toMs: nowMs }];
  const weeks = /^\d{1,2}$/.test(params.get("weeks") ?? "") ? Math.min(Number(params.get("weeks")), mostWeeks) : 0;
  const span = { fromMs: chosen.fromMs - weeks * weekMs, toMs: chosen.toMs - weeks * weekMs };
  const rangeOf = (one: string): Readonly<Record<string, string>> => (one === standard ? {} : { range: one });
  const ranges = offered.map(([one, name]) => ({
    name,
    href: addressOf(ask, rangeOf(one)),
    isCurrent: weeks === 0 && one === key,
  }));
  const shown = (count: number): string => addressOf(ask, { ...rangeOf(key), weeks: String(count) });
  const words = `${formatInstant(span.fromMs, nowMs)} to ${formatInstant(span.toMs, nowMs)}`;
  const past = weeks === 0 ? [] : [{ name: words, href: shown(weeks), isCurrent: true }];
  const isBeforeKnown = ask.knownFromMs === null || ask.knownFromMs < span.toMs - weekMs;
  const before =
    isBeforeKnown && weeks < mostWeeks ? [{ name: "a week before", href: shown(weeks + 1), isCurrent: false }] : [];
  return { span, ranges: [...ranges, ...past, ...before] };
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
  return lengthMs < hourMs || lengthMs >= 3 * dayMs ? durationText(lengthMs) : `${Math.floor(lengthMs / hourMs)} h`;
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

function addressOf({ path, params }: SpanAsk, changes: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(params);
  for (const name of ["range", "weeks"]) query.delete(name);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
