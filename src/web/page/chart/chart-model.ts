import type { AlertHistoryEntry } from "../../../store/alerts/alerts.ts";
import type { VerdictPoint } from "../../../store/runs/history.ts";
import type { CheckSnapshot } from "../../ports.ts";
import type { PageOrganization, PageThresholds } from "../ports.ts";
import type { ChartData } from "./chart-data.ts";
import type { LaneSpan } from "./lanes.ts";

// More points than a chart has pixels show nothing.
const mostPoints = 1_500;
const logOverFailAbove = 10;

/** Makes the chart of points, with the thresholds that each was held to. */
export function chartOf(
  points: readonly VerdictPoint[],
  heldTo: (atMs: number) => Omit<PageThresholds, "atMs">,
  span: { readonly fromMs: number; readonly toMs: number },
  asked: string | null,
): ChartData {
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
export function thresholdsAt(
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

/** The alert's life from its history: pending, firing, and silenced while it is now. */
export function spansOf(
  history: readonly AlertHistoryEntry[],
  { alerts }: CheckSnapshot,
  fromMs: number,
  nowMs: number,
): LaneSpan[] {
  const spans: LaneSpan[] = [];
  // What people say of it changes nothing of how long it fired.
  const byRuns = history.filter(({ event }) => !peopleEvents.has(event));
  for (const entries of Map.groupBy(byRuns, ({ alertId }) => alertId).values()) {
    for (const [index, { event, atMs }] of entries.entries()) {
      if (event === "resolved" || event === "recovered" || event === "cleared") continue;
      const toMs = entries[index + 1]?.atMs ?? nowMs;
      spans.push({ fromMs: atMs, toMs, state: event === "pending" ? "pending" : "firing" });
    }
  }
  for (const alert of alerts) {
    const isKnown = history.some(({ alertId }) => alertId === alert.id);
    const state = alert.silenced && alert.state === "firing" ? "silenced" : alert.state;
    if (!isKnown || state === "silenced")
      spans.push({ fromMs: Math.max(fromMs, alert.startsAtMs), toMs: nowMs, state });
  }
  return spans;
}

/** What people did, of which no run knows. */
export const peopleEvents: ReadonlySet<string> = new Set([
  "acknowledged",
  "unacknowledged",
  "judged",
  "judgement_withdrawn",
]);
