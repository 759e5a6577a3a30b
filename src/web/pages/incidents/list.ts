import { slugsOf } from "../../../alerting/incident-summary.ts";
import { formatCount } from "../../../base/numbers.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import type { Unfinished } from "../../read/fleet.ts";
import { headline as incidentHeadline } from "../../../words/headline.ts";
import { renderHead } from "../frame.ts";
import { severityWord } from "../marks.ts";
import { filterByWords, renderFilter, renderGroups, renderNoMatch, withParams, type Column } from "../table.ts";
import { excessOf, memberFactsOf } from "./member-facts.ts";
import { leftWords } from "../overview/headline.ts";
import { sentenceOf } from "../site.ts";
import { actButton, decidedQuestions } from "./questions.ts";

/** The list of incidents, as one reader may see it. */
export interface IncidentList {
  readonly nowMs: number;
  /** What waits, however old it is, and the latest of the others; newest first. */
  readonly incidents: readonly ReadIncident[];
  readonly unfinished: Unfinished;
  /** Where the next page begins; null: there is none. */
  readonly next: number | null;
}

/** Renders what waits, what is not finished, and what is. */
export function renderIncidents(list: IncidentList, params: URLSearchParams): Html {
  const { incidents, next } = list;
  const wanted = filterByWords(incidents, params, wordsOf);
  const isOpen = ({ incident }: ReadIncident): boolean => incident.endedAtMs === null;
  const ended = wanted.filter((one) => !isOpen(one));
  const left = ended.filter(({ incident }) => isLeft(list, incident.number));
  const groups = [
    ["Open", wanted.filter(isOpen), ""],
    ["Needs a judgement", left.toSorted((a, b) => b.heldSince.size - a.heldSince.size), ", most on hold first"],
    ["Ended", ended.filter(({ incident }) => !isLeft(list, incident.number)), ", newest first"],
  ] as const;
  const head = renderHead(headline(list));
  if (incidents.length === 0)
    return html`${head}
      <p class="lede">When one begins it stands here, with its likely cause, and whether it is over.</p>`;
  const older = withParams("/incidents", params, { before: String(next) });
  return html`${head}
  ${renderFilter(
    "/incidents",
    params,
    "Filter: acme judged=checker not:judged",
    `${formatCount(wanted.length)} of the ${countOf(incidents.length, "incident")} shown`,
  )}
  ${wanted.length === 0 ? renderNoMatch("incident", "/incidents", params) : renderIncidentTable(groups, list)}
  ${
    next === null
      ? nothing
      : html`<p class="pager">
          <span></span><span><a href="${older}">Older</a></span>
        </p>`
  }`;
}

/** What the filter looks at. */
function wordsOf({ headline: facts, incident, members, nowMs }: ReadIncident): string {
  const judged = facts.judgement === null ? "not:judged" : `judged=${facts.judgement.verdict}`;
  const [first] = incidentHeadline(facts, nowMs);
  return [incident.number, judged, first, ...slugsOf(members)].join(" ");
}

function isLeft({ unfinished }: Pick<IncidentList, "unfinished">, number: number): boolean {
  return unfinished.incidents.has(number);
}

function headline({ incidents, unfinished }: IncidentList): string[] {
  const open = incidents.filter(({ incident }) => incident.endedAtMs === null);
  const nobody = open.filter(({ summary }) => summary.acknowledgedBy === null).length;
  const left = leftWords(unfinished);
  if (incidents.length === 0 && left === null) return ["No incident."];
  if (open.length === 0 && left === null) return ["No incident is open, and none needs a judgement."];
  const isOpen = `${countOf(open.length, "incident")} ${open.length === 1 ? "is" : "are"} open`;
  const whom = nobody < open.length ? `${formatCount(nobody)} of them` : open.length === 1 ? "it" : "them";
  const who = nobody === 0 ? `${isOpen}, and acknowledged.` : `${isOpen}. Nobody has acknowledged ${whom}.`;
  return [open.length === 0 ? "No incident is open." : who, ...(left === null ? [] : [sentenceOf(left)])];
}

type Listing = Pick<IncidentList, "unfinished" | "nowMs">;

/** Renders incidents in groups, each with what is said of its order; one without incidents is left out. */
export function renderIncidentTable(
  groups: readonly (readonly [name: string, some: readonly ReadIncident[], note: string])[],
  list: Listing,
): Html {
  const columns: readonly Column<ReadIncident>[] = [
    ["Severity", "sev", ({ summary, incident }) => severityWord(summary.severity, incident.endedAtMs !== null)],
    ["Incident", "name", renderName],
    ["Began", "n", renderBegan],
    ["Organizations", "n wide", ({ members }) => formatCount(slugsOf(members).size)],
    ["More than usual", "n wide", (facts) => formatCount(excessCount(facts))],
    ["On hold", "n named", ({ heldSince }) => formatCount(heldSince.size)],
    ["Judged", "wide", judgedCell],
    ["Act", "act", (facts) => nextAct(facts, list)],
  ];
  return renderGroups(
    columns,
    groups.map(([name, rows, note]) => ({ rows, head: html`<b>${name}</b> ${formatCount(rows.length)}${note}` })),
    "incidents",
    ({ incident: { number, endedAtMs } }) =>
      html`id="incident-${number}" class="${endedAtMs === null || isLeft(list, number) ? "todo" : "done"}"`,
  );
}

function renderName({ headline: facts, incident, nowMs }: ReadIncident): Html {
  const [first, ...more] = incidentHeadline(facts, nowMs);
  return html`<a href="/incidents/${incident.number}">${first}</a><span class="under">${more.join(" ")}</span>`;
}

/** null: it is of no deaths. */
function excessCount(facts: ReadIncident): number | null {
  return facts.incident.family === "deaths" ? Math.round(excessOf(memberFactsOf(facts))) : null;
}

function renderBegan({ incident: { startedAtMs, endedAtMs }, nowMs }: ReadIncident): Html {
  const lasted = durationText((endedAtMs ?? nowMs) - startedAtMs);
  return html`${renderTime(startedAtMs, nowMs)}<span class="under">for ${lasted}</span>`;
}

function judgedCell(facts: ReadIncident): Html {
  const { judgement } = facts.headline;
  const { incident } = facts;
  if (incident.family === "unreachable")
    return html`&ndash;<span class="under">${incident.endedAtMs === null ? nothing : "ended by itself"}</span>`;
  if (judgement !== null) return html`${judgement.verdict}<span class="under">${judgement.by}</span>`;
  const { acknowledgedBy } = facts.summary;
  if (acknowledgedBy === null) return html`not judged`;
  return html`not judged<span class="under">acknowledged by ${acknowledgedBy}</span>`;
}

/** The next right act: who takes it, what it was, or nothing. */
function nextAct(facts: ReadIncident, list: Listing): Html {
  const { incident, summary, headline: said, heldSince } = facts;
  const isOpen = incident.endedAtMs === null;
  const judged = Object.values(said.judged).reduce((sum, count) => sum + count, 0);
  const next =
    isOpen && summary.acknowledgedBy === null
      ? "acknowledge"
      : judged < said.judgeable
        ? "judge"
        : !isOpen && heldSince.size > 0
          ? "release"
          : null;
  const found = decidedQuestions(facts).find(({ act }) => act?.act === next)?.act ?? null;
  if (found === null || !(isOpen || isLeft(list, incident.number))) return nothing;
  return actButton(incident.number, { ...found, isFirst: isOpen && found.isFirst === true });
}
