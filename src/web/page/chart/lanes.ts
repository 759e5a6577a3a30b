import { formatClock, formatDay } from "../parts/figures.ts";
import { html, type Html } from "../parts/html.ts";
import type { RowSeverity } from "../parts/marks.ts";
import { bandsOf, type ChartData } from "./chart-data.ts";

/** What happened to the alert, for the lanes. Times are epoch ms. */
export interface LaneEvent {
  readonly atMs: number;
  readonly event: string;
  readonly severity: RowSeverity;
}

/** What was sent: accepted or not. */
export interface LaneDelivery {
  readonly atMs: number;
  readonly isAccepted: boolean;
}

/** What people marked: a rollout, a deployment. */
export interface LaneMarker {
  readonly atMs: number;
  readonly text: string;
}

/** A stretch of the alert's life, for the lane. */
export interface LaneSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: "pending" | "firing" | "silenced";
}

/** What the lanes show. */
export interface Lanes {
  readonly spans: readonly LaneSpan[];
  readonly events: readonly LaneEvent[];
  readonly sent: readonly LaneDelivery[];
  readonly markers: readonly LaneMarker[];
}

/** State, alert, what was sent and, where there is any, what was marked, under the axis of the chart: of its range, or of a zoom. */
export function renderLanes(data: ChartData, lanes: Lanes): Html {
  const within = (atMs: number): number => Math.min(Math.max(atMs, data.fromMs), data.toMs);
  const x = (atMs: number): number => round(((within(atMs) - data.fromMs) / (data.toMs - data.fromMs)) * 100);
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= data.fromMs && atMs <= data.toMs;
  const overlaps = (span: { readonly fromMs: number; readonly toMs: number }): boolean =>
    span.toMs > data.fromMs && span.fromMs < data.toMs;
  const markers = lanes.markers.filter(isIn);
  const names = ["state", "alert", "sent", ...(markers.length > 0 ? ["marks"] : [])];
  const height = names.length * 22;
  const blocks = bandsOf(data).filter((band) => band.severity !== "ok" && overlaps(band));
  return html`<div
    class="lanes${markers.length > 0 ? " marked" : ""}"
    role="img"
    aria-label="State, alert and what was sent, over the same time"
  >
    <svg class="left" width="44" height="${height}">
      ${names.map((name, index) => html`<text x="38" y="${15 + index * 22}" text-anchor="end">${name}</text>`)}</svg
    ><svg class="plot" height="${height}">
      ${names.map((_, index) => html`<line class="grid" x1="0" x2="100%" y1="${11 + index * 22}" y2="${11 + index * 22}" />`)}${blocks.map(({ severity, fromMs, toMs }) => html`<rect class="seg ${severity}" x="${x(fromMs)}%" y="5.5" width="${Math.max(0.3, round(x(toMs) - x(fromMs)))}%" height="11" />`)}${lanes.spans.filter(overlaps).map(({ state, fromMs, toMs }) => html`<rect class="life ${state}" x="${x(fromMs)}%" y="${state === "firing" ? 30.5 : 31}" width="${Math.max(0.2, round(x(toMs) - x(fromMs)))}%" height="${state === "firing" ? 5 : 4}" />`)}${lanes.events.filter(isIn).map(({ atMs, severity, event }) => html`<svg x="${x(atMs)}%" y="26" width="14" height="14" class="at"><use class="mark ${shapeOf(event, severity)}" href="#m-${shapeOf(event, severity)}" x="-7" width="14" height="14" /></svg>`)}${lanes.sent.filter(isIn).map(({ atMs, isAccepted }) => html`<svg x="${x(atMs)}%" y="49" width="12" height="12" class="at"><path class="${isAccepted ? "tick" : "cross"}" d="${isAccepted ? "M0 0V12" : "M-4 2L4 10M4 2L-4 10"}" /></svg>`)}${markers.map(
        ({ atMs, text }) =>
          html`<svg x="${x(atMs)}%" y="71" width="12" height="12" class="at">
            <title>${text}, ${formatDay(atMs)} ${formatClock(atMs)} UTC</title>
            <path class="tick" d="M0 0V12M0 0H5V4H0" />
          </svg>`,
      )}
    </svg>
  </div>`;
}

/** The end of an alert is a ring, whatever it had been. */
function shapeOf(event: string, severity: RowSeverity): RowSeverity {
  return event === "resolved" || event === "recovered" || event === "cleared" ? "ok" : severity;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
