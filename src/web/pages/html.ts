import { escapeUnseen, unseen } from "../../base/outside-text.ts";
import type { Severity } from "../../contract/severity.ts";
import { clockText, secondsText, timeText } from "../../words/numbers.ts";

/** Safe markup. */
export interface Html {
  readonly html: string;
}

const special = new RegExp(`[&<>"']|${unseen.source}`, "g");

type Part = Html | string | number | null | readonly (Html | string | null)[];

/** Renders a template; every part but `Html` is escaped, and null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += markup(part, text) + (strings[index + 1] ?? "");
  return { html: text };
}

export const nothing: Html = { html: "" };

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replace(special, (found) => `&#${found.charCodeAt(0)};`);
}

/** `before` is the markup in front of it: attributes keep their value, text shows invisible characters. */
function markup(part: Part, before: string): string {
  if (part === null) return "";
  if (typeof part === "number") return String(part);
  if (typeof part !== "string") return "html" in part ? part.html : part.map((one) => markup(one, before)).join("");
  const visible = escapeUnseen(part);
  return escapeHtml(visible === part || isInTag(before) ? part : visible);
}

/** Returns whether markup ends inside a tag, also if the tag begins in an outer template. */
function isInTag(before: string): boolean {
  return before.lastIndexOf("<") > before.lastIndexOf(">") || /=["'][^"'<>]*$/.test(before);
}

/** clock "12:00"; time "15 Jan 12:00", today only "12:00"; seconds "12:00:04". */
const writers = { clock: clockText, time: timeText, seconds: secondsText } as const;

/** Renders an instant in UTC; the browser adds the local time as its title. */
export function renderTime(atMs: number, nowMs: number, kind: keyof typeof writers = "time"): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${writers[kind](atMs, nowMs)}</time>`;
}

/** The order in which they are counted. */
export const shownSeverities: readonly Severity[] = ["fail", "warn", "unknown", "ok"];

function filled(path: string): Html {
  return html`<path d="${path}" fill="currentColor" stroke="none" />`;
}

function drawn(path: string, width: string): Html {
  return html`<path d="${path}" stroke-width="${width}" />`;
}

function circle(radius: string, width: string, dashes = "none"): Html {
  return html`<circle cx="7" cy="7" r="${radius}" stroke-width="${width}" stroke-dasharray="${dashes}" />`;
}

/** The marks: severities, ended ones as outlines, and events. */
const shapes = {
  fail: filled("M1 1h12v12H1z"),
  warn: filled("M7 1.2 13.4 12.6H.6Z"),
  unknown: circle("5.2", "1.8", "3.45 2"),
  ok: circle("5.1", "1.8"),
  "fail-ended": drawn("M1.7 1.7h10.6v10.6H1.7z", "1.4"),
  "warn-ended": drawn("M7 2.6 12.3 11.9H1.7Z", "1.4"),
  "unknown-ended": circle("5.2", "1.4", "3.45 2"),
  dot: html`<circle cx="7" cy="7" r="4.2" fill="currentColor" stroke="none" />`,
  ring: circle("3.6", "1.3"),
  half: html`${circle("3.6", "1.3")}${filled("M7 2.8a4.2 4.2 0 0 0 0 8.4Z")}`,
  dash: drawn("M3 7h8", "1.6"),
  marker: filled("M2.5 3h9L7 11Z"),
  comment: drawn("M2 3.5h10M2 7h10M2 10.5h6", "1.4"),
  stop: drawn("M1 7h9M10.5 2.5v9", "1.8"),
} as const;

export type MarkShape = keyof typeof shapes;

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
    ${Object.entries(shapes).map(
      ([name, shape]) =>
        html`<symbol id="m-${name}" viewBox="0 0 14 14" fill="none" stroke="currentColor">${shape}</symbol>`,
    )}
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
