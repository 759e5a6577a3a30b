import { formatCount } from "../../../base/numbers.ts";
import type { DeliveryAttempt } from "../../../store/alerts/deliveries.ts";
import { deliveryName } from "../../../store/alerts/outbox.ts";
import { formatTime, nbsp } from "../parts/figures.ts";
import { html, type Html } from "../parts/html.ts";

const outcomes = { accepted: "accepted", retry: "tried again", refused: "refused" } as const;

/** Returns the history of deliveries, newest first: of the chosen receiver, or of all. */
export function renderAttempts(attempts: readonly DeliveryAttempt[], chosen: string | null, nowMs: number): Html {
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
