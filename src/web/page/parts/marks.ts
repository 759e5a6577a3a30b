import { html, type Html } from "../../parts/html.ts";

/** What the page knows of an organization's state: null before its first run. */
export type RowSeverity = "fail" | "warn" | "unknown" | "ok";

export const rowSeverities: readonly RowSeverity[] = ["fail", "warn", "unknown", "ok"];

/** Returns the shape that carries a severity beside its word and its colour; hidden from readers of text, who get the word. */
export function mark(severity: RowSeverity, size = 14): Html {
  return html`<svg class="mark ${severity}" width="${size}" height="${size}" viewBox="0 0 14 14" aria-hidden="true">
    <use href="#m-${severity}" />
  </svg>`;
}

/** Shapes and patterns that the page refers to, once a page. */
export const symbols: Html = html`<svg class="defs" width="0" height="0" aria-hidden="true" focusable="false">
  <defs>
    <symbol id="m-fail" viewBox="0 0 14 14"><rect x="1" y="1" width="12" height="12" fill="currentColor" /></symbol>
    <symbol id="m-warn" viewBox="0 0 14 14"><path d="M7 1.2 13.4 12.6H.6Z" fill="currentColor" /></symbol>
    <symbol id="m-unknown" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="5.2" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="3.45 2" />
    </symbol>
    <symbol id="m-ok" viewBox="0 0 14 14">
      <circle cx="7" cy="7" r="5.1" fill="none" stroke="currentColor" stroke-width="1.8" />
    </symbol>
    <pattern id="p-warn" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="p-warn" width="2.6" height="5" />
    </pattern>
    <pattern id="p-silenced" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="p-shade" width="1" height="6" />
    </pattern>
    <pattern id="p-excluded" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
      <rect class="p-shade" width="1" height="6" />
    </pattern>
    <pattern id="p-unknown" width="5" height="5" patternUnits="userSpaceOnUse">
      <rect class="p-unknown" width="3" height="5" />
    </pattern>
  </defs>
</svg>`;

/** The wordmark: a flat line with one beat. */
export const wordmark: Html = html`<svg class="wordmark" width="52" height="20" viewBox="0 0 52 20" aria-hidden="true">
  <path
    d="M0 15.5H13l2-2.5 2.5 2.5h4.5L25 17l4-15.5 3.5 16.5 2-5 1.5 2.5H52"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linejoin="round"
  />
</svg>`;
