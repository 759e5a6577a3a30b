import { breakAddresses } from "../../../base/broken-address.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { none } from "../../../base/numbers.ts";
import { formatWait, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderUnaccepted } from "../parts/notified.ts";
import { renderTime } from "../../parts/time.ts";
import type { AlertData } from "./alert-model.ts";

/** Renders what was sent, and whether its receivers accepted it; what they answered needs `read`. */
export function renderDeliveries({ deliveries, nowMs, waiting, withPeople }: AlertData): Html {
  // Retried attempts are shown in the line of the waiting ones.
  const shown = deliveries
    .filter(({ outcome }) => outcome !== "retry")
    .toReversed()
    .slice(0, 30);
  return html`<section aria-labelledby="deliveries-h">
    <h2 id="deliveries-h">Deliveries</h2>
    ${
      shown.length === 0 && waiting.length === 0
        ? html`<p class="detail">Nothing was sent.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-labelledby="deliveries-h">
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">When</th>
                  <th scope="col">Receiver</th>
                  <th scope="col">Answer</th>
                </tr>
              </thead>
              <tbody>
                ${waiting.map(
                  (one) =>
                    html`<tr>
                      <td>
                        ${one.state === "dead" || one.tries === null ? none : formatWait(Math.max(0, one.tries.nextAttemptAtMs - nowMs))}
                      </td>
                      <td colspan="2">${renderUnaccepted(one, nowMs)}</td>
                    </tr>`,
                )}
                ${shown.map(
                  ({ atMs, receiver, outcome, detail, tookMs }) =>
                    html`<tr>
                      <td>${renderTime(atMs, nowMs)}</td>
                      <td>${receiver}</td>
                      <td>
                        ${outcome === "accepted" ? `accepted in ${tookMs}${nbsp}ms` : html`<span class="late">${mark("warn", 12)} refused</span>${withPeople ? `, ${detail}` : ""}`}
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}

const actWords = {
  acknowledge: "with the acknowledgement",
  judgement: "with the judgement",
  release: "with the release",
  silence: "with the silence",
} as const;

/** Comments of people, alone and with what they did, oldest first; nothing for who may not read them. */
export function renderComments({ comments, withPeople, nowMs }: AlertData): Html {
  if (!withPeople) return nothing;
  return html`<section aria-labelledby="comments-h">
    <h2 id="comments-h">Comments</h2>
    ${
      comments.length === 0
        ? html`<p class="detail">Nobody has commented on it.</p>`
        : html`<ul class="comments">
            ${comments.map(({ by, note, atMs, text, act }) => html`<li><span class="detail">${describeAuthor(by, note)}, ${renderTime(atMs, nowMs)}${act === null ? nothing : `, ${actWords[act]}`}</span><br />${breakAddresses(text)}</li>`)}
          </ul>`
    }
    <p><button type="button" data-do="comment">Comment&hellip;</button></p>
  </section>`;
}
