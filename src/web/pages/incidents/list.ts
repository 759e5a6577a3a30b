import { slugsOf } from "../../../alerting/incident-summary.ts";
import { formatCount } from "../../../base/numbers.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, renderTime, severityWord, type Html } from "../html.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import type { Unfinished } from "../../read/fleet.ts";
import { headline as incidentHeadline } from "../../../words/headline.ts";
import { renderHead } from "../frame.ts";
import { filterByWords, renderFilter, renderGroups, renderNoMatch, withParams, type Column } from "../table.ts";
import { excessOf, memberFactsOf } from "./member-facts.ts";
import { leftWords } from "../overview/headline.ts";
import { sentenceOf } from "../site.ts";
import { actButton, decidedQuestions } from "./questions.ts";

/** Renders the list of incidents; `next` is the number before which the next page begins; null: none. */
export function renderIncidents(
  incidents: readonly ReadIncident[],
  unfinished: Unfinished,
  next: number | null,
  params: URLSearchParams,
): Html {
  const wanted = filterByWords(incidents, params, wordsOf);
  const head = renderHead(headline(incidents, unfinished));
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
  ${wanted.length === 0 ? renderNoMatch("incident", "/incidents", params) : renderIncidentTable(wanted, unfinished)}
  ${
    next === null
      ? nothing
      : html`<p class="pager">
          <span></span><span><a href="${older}">Older</a></span>
        </p>`
  }`;
}

/** Returns the text that the filter searches. */
function wordsOf({ headline: facts, incident, members, nowMs }: ReadIncident): string {
  const judged = facts.judgement === null ? "not:judged" : `judged=${facts.judgement.verdict}`;
  const [first] = incidentHeadline(facts, nowMs);
  return [incident.number, judged, first, ...slugsOf(members)].join(" ");
}

function headline(incidents: readonly ReadIncident[], unfinished: Unfinished): string[] {
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

/** Renders open incidents, those that need a judgement, and ended ones. */
export function renderIncidentTable(incidents: readonly ReadIncident[], unfinished: Unfinished): Html {
  const stateOf = ({ incident: { endedAtMs, number } }: ReadIncident) =>
    endedAtMs === null ? "open" : unfinished.incidents.has(number) ? "left" : "over";
  const { open = [], left = [], over = [] } = Object.groupBy(incidents, stateOf);
  const groups = [
    ["Open", open, ""],
    ["Needs a judgement", left.toSorted((a, b) => b.heldSince.size - a.heldSince.size), ", most on hold first"],
    ["Ended", over, ", newest first"],
  ] as const;
  const columns: readonly Column<ReadIncident>[] = [
    ["Severity", "sev", ({ summary, incident }) => severityWord(summary.severity, incident.endedAtMs !== null)],
    ["Incident", "name", renderName],
    ["Detected", "n", renderDetected],
    ["Organizations", "n wide", ({ members }) => formatCount(slugsOf(members).size)],
    [
      "More than usual",
      "n wide",
      (one) => formatCount(one.incident.family === "deaths" ? Math.round(excessOf(memberFactsOf(one))) : null),
    ],
    ["On hold", "n named", ({ heldSince }) => formatCount(heldSince.size)],
    ["Judged", "wide", judgedCell],
    ["Act", "act", (one) => (stateOf(one) === "over" ? nothing : nextAct(one))],
  ];
  return renderGroups(
    columns,
    groups.map(([name, rows, note]) => ({ rows, head: html`<b>${name}</b> ${formatCount(rows.length)}${note}` })),
    "incidents",
    (one) => html`id="incident-${one.incident.number}" class="${stateOf(one) === "over" ? "done" : "todo"}"`,
  );
}

function renderName({ headline: facts, incident, nowMs }: ReadIncident): Html {
  const [first, ...more] = incidentHeadline(facts, nowMs);
  return html`<a href="/incidents/${incident.number}">${first}</a><span class="under">${more.join(" ")}</span>`;
}

function renderDetected({ incident: { startedAtMs, endedAtMs }, nowMs }: ReadIncident): Html {
  const lasted = durationText((endedAtMs ?? nowMs) - startedAtMs);
  return html`${renderTime(startedAtMs, nowMs)}<span class="under">for ${lasted}</span>`;
}

function judgedCell({ headline: { judgement }, incident, summary: { acknowledgedBy } }: ReadIncident): Html {
  if (incident.family === "unreachable") return html`&ndash;`;
  const under = judgement?.by ?? (acknowledgedBy === null ? "" : `acknowledged by ${acknowledgedBy}`);
  return html`${judgement?.verdict ?? "not judged"}<span class="under">${under}</span>`;
}

/** Renders the button of the next act: acknowledge, judge or release. */
function nextAct(facts: ReadIncident): Html {
  const { incident, summary, headline: said } = facts;
  const isOpen = incident.endedAtMs === null;
  const waits = isOpen && summary.acknowledgedBy === null;
  const next = waits ? "acknowledge" : said.unjudged > 0 ? "judge" : isOpen ? null : "release";
  const found = decidedQuestions(facts).find(({ act }) => act?.act === next)?.act ?? null;
  return found === null ? nothing : actButton(incident.number, { ...found, isFirst: waits });
}
