import { formatCount } from "../../../base/numbers.ts";
import { formatClock, formatDay } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { RowSeverity } from "../parts/marks.ts";
import { bandsOf, toTenth, type ChartData } from "./chart-data.ts";

/** What happened to the alert, for the lanes. Times are epoch ms. */
export interface LaneEvent {
  readonly atMs: number;
  readonly event: string;
  readonly severity: RowSeverity;
}

/** What was sent, and whether its receiver accepts it. */
export interface LaneDelivery {
  readonly atMs: number;
  readonly outcome: "accepted" | "waiting" | "refused";
}

/** What a person did, or marked: a rollout, a deployment. */
export interface LaneAct {
  readonly atMs: number;
  readonly kind: "act" | "marker";
  /** "acknowledged", "marker «captcha rollout»" */
  readonly text: string;
}

/** A stretch of the alert's life, for the lane. */
export interface LaneSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: "pending" | "firing" | "acknowledged" | "silenced";
}

/** What the lanes show. */
export interface Lanes {
  readonly spans: readonly LaneSpan[];
  readonly events: readonly LaneEvent[];
  readonly sent: readonly LaneDelivery[];
  readonly acts: readonly LaneAct[];
}

const names = ["state", "alert", "sent", "acts"] as const;
const laneHeight = 22;
const height = names.length * laneHeight;

/** State, alert, what was sent and what people did, under the axis of the chart: of its range, or of a zoom. */
export function renderLanes(data: ChartData, lanes: Lanes): Html {
  const within = (atMs: number): number => Math.min(Math.max(atMs, data.fromMs), data.toMs);
  const x = (atMs: number): number => toTenth(((within(atMs) - data.fromMs) / (data.toMs - data.fromMs)) * 100);
  const isIn = ({ atMs }: { readonly atMs: number }): boolean => atMs >= data.fromMs && atMs <= data.toMs;
  const overlaps = (span: { readonly fromMs: number; readonly toMs: number }): boolean =>
    span.toMs > data.fromMs && span.fromMs < data.toMs;
  const width = (span: { readonly fromMs: number; readonly toMs: number }, least: number): number =>
    Math.max(least, toTenth(x(span.toMs) - x(span.fromMs)));
  const blocks = bandsOf(data).filter((band) => band.severity !== "ok" && overlaps(band));
  const acts = lanes.acts.filter(isIn);
  return html`<div
    class="lanes"
    role="img"
    aria-label="State, alert, what was sent and what people did, over the same time"
  >
    <svg class="left" width="44" height="${height}">
      ${names.map((name, index) => html`<text x="38" y="${15 + index * laneHeight}" text-anchor="end">${name}</text>`)}</svg
    ><svg class="plot" height="${height}">
      ${data.shades.filter(overlaps).map((shade) => html`<rect class="shade shade-${shade.kind}" x="${x(shade.fromMs)}%" y="0" width="${width(shade, 0.2)}%" height="${height}" />`)}${names.map((_, index) => html`<line class="grid" x1="0" x2="100%" y1="${11 + index * laneHeight}" y2="${11 + index * laneHeight}" />`)}${blocks.map((block) => html`<rect class="seg ${block.severity}" x="${x(block.fromMs)}%" y="5.5" width="${width(block, 0.3)}%" height="11" />`)}${lanes.spans.filter(overlaps).map((span) => renderSpan(span, x(span.fromMs), width(span, 0.2)))}${lanes.events.filter(isIn).map(({ atMs, severity, event }) => html`<svg x="${x(atMs)}%" y="26" width="14" height="14" class="at"><use class="mark ${shapeOf(event, severity)}" href="#m-${shapeOf(event, severity)}" x="-7" width="14" height="14" /></svg>`)}${lanes.sent.filter(isIn).map(({ atMs, outcome }) => html`<svg x="${x(atMs)}%" y="49" width="12" height="12" class="at">${deliveryShapes[outcome]}</svg>`)}${acts.map(({ atMs, kind, text }, index) => renderAct({ atMs, kind, text }, x(atMs), hasRoom(acts, index, x)))}</svg
    ><svg class="right" width="142" height="${height}">${renderLaneEnds(data, lanes, data.toMs)}</svg>
  </div>`;
}

/** What each lane says of an instant, at its right end. */
export function renderLaneEnds(data: ChartData, lanes: Lanes, atMs: number): Html {
  return html`${laneWords(data, lanes, atMs).map((word, index) => html`<text class="end" x="4" y="${15 + index * laneHeight}">${word}</text>`)}`;
}

function laneWords(data: ChartData, lanes: Lanes, atMs: number): readonly string[] {
  const severity = data.severity[data.at.findLastIndex((one) => one <= atMs)] ?? "";
  const span = lanes.spans.findLast(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs);
  const sent = lanes.sent.filter((one) => one.outcome === "accepted" && one.atMs >= data.fromMs && one.atMs <= atMs);
  const act = lanes.acts.findLast((one) => one.kind === "act" && one.atMs >= data.fromMs && one.atMs <= atMs);
  return [
    severity,
    span?.state ?? "",
    sent.length === 0 ? "" : `${formatCount(sent.length)} sent so far`,
    act?.text ?? "",
  ];
}

function renderSpan({ state }: LaneSpan, left: number, width: number): Html {
  if (state === "acknowledged" || state === "silenced")
    return html`<line class="life life-${state}" x1="${left}%" x2="${toTenth(left + width)}%" y1="33" y2="33" />`;
  const isFiring = state === "firing";
  return html`<rect
    class="life life-${state}"
    x="${left}%"
    y="${isFiring ? 30.5 : 31}"
    width="${width}%"
    height="${isFiring ? 5 : 4}"
  />`;
}

const deliveryShapes: Readonly<Record<LaneDelivery["outcome"], Html>> = {
  accepted: html`<path class="tick" d="M0 0V12" />`,
  waiting: html`<use class="mark warn" href="#m-warn" x="-6" width="12" height="12" />`,
  refused: html`<path class="cross" d="M-4 2L4 10M4 2L-4 10" />`,
};

function renderAct({ atMs, kind, text }: LaneAct, left: number, room: "left" | "right" | null): Html {
  const label =
    room === null
      ? nothing
      : html`<text
          class="act"
          x="${room === "left" ? -9 : 9}"
          y="10"
          ${room === "left" ? html`text-anchor="end"` : nothing}
        >
          ${text} ${formatClock(atMs)}
        </text>`;
  return html`<svg x="${left}%" y="71" width="12" height="12" class="at">
    <title>${text}, ${formatDay(atMs)} ${formatClock(atMs)} UTC</title>
    ${kind === "marker" ? html`<path class="marker" d="M-4.5 2H4.5L0 9Z" />` : html`<circle class="act" cx="0" cy="6" r="4" />`}${label}
  </svg>`;
}

// A label is as wide as this share of the lane per character, roughly: 6.5 px of 1,000.
const percentPerCharacter = 0.65;

/** On which side of an act its label covers no other act; null: on none. */
function hasRoom(acts: readonly LaneAct[], index: number, x: (atMs: number) => number): "left" | "right" | null {
  const own = acts[index];
  if (own === undefined) return null;
  const wide = (act: LaneAct): number => (act.text.length + 8) * percentPerCharacter;
  const here = x(own.atMs);
  const [before, after] = [acts[index - 1], acts[index + 1]];
  // Each label keeps to its side of the middle between two acts, so that two never meet.
  const leftEdge = before === undefined ? 0 : (x(before.atMs) + here) / 2;
  const rightEdge = after === undefined ? 100 : (x(after.atMs) + here) / 2;
  if (here + wide(own) <= rightEdge) return "right";
  return here - wide(own) >= leftEdge ? "left" : null;
}

/** The end of an alert is a ring, whatever it had been. */
function shapeOf(event: string, severity: RowSeverity): RowSeverity {
  return event === "resolved" || event === "recovered" || event === "cleared" ? "ok" : severity;
}
