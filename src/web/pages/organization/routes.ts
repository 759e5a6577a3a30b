import type { FastifyInstance } from "fastify";

import { breakAddresses } from "../../../base/broken-address.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { formatCount } from "../../../base/numbers.ts";
import { literalPattern } from "../../../base/text-pattern.ts";
import { dayMs, minuteMs } from "../../../base/time.ts";
import { iso } from "../../../contract/v1/instant.ts";
import { countOf, nbsp } from "../../../words/numbers.ts";
import { authorOf } from "../../access/admission.ts";
import { html, nothing, mark, type Html } from "../html.ts";
import type { WebParts } from "../../parts.ts";
import { chartOfIncident, readDeathsChart } from "../../read/chart.ts";
import { readOrganization, type OrganizationFacts } from "../../read/organization.ts";
import { isWithoutEvents } from "../../read/running.ts";
import { renderChart } from "../chart.ts";
import { renderDeadAssets } from "../dead-assets.ts";
import { actForm, dialogButton } from "../dialog.ts";
import { renderHead, type PageContent } from "../frame.ts";
import { renderIncidentTable } from "../incidents/list.ts";
import { actButton, decidedQuestions, renderQuestions, type ActWords } from "../incidents/questions.ts";
import { missing } from "../site.ts";
import { organizationPath, renderSection } from "../table.ts";
import { errorText, organizationSentences, renderAbout, renderHealthchecks, worstOf } from "./organization.ts";

// The default range of an organization's chart.
const weekMs = 7 * dayMs;

/** Adds `/o/SLUG`, and the run of all its checks. */
export function addOrganizationPages(server: FastifyInstance, parts: WebParts): void {
  const { site, running, alertAssets } = parts;

  site.addPage(server, "/o/:slug", "public", async ({ params: { slug }, search, withDetails }) => {
    const facts = await readOrganization(parts, slug, withDetails);
    if (facts === null) return unknownOrganization(slug);
    const { latestSpike } = facts;
    const assets =
      withDetails && latestSpike !== null
        ? await renderDeadAssets(alertAssets, [latestSpike], `/api/v1/alerts/${latestSpike.id}/assets?format=sheet`)
        : nothing;
    const main = renderOrganization(facts, await chartOf(facts, search), assets);
    const severity = worstOf(facts);
    const title = `${severity ?? "waiting"}: ${slug}`;
    return { title, current: "organizations", isLive: true, severity: severity ?? "unknown", main };
  });

  site.addAct(server, "/o/:slug/run", "operate", {
    perform: async ({ request, params: { slug } }) => {
      const states = running.checks.all().filter((state) => state.slug === slug);
      if (states.length === 0) throw new FlatlineError("not_found", `nobody checks «${slug}»`);
      const author = authorOf(request);
      let without = 0;
      for (const { check } of states) {
        try {
          const { severity } = await running.runNow(check, slug, author);
          if (severity === "unknown") without++;
        } catch (error) {
          // The check may run elsewhere, or flatline stops: the others may still run.
          if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
          without++;
        }
      }
      const left = without === 0 ? "" : `, ${without} without a result`;
      return { did: `${countOf(states.length, "healthcheck")} ran${left}.`, path: organizationPath(slug) };
    },
  });

  async function chartOf(facts: OrganizationFacts, params: URLSearchParams): Promise<Html> {
    const { slug, windowHours, open, nowMs, incidents } = facts;
    const { incident = null, members = [] } = open === null ? {} : chartOfIncident(open.own);
    const fromMs = Math.min(nowMs, ...incidents.map(({ incident: { startedAtMs } }) => startedAtMs)) - weekMs;
    const markers = await running.store.markers.between({ slug, fromMs, toMs: nowMs });
    const data = await readDeathsChart(running, {
      subject: slug,
      params,
      members: members.length > 0 ? members : [{ slug, windowHours, expected: null, beganMs: nowMs }],
      incident: members.length > 0 ? incident : null,
      acts: markers.map(({ atMs, text }) => ({ atMs, mark: "marker", text: `«${breakAddresses(text)}»` })),
    });
    return renderChart(data, organizationPath(slug), params);
  }
}

function unknownOrganization(slug: string): PageContent {
  const text = html`Nobody checks «${slug}». <a href="/">All organizations</a>`;
  return missing("organizations", "No such organization is configured.", text);
}

function renderOrganization(facts: OrganizationFacts, chart: Html, deadAssets: Html): Html {
  const { slug } = facts;
  const silence = `/silences/new?${new URLSearchParams({ slug: literalPattern(slug) }).toString()}`;
  const acts = html`${actForm(`${organizationPath(slug)}/run`, "Run now")} ${dialogButton(silence, "Silence…")}`;
  return html`<p class="crumbs">
      <span><a href="/">Organizations</a> / ${slug}</span>
    </p>
    ${renderHead(organizationSentences(facts), { shape: mark(worstOf(facts) ?? "unknown"), acts })}
    ${renderError(facts)}${renderFirstSteps(facts)}${renderOpen(facts)}${chart}${renderHealthchecks(facts)}${renderIncidents(facts)}
    ${renderAbout(facts)}${deadAssets}`;
}

/** Says why the spike check gives no result. Errors are too long for a headline. */
function renderError({ checks: [first], nowMs }: OrganizationFacts): Html {
  const report = first?.state.last?.lastReport;
  if (first === undefined || report?.kind !== "error" || isWithoutEvents(first.state)) return nothing;
  return html`<p class="lede">The error: ${errorText(report.error, nowMs)}</p>`;
}

/** Says how to send events, until the first one has come. */
function renderFirstSteps({ slug, checks: [first], nowMs }: OrganizationFacts): Html {
  if (first === undefined || !isWithoutEvents(first.state)) return nothing;
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const event = { at: iso(nowMs - (nowMs % minuteMs)), slug, asset: "https://login.example/" };
  const post =
    'curl "$FLATLINE_URL/api/v1/events" -H "authorization: Bearer $FLATLINE_TOKEN" ' +
    `-H content-type:application/json -d ${quoted(JSON.stringify([event]))}`;
  return html`<p class="lede">Import what you have, and post each death that comes:</p>
    <p class="code"><code>flatline import events FILE --set ${quoted(`slug=${slug}`)}</code></p>
    <p class="code"><code>${post}</code></p>
    <p class="lede">
      A stream under another name is said on <a href="/">the overview</a>. For one that carries deaths only, set
      <code>whenNoEvents: ok</code>.
    </p>`;
}

/** Renders the open incident's questions for people; their acts are for this organization only. */
function renderOpen({ slug, open }: OrganizationFacts): Html {
  if (open === null) return nothing;
  const { number } = open.own.incident;
  const button = (act: ActWords): Html => actButton(number, act, slug);
  const all =
    open.organizations === 1
      ? html`<a href="/incidents/${number}">Incident ${number}</a>`
      : html`These act on ${slug} only; <a href="/incidents/${number}">for all ${formatCount(open.organizations)}</a>.`;
  return html`<div class="asked">${renderQuestions(decidedQuestions(open.own), button, "acts")}</div>
    <p class="second">${all}</p>`;
}

function renderIncidents({ slug, incidents, unfinished }: OrganizationFacts): Html {
  const title = `Incidents of ${slug}`;
  if (incidents.length === 0) return renderSection(title, html`<p class="second">None within 90${nbsp}d.</p>`);
  const beside = html`<p>${countOf(incidents.length, "incident")} within 90${nbsp}d</p>`;
  return renderSection(title, renderIncidentTable(incidents, unfinished), { beside });
}
