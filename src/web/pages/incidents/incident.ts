import { breakAddress } from "../../../base/broken-address.ts";
import { formatCount, formatPercent, none } from "../../../base/numbers.ts";
import {
  lookAnswers,
  lookRoles,
  lookRoleWords,
  opinionWords,
  type LookAnswer,
} from "../../../contract/second-opinion.ts";
import { headline } from "../../../words/headline.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, mark, type Html, type MarkShape } from "../html.ts";
import type { CostAnswer } from "../../../contract/v1/alerts.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { overPage, renderThen } from "../dialog.ts";
import { renderHead } from "../frame.ts";
import { renderSection, renderTable, type Column } from "../table.ts";
import { excessOf, memberFactsOf } from "./member-facts.ts";
import { renderMembers } from "./members.ts";
import { actButton, decidedQuestions, knownQuestions, renderQuestions, type ActWords } from "./questions.ts";
import { renderInstants, renderStory } from "./story.ts";

export interface IncidentPageOptions {
  readonly params: URLSearchParams;
  readonly ticked: ReadonlySet<string>;
  /** Whether the reader may download lists of assets. */
  readonly mayRead: boolean;
  /** null: no alert of it is judged `checker`. */
  readonly cost: CostAnswer | null;
  readonly chart: Html;
  /** Facts of its organization, if it has only one. */
  readonly organization: Html;
  readonly deadAssets: Html;
}

/** Returns the document's title. */
export function incidentTitle(page: IncidentDetail): string {
  return `Incident ${page.incident.number}: ${headline(page.headline, page.nowMs)[0]}`;
}

/** Returns an incident's mark: filled while it is open, then an outline. */
function incidentMark({ summary, incident }: Pick<IncidentDetail, "summary" | "incident">): Html {
  const { severity } = summary;
  if (incident.endedAtMs === null || severity === "ok") return mark(severity);
  return mark(`${severity}-ended` as MarkShape, "ended");
}

/** Renders the page of an incident: its questions, chart, organizations and story. */
export function renderIncident(
  page: IncidentDetail,
  { params, ticked, mayRead, cost, chart, organization, deadAssets }: IncidentPageOptions,
): Html {
  const { number, family, endedAtMs } = page.incident;
  const path = `/api/v1/incidents/${number}`;
  const button = (act: ActWords): Html => actButton(number, act);
  const silence = endedAtMs === null ? button({ act: "silence", words: "Silence…" }) : nothing;
  const acts = html`${silence} <a class="button" href="${path}/report">Report</a>
    <a class="button" href="${path}">JSON</a>`;
  const decided = decidedQuestions(page);
  return html`<p class="crumbs">
      <span><a href="/incidents">Incidents</a> / ${number}</span>
    </p>
    ${renderHead(headline(page.headline, page.nowMs), { shape: incidentMark(page), acts })} ${renderInstants(page)}
    <div class="asked">${renderQuestions(knownQuestions(page), button)}${renderQuestions(decided, button, "acts")}</div>
    ${chart}${page.headline.alone !== null ? nothing : renderMembers(page, params, ticked)}
    <div class="two">
      <div>
        ${family === "deaths" ? renderCarriers(page) : nothing}${renderCost(cost, page, mayRead)}${organization}
      </div>
      ${renderSection("What happened", html`${incidentComment(number)}${renderStory(page)}`)}
    </div>
    ${renderOpinion(page)}${deadAssets}
    <nav class="actbar" aria-label="Acts">${decided.map(({ act }) => (act === null ? nothing : button(act)))}</nav>`;
}

function incidentComment(number: number): Html {
  const action = `/incidents/${number}/comment`;
  return html`<form
    class="comment"
    method="post"
    action="${action}"
    hx-post="${action}"
    ${overPage}
    hx-disable="find button"
  >
    <input
      type="text"
      name="comment"
      id="comment"
      placeholder="Add a comment"
      aria-label="Comment"
      maxlength="2000"
      required
    /><button>Comment</button>
  </form>`;
}

function renderCarriers(page: IncidentDetail): Html {
  const { carriers } = page.summary;
  const excess = Math.round(excessOf(memberFactsOf(page)));
  if (carriers.length === 0) return nothing;
  const columns: readonly Column<(typeof carriers)[number]>[] = [
    ["Value", "", ({ key, value }) => html`<span class="quiet">${key}</span> ${value}`],
    ["Share", "n", ({ share }) => html`<b>${formatPercent(share)}</b>`],
    ["Usually", "n second", ({ usualShare }) => formatPercent(usualShare)],
    ["Bar", "bar", ({ share, usualShare }) => renderBar(share, usualShare)],
  ];
  const table = html`${renderTable(columns, carriers)}
    <p class="pager">the tick on each bar is the usual share</p>`;
  const beside = html`<p>${countOf(excess, "death")} more than usual</p>`;
  return renderSection("What these deaths share", table, { beside, id: "carries" });
}

const barWidth = 200;

function renderBar(share: number, usual: number): Html {
  const at = Math.min(barWidth - 1, Math.max(1, Math.round(usual * barWidth)));
  return html`<svg viewBox="0 0 ${barWidth} 8" preserveAspectRatio="none" aria-hidden="true">
    <path fill="var(--sunken)" d="M0 0h${barWidth}v8H0z" />
    <path fill="var(--ink-2)" d="M0 0h${Math.round(share * barWidth)}v8H0z" />
    <path stroke="var(--ink)" stroke-width="2" d="M${at} -3v14" />
  </svg>`;
}

/** Returns what a broken checker cost, line by line. */
export function costFacts(cost: CostAnswer): [name: string, text: string][] {
  const { deaths, revived, stillDead, medianClosedSeconds: seconds } = cost;
  const closed = seconds === null ? "" : `, closed for ${durationText(seconds * 1_000)} in the median`;
  return [
    ["Deaths", formatCount(deaths)],
    ["Found alive", `${formatCount(revived)}${closed}`],
    ["Not looked at since", formatCount(stillDead)],
  ];
}

function renderCost(cost: CostAnswer | null, { incident }: IncidentDetail, mayRead: boolean): Html {
  if (cost === null) return nothing;
  const restore = `/api/v1/incidents/${incident.number}/assets?toRestore=true`;
  const lists = html`<p class="pager">
    <span>
      To bring back, what still answers first: <a href="${`${restore}&format=sheet`}" download>CSV</a>,
      <a href="${restore}">JSON</a></span
    >
  </p>`;
  const facts = html`${renderThen(costFacts(cost))}${mayRead ? lists : nothing}`;
  return renderSection(incident.endedAtMs === null ? "What it cost so far" : "What it cost", facts);
}

// Full: it answers; half: a page stands before it; dash: undecided; empty: it is gone.
const shapes: Readonly<Record<LookAnswer, MarkShape>> = {
  answers: "dot",
  challenge: "half",
  undecided: "dash",
  parked: "ring",
  gone: "ring",
};

const answerColumns: readonly Column<IncidentDetail["answers"][number]>[] = [
  ["Answer", "marked nowrap", ({ answer }) => html`${mark(shapes[answer], "ink")}${answer}`],
  ["Asked as", "second", ({ role }) => lookRoleWords[role]],
  ["Type", "", ({ assetType }) => assetType ?? none],
  ["Address", "address", ({ asset }) => breakAddress(asset)],
  ["Detail", "answer second", ({ detail }) => detail ?? ""],
];

/** Renders the verifier's answer for each asset, the sample before the controls; addresses are never links. */
function renderOpinion({ summary, answers }: IncidentDetail): Html {
  const { secondOpinion: opinion } = summary;
  if (answers.length === 0) return nothing;
  const shown = answers.toSorted(
    (left, right) =>
      lookRoles.indexOf(left.role) - lookRoles.indexOf(right.role) ||
      lookAnswers.indexOf(left.answer) - lookAnswers.indexOf(right.answer),
  );
  const asked = answers.filter(({ role }) => role === "sample").length;
  const beside = opinion === null ? nothing : html`<p>${opinionWords(opinion)}</p>`;
  return renderSection(`What each of the ${formatCount(asked)} said`, renderTable(answerColumns, shown), {
    beside,
    id: "said",
  });
}
