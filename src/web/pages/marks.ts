import type { Severity } from "../../contract/severity.ts";
import { html, type Html } from "../parts/html.ts";

/** The order in which they are counted. */
export const shownSeverities: readonly Severity[] = ["fail", "warn", "unknown", "ok"];

/** The marks: severities, ended ones as outlines, and events. */
export type MarkShape =
  | Severity
  | "fail-ended"
  | "warn-ended"
  | "unknown-ended"
  | "dot"
  | "ring"
  | "half"
  | "dash"
  | "marker"
  | "comment"
  | "stop";

/** Renders a mark; screen readers read the word next to it. `tone` is its class. */
export function mark(shape: MarkShape, tone: string = shape): Html {
  return html`<svg class="mark ${tone}" viewBox="0 0 14 14" aria-hidden="true"><use href="#m-${shape}" /></svg>`;
}

/** Renders a severity as shape, word and colour; ended: an outline. */
export function severityWord(severity: Severity, isEnded = false): Html {
  if (!isEnded || severity === "ok")
    return html`<span class="severity ${severity}">${mark(severity)}<span class="word">${severity}</span></span>`;
  return html`<span class="severity ended"
    >${mark(`${severity}-ended`, "ended")}<span class="word">${severity}</span></span
  >`;
}

/** The marks' shapes, once in each document. */
export const symbols: Html = html`<svg class="defs" width="0" height="0" aria-hidden="true" focusable="false">
  <defs>
    <symbol id="m-fail" viewBox="0 0 14 14"><path d="M1 1h12v12H1z" fill="currentColor" /></symbol>
    <symbol id="m-warn" viewBox="0 0 14 14"><path d="M7 1.2 13.4 12.6H.6Z" fill="currentColor" /></symbol>
    <symbol id="m-unknown" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="5.2" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="3.45 2" />
    </symbol>
    <symbol id="m-ok" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="5.1" fill="none" stroke="currentColor" stroke-width="1.8" />
    </symbol>
    <symbol id="m-fail-ended" viewBox="0 0 14 14">
      <path d="M1.7 1.7h10.6v10.6H1.7z" fill="none" stroke="currentColor" stroke-width="1.4" />
    </symbol>
    <symbol id="m-warn-ended" viewBox="0 0 14 14">
      <path d="M7 2.6 12.3 11.9H1.7Z" fill="none" stroke="currentColor" stroke-width="1.4" />
    </symbol>
    <symbol id="m-unknown-ended" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="5.2" fill="none" stroke="currentColor" stroke-width="1.4" stroke-dasharray="3.45 2" />
    </symbol>
    <symbol id="m-dot" viewBox="0 0 14 14"><circle cx="7" cy="7" r="4.2" fill="currentColor" /></symbol>
    <symbol id="m-ring" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="3.6" fill="none" stroke="currentColor" stroke-width="1.3" />
    </symbol>
    <symbol id="m-half" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="3.6" fill="none" stroke="currentColor" stroke-width="1.3" />
      <path d="M7 2.8a4.2 4.2 0 0 0 0 8.4Z" fill="currentColor" />
    </symbol>
    <symbol id="m-dash" viewBox="0 0 14 14"><path d="M3 7h8" stroke="currentColor" stroke-width="1.6" /></symbol>
    <symbol id="m-marker" viewBox="0 0 14 14"><path d="M2.5 3h9L7 11Z" fill="currentColor" /></symbol>
    <symbol id="m-comment" viewBox="0 0 14 14">
      <path d="M2 3.5h10M2 7h10M2 10.5h6" stroke="currentColor" stroke-width="1.4" />
    </symbol>
    <symbol id="m-stop" viewBox="0 0 14 14">
      <path d="M1 7h9M10.5 2.5v9" fill="none" stroke="currentColor" stroke-width="1.8" />
    </symbol>
  </defs>
</svg>`;

/** A flat line with one heartbeat. */
export const wordmark: Html = html`<svg width="52" height="20" viewBox="0 0 52 20" aria-hidden="true">
  <path
    d="M0 15.5H13l2-2.5 2.5 2.5h4.5L25 17l4-15.5 3.5 16.5 2-5 1.5 2.5H52"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linejoin="round"
  />
</svg>`;
