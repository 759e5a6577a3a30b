import { breakAddresses } from "../../../base/broken-address.ts";
import type { AlertHistoryEntry } from "../../../store/alerts/alerts.ts";
import type { VerdictPoint } from "../../../store/runs/history.ts";
import type { AlertComment } from "../../../store/alerts/comments.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import type { CheckSnapshot } from "../../ports/checks.ts";
import type { GateView } from "../../ports/gate.ts";
import { dayMs } from "../../../base/time.ts";
import type { PageOrganization, PagePort, PageSilencedSpan, PageThresholds } from "../ports.ts";
import type { ChartData } from "./chart-data.ts";
import type { LaneAct, LaneDelivery, LaneSpan } from "./lanes.ts";
import { readSpan, type Span } from "./span.ts";

// More points than a chart has pixels show nothing.
const mostPoints = 1_500;
const logOverFailAbove = 10;
const weekMs = 7 * dayMs;

/** What the chart of an organization is to show. */
export interface ChartAsk {
  readonly slug: string;
  /** Parameters of the address: `from` and `to` ask for exactly that stretch; without `scale` the counts choose one; `week`. */
  readonly params: URLSearchParams;
  /** The stretch without `from` and `to`. */
  readonly range: Span;
  /** Where a range that begins with its first run begins when it has none; null: it begins where it says. */
  readonly emptyFromMs: number | null;
  readonly nowMs: number;
  readonly beganMs: number | null;
}

/** Reads the chart of an organization, with the points that it is made of. */
export async function readChart(
  page: PagePort,
  ask: ChartAsk,
): Promise<{
  readonly chart: ChartData;
  readonly isScaleAsked: boolean;
  readonly points: readonly VerdictPoint[];
  readonly silenced: readonly PageSilencedSpan[];
}> {
  const { slug, params, nowMs } = ask;
  const asked = readSpan(params, nowMs);
  const { fromMs: firstMs, toMs } = asked ?? ask.range;
  const points = await page.points(slug, firstMs, toMs);
  const fromMs = asked === null && ask.emptyFromMs !== null ? (points[0]?.atMs ?? ask.emptyFromMs) : firstMs;
  const [kept, silenced, excluded, week] = await Promise.all([
    page.thresholdsOf(slug, fromMs, toMs),
    page.silencedSpans(slug, fromMs, toMs),
    page.excludedSpans(slug, nowMs),
    params.get("week") === null ? null : page.points(slug, fromMs - weekMs, toMs - weekMs),
  ]);
  const scale = params.get("scale");
  const organization = page.organizations().find((one) => one.slug === slug) ?? null;
  const shades = [
    ...silenced.map((one) => ({ kind: "silenced" as const, fromMs: one.fromMs, toMs: one.toMs })),
    ...excluded.map((one) => ({ kind: "excluded" as const, ...one })),
  ].filter((shade) => shade.toMs > fromMs && shade.fromMs < toMs);
  const before = week === null ? null : thin(week);
  const data = chartOf(points, thresholdsAt(kept, organization), { fromMs, toMs }, scale);
  return {
    chart: {
      ...data,
      isLive: toMs === nowMs,
      isAsked: asked !== null,
      beganMs: ask.beganMs,
      weekBefore:
        before === null
          ? null
          : { at: before.map(({ atMs }) => atMs + weekMs), count: before.map(({ currentCount }) => currentCount) },
      shades: shades.map((shade) => ({
        ...shade,
        fromMs: Math.max(shade.fromMs, fromMs),
        toMs: Math.min(shade.toMs, toMs),
      })),
    },
    isScaleAsked: scale === "log" || scale === "linear",
    points,
    silenced,
  };
}

/** Makes the chart of points, with the thresholds that each was held to. */
function chartOf(
  points: readonly VerdictPoint[],
  heldTo: (atMs: number) => Omit<PageThresholds, "atMs">,
  span: { readonly fromMs: number; readonly toMs: number },
  asked: string | null,
): Omit<ChartData, "isLive" | "isAsked" | "beganMs" | "weekBefore" | "shades"> {
  const shown = thin(points);
  const above = (which: "warnMultiplier" | "failMultiplier") => (point: VerdictPoint) => {
    const held = heldTo(point.atMs);
    return point.expectedCount === null ? null : Math.max(held.minSpikeCount, point.expectedCount * held[which]);
  };
  const fail = shown.map(above("failMultiplier"));
  const peak = Math.max(0, ...shown.map(({ currentCount }) => currentCount ?? 0));
  const lastFail = fail.findLast((value) => value !== null) ?? heldTo(span.toMs).minSpikeCount;
  const isSteep = peak > logOverFailAbove * lastFail;
  return {
    ...span,
    scale: asked === "log" || asked === "linear" ? asked : isSteep ? "log" : "linear",
    at: shown.map(({ atMs }) => atMs),
    count: shown.map(({ currentCount }) => currentCount),
    expected: shown.map(({ expectedCount }) => expectedCount),
    warn: shown.map(above("warnMultiplier")),
    fail,
    severity: shown.map(({ severity }) => severity),
  };
}

/** What a point was held to: by the last kept run before it, the first one for what is older, else the configuration. */
function thresholdsAt(
  kept: readonly PageThresholds[],
  organization: PageOrganization | null,
): (atMs: number) => Omit<PageThresholds, "atMs"> {
  const now = organization?.thresholds ?? { warnMultiplier: 2, failMultiplier: 4, minSpikeCount: 1 };
  return (atMs) => kept.findLast((one) => one.atMs <= atMs) ?? kept[0] ?? now;
}

/** At most so many points; of each stretch the last, and each at which the severity changes. */
function thin(points: readonly VerdictPoint[]): readonly VerdictPoint[] {
  if (points.length <= mostPoints) return points;
  const every = Math.ceil(points.length / mostPoints);
  return points.filter(
    (point, index) =>
      index % every === 0 || index === points.length - 1 || points[index - 1]?.severity !== point.severity,
  );
}

/** The alert's life from its history: pending, firing, acknowledged, and silenced where a silence held. */
export function spansOf(
  history: readonly AlertHistoryEntry[],
  { alerts }: CheckSnapshot,
  silenced: readonly Span[],
  fromMs: number,
  nowMs: number,
): LaneSpan[] {
  const spans: LaneSpan[] = [];
  for (const entries of Map.groupBy(history, ({ alertId }) => alertId).values()) {
    let state: LaneSpan["state"] = "pending";
    for (const [index, { event, atMs }] of entries.entries()) {
      if (event === "resolved" || event === "recovered" || event === "cleared") break;
      state = stateAfter(event, state);
      spans.push({ fromMs: atMs, toMs: entries[index + 1]?.atMs ?? nowMs, state });
    }
  }
  for (const { id, state, startsAtMs, acknowledgement } of alerts) {
    if (history.some(({ alertId }) => alertId === id)) continue;
    const quiet = state === "firing" && acknowledgement !== null ? "acknowledged" : state;
    spans.push({ fromMs: Math.max(fromMs, startsAtMs), toMs: nowMs, state: quiet });
  }
  return spans.flatMap((span) => withSilences(span, silenced));
}

function stateAfter(event: string, before: LaneSpan["state"]): LaneSpan["state"] {
  if (event === "pending") return "pending";
  if (event === "acknowledged") return "acknowledged";
  // What people say of it changes nothing of how loud it is, nor does a change for the better.
  return event === "judged" || event === "judgement_withdrawn" || event === "deescalated" ? before : "firing";
}

/** A stretch in pieces: those in which a silence held, and those between them. */
function withSilences(span: LaneSpan, silenced: readonly Span[]): LaneSpan[] {
  if (span.state === "pending") return [span];
  const pieces: LaneSpan[] = [];
  let fromMs = span.fromMs;
  for (const one of silenced.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const [start, end] = [Math.max(one.fromMs, fromMs), Math.min(one.toMs, span.toMs)];
    if (end <= start) continue;
    if (start > fromMs) pieces.push({ ...span, fromMs, toMs: start });
    pieces.push({ fromMs: start, toMs: end, state: "silenced" });
    fromMs = end;
  }
  return fromMs < span.toMs || pieces.length === 0 ? [...pieces, { ...span, fromMs }] : pieces;
}

/** What was sent, and what its receivers have not accepted yet at their last attempt. */
export function lanesSent(deliveries: readonly DeliveryAttempt[]): LaneDelivery[] {
  const lasts = new Set(
    [
      ...Map.groupBy(deliveries, (one) => JSON.stringify([one.notificationId, one.receiver, one.recipient])).values(),
    ].map((attempts) => attempts.at(-1)),
  );
  return deliveries.flatMap((one): LaneDelivery[] => {
    if (one.outcome !== "retry") return [{ atMs: one.atMs, outcome: one.outcome }];
    return lasts.has(one) ? [{ atMs: one.atMs, outcome: "waiting" }] : [];
  });
}

/** What people did and marked, oldest first. */
export function lanesActs(facts: {
  readonly history: readonly AlertHistoryEntry[];
  readonly comments: readonly Pick<AlertComment, "atMs" | "act">[];
  readonly releases: GateView["releases"];
  readonly silenced: readonly PageSilencedSpan[];
  readonly markers: readonly { readonly atMs: number; readonly text: string }[];
}): LaneAct[] {
  const act = (atMs: number, text: string): LaneAct => ({ atMs, kind: "act", text });
  return [
    ...facts.history.flatMap(({ event, atMs }) =>
      peopleEvents.has(event) ? [act(atMs, actWords[event] ?? event)] : [],
    ),
    // One that came with an act stands there.
    ...facts.comments.flatMap((one) => (one.act === null ? [act(one.atMs, "commented")] : [])),
    ...facts.releases.flatMap(({ how, atMs }) => (how === "released" ? [act(atMs, "released")] : [])),
    ...facts.silenced.flatMap(({ madeAtMs }) => (madeAtMs === null ? [] : [act(madeAtMs, "silenced")])),
    ...facts.markers.map(({ atMs, text }): LaneAct => ({
      atMs,
      kind: "marker",
      text: `marker «${breakAddresses(text)}»`,
    })),
  ].toSorted((left, right) => left.atMs - right.atMs);
}

const actWords: Readonly<Record<string, string>> = {
  unacknowledged: "taken back",
  judgement_withdrawn: "judgement withdrawn",
};

/** What people did, of which no run knows. */
export const peopleEvents: ReadonlySet<string> = new Set([
  "acknowledged",
  "unacknowledged",
  "judged",
  "judgement_withdrawn",
]);
