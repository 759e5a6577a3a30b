import { breakAddresses } from "../../../base/broken-address.ts";
import { formatLengthInProse, formatShare, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderUnaccepted } from "../parts/notified.ts";
import { renderTime } from "../../parts/time.ts";
import { distance } from "./alert-acts.ts";
import type { AlertData } from "./alert-model.ts";
import { beganMs, undoneShare } from "./alert-row.ts";

interface Step {
  readonly name: string;
  readonly atMs: number | null;
  /** In place of a time. */
  readonly none: string;
  readonly detail: Html;
  readonly hasMark?: boolean;
}

/** Began, detected, notified, acknowledged, judged, ended. */
export function renderOrder(data: AlertData): Html {
  const { view, nowMs, withPeople, deliveries, waiting, history } = data;
  const { alert, endsAtMs } = view;
  const { onset, startsAtMs, acknowledgement, judgement } = alert;
  const began = beganMs(alert);
  const marker = onset?.marker ?? null;
  const first = history.find(({ event }) => event === "pending" || event === "firing" || event === "unknown");
  const fail = history.find(({ event, severity }) => event === "escalated" && severity === "fail");
  const accepted = deliveries.find(({ outcome }) => outcome === "accepted");
  const share = undoneShare(view);
  const after = (atMs: number): string => distance(startsAtMs, atMs);
  const steps: readonly Step[] = [
    {
      name: "Began",
      atMs: began,
      none: "",
      detail:
        marker === null
          ? html`${onset === undefined ? "with its first run that was not ok" : ""}`
          : html`${distance(marker.atMs, began).replace(" later", " after")} «${breakAddresses(marker.text)}»`,
    },
    {
      name: "Detected",
      atMs: startsAtMs,
      none: "",
      hasMark: true,
      detail: html`as
      ${first?.severity ?? alert.severity}${began === startsAtMs ? "" : `, ${distance(began, startsAtMs)}`}${fail === undefined ? nothing : html`; fail from ${renderTime(fail.atMs, nowMs)}`}`,
    },
    {
      name: "Notified",
      atMs: accepted?.atMs ?? null,
      none: alert.state === "pending" ? "not yet" : view.isSilenced ? "silenced" : "nobody yet",
      detail: html`${accepted === undefined ? nothing : html`${accepted.receiver} in ${accepted.tookMs}${nbsp}ms`}${waiting.slice(0, 3).map((one) => html`<span class="waiting">${renderUnaccepted(one, nowMs)}</span>`)}`,
    },
    {
      name: "Acknowledged",
      atMs: acknowledgement?.atMs ?? null,
      none: "not yet",
      detail:
        acknowledgement === null
          ? nothing
          : html`${withPeople && acknowledgement.by !== null ? `${acknowledgement.by}, ` : ""}${after(acknowledgement.atMs)}`,
    },
    {
      name: "Judged",
      atMs: judgement?.atMs ?? null,
      none: "not yet",
      detail:
        judgement === undefined
          ? html`${share === null ? "" : `${formatShare(share)} were found alive again`}`
          : html`${judgement.verdict}${withPeople && judgement.by !== null ? `, ${judgement.by}` : ""}`,
    },
    {
      name: "Ended",
      atMs: endsAtMs,
      none: alert.state === "pending" ? "pending" : "still firing",
      detail: html`${endsAtMs === null ? `for ${formatLengthInProse(nowMs - startsAtMs)}` : `lasted ${formatLengthInProse(endsAtMs - began)}`}`,
    },
  ];
  const last = steps.findLastIndex(({ atMs }) => atMs !== null);
  return html`<ol class="order" aria-label="Order of events">
    ${steps.map(
      ({ name, atMs, none: words, detail, hasMark }, index) =>
        html`<li class="${atMs === null ? "open" : "done"}${index < last ? " through" : ""}">
          <span class="knot"
            >${hasMark === true ? mark(first?.severity ?? alert.severity, 16) : html`<svg class="mark" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">${atMs === null ? html`<circle cx="8" cy="8" r="4" fill="none" stroke="currentColor" stroke-width="1.4" />` : html`<circle cx="8" cy="8" r="4.5" fill="currentColor" />`}</svg>`}</span
          >
          <span class="step">${name}</span>
          <b>${atMs === null ? words : renderTime(atMs, nowMs)}</b>
          <span class="step-how">${detail}</span>
        </li>`,
    )}
  </ol>`;
}
