import { formatCount } from "../../../base/numbers.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { Unfinished } from "../../read/fleet.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import { renderHead } from "../frame.ts";
import { incidentMark } from "../incidents/incident.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { sentenceOf } from "../site.ts";
import { actButton, decidedQuestions, knownQuestions, renderQuestions } from "../incidents/questions.ts";
import { leftWords } from "./headline.ts";

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
export function renderUnfinished(unfinished: Unfinished): Html {
  const left = leftWords(unfinished);
  return left === null ? nothing : html`<p class="lede">${sentenceOf(left)} <a href="/incidents">Judge</a></p>`;
}

const namedUnwatched = 3;

/** Names what sends events and is not configured, those with the most events first; nothing where there is none. */
export function renderUnwatched(
  some: readonly { readonly slug: string; readonly events: number }[],
  all: number,
): Html {
  if (some.length === 0) return nothing;
  const most = some.toSorted((left, right) => right.events - left.events).slice(0, namedUnwatched);
  const named = most.map(({ slug, events }) => `${slug} ${countOf(events, "event")}`).join(", ");
  const more = all > most.length ? ` and ${formatCount(all - most.length)} more` : "";
  const what = all === 1 ? "sends events and nothing checks it" : "send events and nothing checks them";
  return html`<p class="lede">Not watched: ${countOf(all, "slug")} ${what}: ${named}${more}.</p>`;
}
