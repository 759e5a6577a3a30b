import { formatCount, formatExpected, none } from "../../../base/numbers.ts";
import { literalPattern } from "../../../base/text-pattern.ts";
import { minuteMs } from "../../../base/time.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OrganizationFacts } from "../../read/organization.ts";
import { dialogButton } from "../dialog.ts";
import { renderHead } from "../frame.ts";
import type { DialogAct } from "../incidents/dialogs.ts";
import { actButton } from "../incidents/incident.ts";
import { renderIncidentTable } from "../incidents/list.ts";
import { decidedQuestions, renderQuestions } from "../incidents/questions.ts";
import { mark } from "../marks.ts";
import { renderSection } from "../table.ts";
import { renderAbout, renderSettings } from "./about.ts";
import { renderHealthchecks } from "./healthchecks.ts";
import { organizationSentences, worstOf } from "./sentences.ts";
import { countOf, durationText, nbsp } from "../../../words/numbers.ts";

/** What the page of an organization is made with. */
export interface OrganizationPageOptions {
  /** Names and reasons are for the reader. */
  readonly withPeople: boolean;
  readonly chart: Html;
  readonly deadAssets: Html;
}

/** Returns the path of an organization's page. */
export function organizationPath(slug: string): string {
  return `/o/${encodeURIComponent(slug)}`;
}

/** Renders the page of one organization: whether it is well, and what runs for it. */
export function renderOrganization(facts: OrganizationFacts, options: OrganizationPageOptions): Html {
  const { slug, neighbours } = facts;
  const { withPeople, chart, deadAssets } = options;
  const severity = worstOf(facts) ?? "unknown";
  const neighbour = (name: string | null, before: string, after: string): Html =>
    name === null ? nothing : html`<a href="${organizationPath(name)}">${before}${name}${after}</a>`;
  return html`<p class="crumbs">
      <span><a href="/">Organizations</a> / ${slug}</span
      ><span class="row">${neighbour(neighbours.previous, "‹ ", "")} ${neighbour(neighbours.next, "", " ›")}</span>
    </p>
    ${renderHead(organizationSentences(facts), { shape: mark(severity), acts: renderActs(slug) })}
    ${renderOpen(facts, withPeople)}${renderFigures(facts)}${chart}${renderHealthchecks(facts)}
    ${renderIncidents(facts, withPeople)}
    <div class="two">${renderSettings(facts)}${renderAbout(facts)}</div>
    ${deadAssets}`;
}

function renderActs(slug: string): Html {
  const silence = `/silences/new?${new URLSearchParams({ slug: literalPattern(slug) }).toString()}`;
  return html`<button form="run">Run now</button> ${dialogButton(silence, "Silence…")}`;
}

/** What people decide of the open incident, of this organization only. */
function renderOpen({ slug, open }: OrganizationFacts, withPeople: boolean): Html {
  if (open === null) return nothing;
  const { number } = open.own.incident;
  const button = (act: DialogAct, words: string, isFirst: boolean): Html =>
    actButton(number, act, words, isFirst, slug);
  const all =
    open.organizations === 1
      ? html`<a href="/incidents/${number}">Incident ${number}</a>`
      : html`These act on ${slug} only; <a href="/incidents/${number}">for all ${formatCount(open.organizations)}</a>.`;
  return html`<div class="asked">${renderQuestions(decidedQuestions(open.own, { withPeople, button }), true)}</div>
    <p class="second">${all}</p>`;
}

function renderFigures(facts: OrganizationFacts): Html {
  const { checks, nowMs, windowHours, isThin, lastHour, gate, slug } = facts;
  const [first] = checks;
  const { currentCount = null, expectedCount = null, ratio = null } = first?.counts ?? {};
  const usual = isThin || expectedCount === null ? "" : `usually ${formatExpected(expectedCount / windowHours)}`;
  const figures: readonly (readonly [name: string, value: Html, more: string])[] = [
    [`Deaths, ${windowHours}${nbsp}h`, html`${formatCount(currentCount)}`, ""],
    ["Expected", html`${isThin ? "not known" : formatExpected(expectedCount)}`, ""],
    ["Ratio", html`${isThin ? none : ratioText(currentCount, expectedCount, ratio)}`, ""],
    ["Last hour", html`${formatCount(lastHour)}`, lastHour === null ? "" : usual],
    [
      "Last run",
      first === undefined || first.lastRunMs === null ? html`${none}` : renderTime(first.lastRunMs, nowMs),
      first === undefined || first.tookMs === null ? "" : `in ${first.tookMs}${nbsp}ms`,
    ],
    ["Next run", nextRun(facts), first?.isLate === true ? lateText(first.nextRunMs, nowMs) : ""],
    [
      "Takedowns",
      html`${gate === null ? "allowed" : "on hold"}`,
      gate === null ? "" : `for ${durationText(Math.max(minuteMs, nowMs - gate.sinceMs))}`,
    ],
  ];
  return html`<form
      method="post"
      id="run"
      action="${organizationPath(slug)}/run"
      hx-post="${organizationPath(slug)}/run"
      hx-swap="none"
    ></form>
    <dl class="figures">
      ${figures.map(
        ([name, value, more]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}${more === "" ? nothing : html` <small>${more}</small>`}</dd>
          </div>`,
      )}
    </dl>`;
}

function ratioText(count: number | null, expected: number | null, ratio: number | null): string {
  const known = ratio ?? (count !== null && expected !== null && expected > 0 ? count / expected : null);
  return formatRatioCell({ count, expected, ratio: known });
}

function nextRun({ checks, nowMs }: OrganizationFacts): Html {
  const [first] = checks;
  if (first === undefined) return html`${none}`;
  return first.isRunning ? html`running` : renderTime(first.nextRunMs, nowMs);
}

function lateText(dueMs: number, nowMs: number): string {
  return `late ${durationText(nowMs - dueMs)}`;
}

function renderIncidents({ slug, incidents, unfinished, nowMs }: OrganizationFacts, withPeople: boolean): Html {
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
  return renderSection(title, renderIncidentTable(groups, { unfinished, withPeople, nowMs }), { beside });
}
