import type { FastifyInstance } from "fastify";

import { formatCount } from "../../../base/numbers.ts";
import { html, mark, nothing, type Html } from "../html.ts";
import { mostBands, readOverview, type Overview } from "../../read/overview.ts";
import type { Unfinished } from "../../read/fleet.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import { renderHead } from "../frame.ts";
import { renderIncidentTable } from "../incidents/list.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { actButton, decidedQuestions, knownQuestions, renderQuestions } from "../incidents/questions.ts";
import { sentenceOf } from "../site.ts";
import { importText, refusedText } from "../../../words/incoming.ts";
import { headline } from "../../../words/headline.ts";
import { countOf, timeText } from "../../../words/numbers.ts";
import type { WebParts } from "../../parts.ts";
import { leftWords, overviewSentences, overviewTitle } from "./headline.ts";
import { renderOrganizations } from "./table.ts";

/** Adds `/`, the overview. */
export function addOverviewPage(server: FastifyInstance, parts: WebParts): void {
  const { site, unwatched, events, running } = parts;

  site.addPage(server, "/", "public", async ({ search, withDetails }) => {
    const overview = await readOverview(parts, withDetails);
    const main = html`${renderTop(overview)}
    ${
      overview.rows.length === 0
        ? renderEmpty()
        : html`${withDetails ? await eventLines() : nothing}${renderOrganizations(overview, search)}`
    }`;
    return {
      title: overviewTitle(overview),
      current: "organizations",
      isLive: true,
      main,
    };
  });

  /** Renders imports, refused posts, and slugs that send events and are not configured. */
  async function eventLines(): Promise<Html> {
    const nowMs = running.clock.nowMs();
    const refused = events()?.refused() ?? null;
    const sentences = [
      ...(events()?.imports() ?? []).map((one) => importText({ ...one, organizations: one.slugs.length }, nowMs)),
      ...(refused === null ? [] : [refusedText(refused, nowMs)]),
    ];
    return html`${sentences.map((text) => html`<p class="unfinished">${text}</p>`)}
    ${renderUnwatched(await unwatched.list(), (await unwatched.slugs()).length)}`;
  }
}

/** Renders open incidents, the worst ones with a band; otherwise unfinished ones. */
function renderTop(overview: Overview): Html {
  const { open, toFinish, unfinished, nowMs } = overview;
  const sentences = overviewSentences(overview);
  if (open.length === 0)
    return html`${renderHead(sentences)}${toFinish.length === 0 ? nothing : renderIncidentTable(toFinish, unfinished)}`;
  const bands = open.slice(0, mostBands).map((facts) => renderBand(facts, overview));
  const lines = open
    .slice(mostBands)
    .map(
      ({ incident: { number }, headline: facts }) =>
        html`<p class="unfinished">
          <a href="/incidents/${number}">Incident ${number}</a>: ${headline(facts, nowMs)[0]}
        </p>`,
    );
  return html`${open.length > 1 ? renderHead(sentences) : nothing}${bands}${lines}${renderUnfinished(unfinished)}`;
}

/** Renders an open incident: its headline, flatline's answers, and its acts. */
function renderBand(facts: ReadIncident, { open, notified, nowMs }: Overview): Html {
  const { incident, summary, members, escalation } = facts;
  const { number } = incident;
  const began = Math.min(...members.map(beganMsOf));
  const who =
    summary.acknowledgedBy === null
      ? `Nobody has acknowledged it${
          escalation === null ? "" : `; ${escalation.receiver} is called at ${timeText(escalation.atMs, nowMs)}`
        }.`
      : `Acknowledged by ${summary.acknowledgedBy}.`;
  const notifiedAtMs = notified.get(number) ?? null;
  const told = notifiedAtMs === null ? "" : `Notified ${timeText(notifiedAtMs, nowMs)}. `;
  const acts = decidedQuestions(facts).flatMap(({ act }) =>
    act === null || act.act === "unacknowledge" ? [] : [html`${actButton(number, act)} `],
  );
  return html`<section class="incident ${summary.severity}" aria-label="Incident ${number}">
    ${renderHead(headline(facts.headline, nowMs), { shape: mark(summary.severity), isOfPage: open.length === 1 })}
    <div class="asked">${renderQuestions(knownQuestions(facts))}</div>
    <div class="do">
      <div class="row">${acts}</div>
      <p>Began ${timeText(began, nowMs)}. ${told}${who}</p>
      <p><a href="/incidents/${number}">Open incident ${number}</a></p>
    </div>
  </section>`;
}

function renderUnfinished(unfinished: Unfinished): Html {
  const left = leftWords(unfinished);
  return left === null ? nothing : html`<p class="lede">${sentenceOf(left)} <a href="/incidents">Judge</a></p>`;
}

const namedUnwatched = 3;

/** Names the slugs that send events and are not configured, the most events first. */
function renderUnwatched(some: readonly { readonly slug: string; readonly events: number }[], all: number): Html {
  if (some.length === 0) return nothing;
  const most = some.toSorted((left, right) => right.events - left.events).slice(0, namedUnwatched);
  const named = most.map(({ slug, events }) => `${slug} ${countOf(events, "event")}`).join(", ");
  const more = all > most.length ? ` and ${formatCount(all - most.length)} more` : "";
  const what = all === 1 ? "sends events and nothing checks it" : "send events and nothing checks them";
  return html`<p class="lede">Not watched: ${countOf(all, "slug")} ${what}: ${named}${more}.</p>`;
}

function renderEmpty(): Html {
  return html`<p class="lede">
      Name them in <code>flatline.yaml</code>, or in a list that you serve. They are watched within seconds.
    </p>
    <p class="code"><code>organizations: [acme, globex]</code></p>
    <p class="code"><code>discover: [{ name: ours, file: organizations.json }]</code></p>`;
}
