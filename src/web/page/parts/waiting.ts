import { formatCount } from "../../../base/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";

/** What waits on other pages, for the masthead. */
export interface WaitingCounts {
  /** Alerts that fire and are not acknowledged. */
  readonly unattended: number;
  readonly deadLetters: number;
  readonly queued: number;
}

const countNames: Readonly<Record<keyof WaitingCounts, string>> = {
  unattended: "firing, and nobody has them",
  deadLetters: "undelivered",
  queued: "waiting",
};

/** Renders the number beside a page's name; nothing at 0. */
export function renderPill(name: keyof WaitingCounts, count: number): Html {
  return count === 0
    ? nothing
    : html` <span class="pill">${formatCount(count)}<span class="sr"> ${countNames[name]}</span></span>`;
}
