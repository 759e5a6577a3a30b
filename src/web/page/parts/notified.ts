import { countOf, formatTime, formatWait } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "./marks.ts";

/** Notified means accepted: who was sent it and has not accepted it stands apart. Times are epoch ms. */
export interface Notified {
  readonly accepted: readonly { readonly receiver: string; readonly atMs: number }[];
  readonly waiting: readonly Unaccepted[];
}

/** A notification that its receiver has not accepted. */
export interface Unaccepted {
  readonly receiver: string;
  readonly state: "queued" | "leased" | "dead";
  /** Its receiver has answered, and not accepted it. */
  readonly isRefused: boolean;
  /** null: the reader has no right to read what receivers answer. */
  readonly tries: Tries | null;
}

/** How often a notification was tried, and with what result. */
export interface Tries {
  /** Begun so far. */
  readonly attempts: number;
  readonly nextAttemptAtMs: number;
  readonly lastError: string | null;
}

const shownWaiting = 3;

/** Renders who was notified and when; who was not, how often that was tried and why it failed. */
export function renderNotified({ accepted, waiting }: Notified, nowMs: number): Html {
  const byTime = Map.groupBy(accepted, ({ atMs }) => formatTime(atMs, nowMs));
  const parts = [
    ...[...byTime].map(
      ([time, group]) => html`${group.map(({ receiver }) => receiver).join(", ")} <span class="detail">${time}</span>`,
    ),
    ...waiting.slice(0, shownWaiting).map((one) => renderUnaccepted(one, nowMs)),
    ...(waiting.length > shownWaiting ? [html`<a href="/receivers">${waiting.length - shownWaiting} more</a>`] : []),
  ];
  if (parts.length === 0) return html`<span class="detail">nobody yet</span>`;
  return html`${parts.map((part, index) => html`${index === 0 ? nothing : " · "}${part}`)}`;
}

/** Renders a receiver that has not accepted a notification, how often that was tried and why. */
export function renderUnaccepted({ receiver, state, isRefused, tries }: Unaccepted, nowMs: number): Html {
  if (state !== "dead" && !isRefused) return html`${receiver} <span class="detail">being sent</span>`;
  const words = state === "dead" ? "did not accept it" : "waiting";
  return html`<span class="late">${mark("warn", 12)} <a href="/receivers">${receiver} ${words}</a></span>
    ${tries === null ? nothing : html`<span class="wraps detail">${triesText(tries, state, nowMs)}</span>`}`;
}

/** "8 tries, connection refused, again in 2m" */
function triesText({ attempts, lastError, nextAttemptAtMs }: Tries, state: Unaccepted["state"], nowMs: number): string {
  const why = lastError === null ? [] : [lastError];
  if (state === "dead") return ["dead letter", ...why].join(", ");
  const next =
    state === "leased"
      ? "under way"
      : nextAttemptAtMs <= nowMs
        ? "again now"
        : `again in ${formatWait(nextAttemptAtMs - nowMs)}`;
  return [countOf(attempts, "try", "tries"), ...why, next].join(", ");
}
