import { clockText, dayText, secondsText, timeText } from "../../words/numbers.ts";
import { html, type Html } from "./html.ts";

/** clock "12:00"; time "15 Jan 12:00", today only "12:00"; seconds "12:00:04"; day "15 Jan". */
const writers = { clock: clockText, time: timeText, seconds: secondsText, day: dayText } as const;

/** Renders an instant in UTC; the browser adds the local time as its title. */
export function renderTime(atMs: number, nowMs: number, kind: keyof typeof writers = "time"): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${writers[kind](atMs, nowMs)}</time>`;
}
