import { formatCount, none } from "../../../base/numbers.ts";
import { countOf, formatLength, formatLengthInProse, formatTime, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import { mark } from "../parts/marks.ts";
import { deliveryName } from "../../../store/alerts/outbox-entry.ts";

/** One receiver with what it has accepted and refused. Times are epoch ms. */
export interface ReceiverRow {
  readonly name: string;
  readonly type: string;
  readonly minSeverity: string;
  readonly waiting: number;
  /** Something that waits was tried, and not accepted. */
  readonly isRefusing: boolean;
  readonly oldestMs: number | null;
  readonly lastDelivered: { readonly atMs: number; readonly tookMs: number } | null;
  readonly lastError: { readonly atMs: number; readonly text: string } | null;
  readonly deadLetters: number;
  /** Until when it asked to be left alone; null: it did not. */
  readonly pausedUntilMs: number | null;
}

/** One notification that was not accepted yet, or never will be. */
export interface OutboxRow {
  readonly id: string;
  /** And which of its recipients. */
  readonly receiver: string;
  readonly isDead: boolean;
  readonly createdAtMs: number;
  readonly nextAttemptAtMs: number;
  readonly attempts: number;
  readonly lastError: string | null;
  /** What it is about, in words. */
  readonly about: string;
  readonly event: string;
}

/** Dead letters, and what waits: at most so many of each are shown. */
export const shownLetters = 200;

/** Everything on the page of receivers. */
export interface ReceiversData {
  readonly receivers: readonly ReceiverRow[];
  readonly outbox: readonly OutboxRow[];
  /** The last ones, of the chosen receiver or, where none is chosen (null), of all. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly chosen: string | null;
}

/** Receivers, dead letters, what waits and what was sent. */
export function renderReceivers({ receivers, outbox, attempts, chosen }: ReceiversData, nowMs: number): Html {
  if (receivers.length === 0)
    return html`<h1 class="sentence">No receiver is configured.</h1>
      <p class="why">No notification is sent. Add one under <code>receivers</code> in flatline.yaml, then reload.</p>`;
  const good = receivers.filter((one) => receiverState(one) === "ok").length;
  const bad = receivers
    .filter((one) => one.deadLetters > 0 || one.waiting > 0 || one.pausedUntilMs !== null)
    .map((one) => {
      const dead = one.deadLetters > 0 ? countOf(one.deadLetters, "dead letter") : "";
      const waiting =
        one.waiting > 0
          ? `${one.waiting} waiting${one.oldestMs === null ? "" : `, the oldest for ${formatLengthInProse(nowMs - one.oldestMs)}`}`
          : "";
      const has = [dead, waiting].filter(Boolean).join(" and ");
      const paused = one.pausedUntilMs === null ? "" : `is paused until ${formatTime(one.pausedUntilMs, nowMs)}`;
      return ` ${one.name} ${[has === "" ? "" : `has ${has}`, paused].filter(Boolean).join(", and ")}.`;
    });
  const paused = receivers.find(({ pausedUntilMs }) => pausedUntilMs !== null);
  const dead = outbox.filter(({ isDead }) => isDead);
  const waiting = outbox.filter(({ isDead }) => !isDead);
  return html`<h1 class="sentence">
      ${good === receivers.length && receivers.length > 1 ? `All ${good}` : `${good} of ${receivers.length}`}
      ${receivers.length === 1 ? "receiver accepts" : "receivers accept"} notifications.${bad.slice(0, 3).join("")}
    </h1>
    <div class="scroll" tabindex="0" role="region" aria-label="Receivers">
      <table class="plain wide stack">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Min severity</th>
            <th scope="col" class="num">Waiting</th>
            <th scope="col" class="num">Oldest</th>
            <th scope="col">Last delivered</th>
            <th scope="col">Last error</th>
            <th scope="col" class="num">Dead letters</th>
            <th scope="col"><span class="sr">Test</span></th>
          </tr>
        </thead>
        <tbody>
          ${receivers.map((one) => {
            const state = receiverState(one);
            return html`<tr>
              <td>
                <span class="sevcell ${state}">${mark(state)} <span class="word">${wordOf(one, nowMs)}</span></span>
              </td>
              <th scope="row">
                <a href="/receivers?receiver=${encodeURIComponent(one.name)}" data-swap>${one.name}</a>
              </th>
              <td>${one.type}</td>
              <td data-name="from">${one.minSeverity}</td>
              <td class="num" data-name="waiting">${formatCount(one.waiting)}</td>
              <td class="num" data-name="oldest">
                ${one.oldestMs === null ? none : formatLength(nowMs - one.oldestMs)}
              </td>
              <td class="whole" data-name="last delivered">
                ${one.lastDelivered === null ? none : `${formatTime(one.lastDelivered.atMs, nowMs)} (${one.lastDelivered.tookMs}${nbsp}ms)`}
              </td>
              <td class="err whole" data-name="last error">
                ${one.lastError === null ? none : `${one.lastError.text}, ${formatTime(one.lastError.atMs, nowMs)}`}
              </td>
              <td class="num" data-name="dead letters">${formatCount(one.deadLetters)}</td>
              <td class="button-cell">
                <button type="button" data-do="test-receiver" data-receiver="${one.name}">
                  Send test<span class="sr"> to ${one.name}</span>
                </button>
              </td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    <p class="status"><span class="did" id="did" role="status"></span></p>
    ${
      paused === undefined
        ? nothing
        : html`<p class="detail">
            A paused receiver asked for it (<code>Retry-After</code>, an hour at most). The pause ends early when one of
            its notifications is retried, and with <code>flatline notify test ${paused.name}</code>.
          </p>`
    }
    <section aria-labelledby="dead-h">
      <h2 id="dead-h">Dead letters</h2>
      ${
        dead.length === 0
          ? html`<p class="detail">None: everything was accepted, or still may be.</p>`
          : html`<p class="actions">
                <label><input type="checkbox" id="all" /> all</label>
                <button type="button" data-outbox="retry">Retry selected</button>
                <button type="button" data-outbox="discard">Discard&hellip;</button>
              </p>
              ${renderLetters(dead, nowMs, true)}`
      }
    </section>
    <section aria-labelledby="waiting-h">
      <h2 id="waiting-h">Waiting</h2>
      ${waiting.length === 0 ? html`<p class="detail">Nothing waits.</p>` : renderLetters(waiting, nowMs, false)}
    </section>
    ${renderAttempts(attempts, chosen, nowMs)}`;
}

function wordOf(row: ReceiverRow, nowMs: number): string {
  return row.pausedUntilMs === null ? receiverState(row) : `paused until ${formatTime(row.pausedUntilMs, nowMs)}`;
}

/** Returns ok, warn while it refuses or is paused, fail with dead letters. */
export function receiverState({ deadLetters, isRefusing, pausedUntilMs }: ReceiverRow): "ok" | "warn" | "fail" {
  if (deadLetters > 0) return "fail";
  return isRefusing || pausedUntilMs !== null ? "warn" : "ok";
}

function renderLetters(rows: readonly OutboxRow[], nowMs: number, isDead: boolean): Html {
  const shown = rows.slice(0, shownLetters);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${isDead ? "Dead letters" : "Waiting"}">
      <table class="plain wide stack">
        <thead>
          <tr>
            ${
              isDead
                ? html`<th scope="col"><span class="sr">Select</span></th>
                    <th scope="col">When</th>`
                : html`<th scope="col">Next try in</th>`
            }
            <th scope="col">Receiver</th>
            <th scope="col">Alert</th>
            <th scope="col">Event</th>
            <th scope="col">${isDead ? "Why" : "Last answer"}</th>
            <th scope="col" class="num">${isDead ? "Attempts" : "Attempt"}</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (row) =>
              html`<tr>
                ${
                  isDead
                    ? html`<td>
                          <input
                            type="checkbox"
                            name="letter"
                            value="${row.id}"
                            aria-label="Select ${row.about} to ${row.receiver}"
                          />
                        </td>
                        <td data-name="when">${formatTime(row.createdAtMs, nowMs)}</td>`
                    : html`<td data-name="next try in">${formatLength(Math.max(0, row.nextAttemptAtMs - nowMs))}</td>`
                }
                <th scope="row">${row.receiver}</th>
                <td>${row.about}</td>
                <td>${row.event}</td>
                <td class="err whole">${row.lastError ?? none}</td>
                <td class="num" data-name="${isDead ? "attempts" : "attempt"}">${row.attempts}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length > shown.length ? html`<p class="detail">and ${rows.length - shown.length} more: <code>flatline outbox list</code></p>` : nothing}`;
}

const outcomes = { accepted: "accepted", retry: "tried again", refused: "refused" } as const;

/** Returns the history of deliveries, newest first: of the chosen receiver, or of all. */
function renderAttempts(attempts: readonly DeliveryAttempt[], chosen: string | null, nowMs: number): Html {
  const all = html`<a href="/receivers" data-swap>All receivers</a>`;
  const title = html`<h2 id="attempts-h">Last deliveries${chosen === null ? "" : html` to ${chosen}`}</h2>`;
  if (attempts.length === 0)
    return html`<section aria-labelledby="attempts-h">
      ${title}
      <p class="detail">
        ${chosen === null ? "Nothing was sent yet." : html`Nothing was sent to ${chosen} yet. ${all}`}
      </p>
    </section>`;
  return html`<section aria-labelledby="attempts-h">
    ${title}
    <p class="detail">${chosen === null ? "The name of a receiver above shows its own." : all}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Last deliveries">
      <table class="plain wide stack">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Receiver</th>
            <th scope="col">About</th>
            <th scope="col">Outcome</th>
            <th scope="col">Answer</th>
            <th scope="col" class="num">Took</th>
          </tr>
        </thead>
        <tbody>
          ${attempts.map(
            (one) =>
              html`<tr>
                <td data-name="when">${formatTime(one.atMs, nowMs)}</td>
                <th scope="row">${deliveryName(one.receiver, one.recipient)}</th>
                <td>${aboutOf(one)}</td>
                <td>${outcomes[one.outcome]}</td>
                <td class="whole${one.outcome === "accepted" ? "" : " err"}">${one.detail}</td>
                <td class="num" data-name="took">${formatCount(one.tookMs)}${nbsp}ms</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function aboutOf({ slugs, fleetId }: DeliveryAttempt): string {
  const [first, ...more] = slugs;
  if (fleetId !== null) return `fleet verdict, ${formatCount(slugs.length)} organizations`;
  if (first === undefined) return "a test";
  return more.length === 0 ? first : `${first} and ${formatCount(more.length)} more`;
}
