import { formatCount } from "../../../base/numbers.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { Bounded, UnwatchedSlug } from "../../read/unwatched.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import { renderHead } from "../frame.ts";
import { incidentMark } from "../incidents/incident.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { actButton, decidedQuestions, knownQuestions, renderQuestions } from "../incidents/questions.ts";

export interface BandOptions {
  readonly sentences: readonly string[];
  /** It is the only one, so that its headline is the page's. */
  readonly isAlone: boolean;
  /** null: no receiver has accepted a message about it. */
  readonly notifiedAtMs: number | null;
}

/** Renders an open incident on the overview: its headline, what flatline knows, and its acts with their counts. */
export function renderBand(facts: ReadIncident, { sentences, isAlone, notifiedAtMs }: BandOptions): Html {
  const { incident, summary, members, nowMs, escalation } = facts;
  const { number } = incident;
  const began = members.length === 0 ? incident.startedAtMs : Math.min(...members.map(beganMsOf));
  const who =
    summary.acknowledgedBy === null
      ? `Nobody has acknowledged it${escalation === null ? "" : `; ${escalation.receiver} is called at ${timeText(escalation.atMs, nowMs)}`}.`
      : `Acknowledged by ${summary.acknowledgedBy}.`;
  const notified = notifiedAtMs === null ? "" : `Notified ${timeText(notifiedAtMs, nowMs)}. `;
  const acts = decidedQuestions(facts).flatMap(({ act }) =>
    act === null || act.act === "unacknowledge" ? [] : [html`${actButton(number, act)} `],
  );
  return html`<section class="incident ${summary.severity}" aria-label="Incident ${number}">
    ${renderHead(sentences, { shape: incidentMark(facts), isOfPage: isAlone })}
    <div class="asked">${renderQuestions(knownQuestions(facts))}</div>
    <div class="do">
      <div class="row">${acts}</div>
      <p>Began ${timeText(began, nowMs)}. ${notified}${who}</p>
      <p><a href="/incidents/${number}">Open incident ${number}</a></p>
    </div>
  </section>`;
}

/** Renders what is left of incidents that have ended; nothing where all is finished. */
export function renderUnfinished({
  gates,
  incidents,
}: {
  readonly gates: ReadonlySet<string>;
  readonly incidents: ReadonlySet<number>;
}): Html {
  const { size } = incidents;
  if (size === 0) return nothing;
  const judged = `${countOf(size, "ended incident")} ${size === 1 ? "needs" : "need"} a judgement.`;
  const what =
    gates.size === 0 ? judged : `Takedowns of ${countOf(gates.size, "organization")} are still on hold: ${judged}`;
  return html`<p class="lede">${what} <a href="/incidents">Judge ${size === 1 ? "it" : "them"}</a></p>`;
}

const namedUnwatched = 3;

/** Names what sends events and is not configured, those with the most events first; nothing where there is none. */
export function renderUnwatched({ items, more: omitted }: Bounded<UnwatchedSlug>): Html {
  if (items.length === 0) return nothing;
  const count = items.length + omitted;
  const most = items.toSorted((left, right) => right.events - left.events).slice(0, namedUnwatched);
  const named = most.map(
    ({ slug, events }, index) => html`${index === 0 ? nothing : ", "}<b>${slug}</b> ${countOf(events, "event")}`,
  );
  const more = count - most.length;
  const isOne = count === 1;
  return html`<p class="lede">
    Not watched: ${countOf(count, "slug")} ${isOne ? "sends" : "send"} events and nothing checks
    ${isOne ? "it" : "them"}: ${named}${more > 0 ? ` and ${formatCount(more)} more` : ""}.
  </p>`;
}
