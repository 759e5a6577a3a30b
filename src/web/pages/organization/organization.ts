import { formatCount } from "../../../base/numbers.ts";
import { literalPattern } from "../../../base/text-pattern.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { dialogButton } from "../dialog.ts";
import { renderHead } from "../frame.ts";
import { renderIncidentTable } from "../incidents/list.ts";
import { actButton, decidedQuestions, renderQuestions, type ActWords } from "../incidents/questions.ts";
import { mark } from "../marks.ts";
import { organizationPath, renderSection } from "../table.ts";
import { renderAbout } from "./about.ts";
import { renderHealthchecks } from "./healthchecks.ts";
import { organizationSentences, worstOf } from "./sentences.ts";
import { countOf, nbsp } from "../../../words/numbers.ts";

/** What the page of an organization is made with. */
export interface OrganizationPageOptions {
  readonly chart: Html;
  readonly deadAssets: Html;
}

/** Renders the page of one organization: whether it is well, and what runs for it. */
export function renderOrganization(facts: OrganizationFacts, options: OrganizationPageOptions): Html {
  const { slug } = facts;
  const { chart, deadAssets } = options;
  const run = `${organizationPath(slug)}/run`;
  const silence = `/silences/new?${new URLSearchParams({ slug: literalPattern(slug) }).toString()}`;
  const acts = html`<form method="post" action="${run}" hx-post="${run}" hx-swap="none"><button>Run now</button></form>
    ${dialogButton(silence, "Silence…")}`;
  return html`<p class="crumbs">
      <span><a href="/">Organizations</a> / ${slug}</span>
    </p>
    ${renderHead(organizationSentences(facts), { shape: mark(worstOf(facts) ?? "unknown"), acts })}
    ${renderOpen(facts)}${chart}${renderHealthchecks(facts)}${renderIncidents(facts)} ${renderAbout(facts)}${deadAssets}`;
}

/** What people decide of the open incident, of this organization only. */
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

function renderIncidents({ slug, incidents, unfinished, nowMs }: OrganizationFacts): Html {
  const title = `Incidents of ${slug}`;
  if (incidents.length === 0) return renderSection(title, html`<p class="second">None within 90${nbsp}d.</p>`);
  const isOpen = ({ incident }: (typeof incidents)[number]): boolean => incident.endedAtMs === null;
  const isLeft = ({ incident }: (typeof incidents)[number]): boolean => unfinished.incidents.has(incident.number);
  const groups = [
    ["Open", incidents.filter(isOpen), ""],
    ["To finish", incidents.filter((one) => !isOpen(one) && isLeft(one)), ""],
    ["Finished", incidents.filter((one) => !isOpen(one) && !isLeft(one)), ", newest first"],
  ] as const;
  const beside = html`<p>${countOf(incidents.length, "incident")} within 90${nbsp}d</p>`;
  return renderSection(title, renderIncidentTable(groups, { unfinished, nowMs }), { beside });
}
