import { formatSeconds } from "./figures.ts";
import { html, type Html } from "./html.ts";
import { clockText, dayText, timeText } from "../../words/numbers.ts";

/** How much of an instant is written: "12:00", "15 Jan 12:00" (today only "12:00"), "12:00:04", "15 Jan". */
export type TimeKind = "clock" | "time" | "seconds" | "day";

/** Returns the words of an instant, in UTC. A caller with another zone shifts both instants. */
export function kindText(kind: TimeKind, atMs: number, nowMs: number): string {
  return writers[kind](atMs, nowMs);
}

const writers: Readonly<Record<TimeKind, (atMs: number, nowMs: number) => string>> = {
  clock: clockText,
  time: timeText,
  seconds: formatSeconds,
  day: dayText,
};

/** Renders an instant as an element: the browser adds the local time to it, and writes it so where the reader chose that. */
export function renderTime(atMs: number, nowMs: number, kind: TimeKind = "time"): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}" data-kind="${kind}"
    >${kindText(kind, atMs, nowMs)}</time
  >`;
}
