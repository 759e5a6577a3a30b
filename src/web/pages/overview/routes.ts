import type { FastifyInstance } from "fastify";

import { worstSeverity } from "../../../contract/severity.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mostBands, readOverview, type Overview } from "../../read/overview.ts";
import { renderHead } from "../frame.ts";
import { renderIncidentTable } from "../incidents/list.ts";
import { importText, refusedText } from "../../../words/events-in.ts";
import { headline } from "../../../words/headline.ts";
import type { WebParts } from "../../parts.ts";
import { renderBand, renderUnfinished, renderUnwatched } from "./band.ts";
import { overviewSentences, overviewTitle } from "./headline.ts";
import { renderOrganizations } from "./table.ts";

/** `/`: what is wrong, and what to do. */
export function addOverviewPage(server: FastifyInstance, parts: WebParts): void {
  const { site, unwatched, events, running } = parts;

  site.addPage(server, "/", "public", async ({ search, withDetails }) => {
    const overview = await readOverview(parts, withDetails);
    const main = html`${renderTop(overview)}
    ${overview.rows.length === 0 ? renderEmpty() : html`${withDetails ? await eventLines() : nothing}${renderOrganizations(overview, search)}`}`;
    return {
      title: overviewTitle(overview),
      current: "organizations",
      severity: worstSeverity(overview.rows.map(({ severity }) => severity)),
      isLive: true,
      main,
    };
  });

  /** Imports, refused posts, and what sends events and is not checked. */
  async function eventLines(): Promise<Html> {
    const nowMs = running.clock.nowMs();
    const refused = events()?.refused() ?? null;
    const sentences = [
      ...(events()?.imports() ?? []).map((one) => importText({ ...one, organizations: one.slugs.length }, nowMs)),
      ...(refused === null ? [] : [refusedText(refused, nowMs)]),
    ];
    return html`${sentences.map((text) => html`<p class="unfinished">${text}</p>`)}${renderUnwatched(await unwatched.list(), (await unwatched.slugs()).length)}`;
  }
}

function renderTop(overview: Overview): Html {
  const { open, toFinish, unfinished, notified, nowMs } = overview;
  const sentences = overviewSentences(overview);
  if (open.length === 0) {
    const left = toFinish.length === 0 ? nothing : renderIncidentTable(toFinish, unfinished);
    return html`${renderHead(sentences)}${left}`;
  }
  const others = open.slice(1);
  const bands = open.slice(0, mostBands).map((facts) => {
    const isAlone = open.length === 1;
    const own = isAlone ? sentences : headline(facts.headline, nowMs);
    const notifiedAtMs = notified.get(facts.incident.number) ?? null;
    return renderBand(facts, { sentences: own, isAlone, notifiedAtMs });
  });
  const lines = others
    .slice(mostBands - 1)
    .map(
      (facts) =>
        html`<p class="unfinished">
          <a href="/incidents/${facts.incident.number}">Incident ${facts.incident.number}</a>:
          ${headline(facts.headline, nowMs)[0]}
        </p>`,
    );
  const head = open.length > 1 ? renderHead(sentences) : nothing;
  return html`${head}${bands}${lines}${renderUnfinished(unfinished)}`;
}

function renderEmpty(): Html {
  return html`<p class="lede">
      Name them in <code>flatline.yaml</code>, or in a list that you serve. They are watched within seconds.
    </p>
    <p class="code"><code>organizations: [acme, globex]</code></p>
    <p class="code"><code>discover: [{ name: ours, file: organizations.json }]</code></p>`;
}
