import { html, nothing, type Html } from "../../parts/html.ts";
import { plotWidth, toTenth } from "./scales.ts";

/** Part of a chart: what is stretched with it, and words and marks, which are not. */
export interface Drawing {
  readonly plot: readonly Html[];
  readonly over: readonly Html[];
}

/** A value that stands at the right end of the chart, and over it where that is narrow. */
export interface EndValue {
  readonly y: number;
  /** The number, or the state; empty: words alone. */
  readonly figure: string;
  readonly words: string;
  /** It goes without saying on a phone. */
  readonly isMinor?: boolean;
}

/** Returns a stroke of the plot, of a colour that the style names. */
export function stroke(colour: string, path: string, more: Html = nothing): Html {
  return path === "" ? nothing : html`<path stroke="var(--${colour})" ${more} d="${path}" />`;
}

export const dotted = html`stroke-width="1.25" stroke-dasharray="1.5 3"`;

/** Returns a filled area of the plot; `title` is said where the pointer is on it [nothing]. */
export function area(colour: string, path: string, title = ""): Html {
  if (path === "") return nothing;
  return title === ""
    ? html`<path fill="var(--${colour})" d="${path}" />`
    : html`<path fill="var(--${colour})" d="${path}"><title>${title}</title></path>`;
}

/** Returns the outline of a box, for `area`. */
export function box(left: number, right: number, top: number, foot: number): string {
  return `M${toTenth(left)} ${foot}V${top}H${toTenth(right)}V${foot}z`;
}

/** Returns a word at a place of the plot: `at` is a coordinate of it, `dx` pixels beside that. */
export function word(at: number, y: number, text: string, { className = "", dx = 0 } = {}): Html {
  const css = className === "" ? nothing : html` class="${className}"`;
  return html`<text${css} x="${percent(at)}" ${dx === 0 ? nothing : html`dx="${dx}" `}y="${y}">${text}</text>`;
}

/** Returns a word left of the plot. */
export function leftWord(y: number, text: string): Html {
  return html`<text class="end" x="-12" y="${toTenth(y + 4)}">${text}</text>`;
}

/** Returns a value at the right end. */
export function rightWord({ y, figure, words }: EndValue): Html {
  const strong = figure === "" ? nothing : html`<tspan class="strong">${figure}</tspan> `;
  return html`<text class="right" x="100%" dx="12" y="${toTenth(y + 4)}">${strong}${words}</text>`;
}

/** Returns a share of the width for an attribute. */
export function percent(at: number): string {
  return `${Math.round((at / plotWidth) * 10_000) / 100}%`;
}
