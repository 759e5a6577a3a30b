import { slugsOf } from "../../../alerting/incident-summary.ts";
import { formatCount } from "../../../base/numbers.ts";
import { dayMs } from "../../../base/time.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentFacts } from "../../read/incident-page.ts";
import type { AlertState } from "../../../store/alerts/alerts.ts";
import type { Unfinished } from "../../read/fleet.ts";
import { headline as incidentHeadline } from "../../../words/headline.ts";
import { renderHead } from "../frame.ts";
import { severityWord } from "../marks.ts";
import { renderFilter, renderNoMatch, renderSwitch, renderTable, withParams, type Column } from "../table.ts";
import { actButton } from "./incident.ts";
import { excessOf, memberFactsOf } from "./member-facts.ts";

/** The list of incidents, as one reader may see it. */
export interface IncidentList {
  readonly nowMs: number;
  /** Open ones first, newest first; those of the range. */
  readonly incidents: readonly IncidentFacts[];
  readonly unfinished: Unfinished;
  readonly withPeople: boolean;
  /** Where the next page begins; null: there is none. */
  readonly next: number | null;
}

export const ranges = { "24h": dayMs, "7d": 7 * dayMs, "90d": 90 * dayMs } as const;
export type Range = keyof typeof ranges;
const rangeWords: Readonly<Record<Range, string>> = { "24h": "24 h", "7d": "7 d", "90d": "90 d" };

/** Returns the range that the query asks for. */
export function rangeOf(params: URLSearchParams): Range {
  const asked = params.get("range");
  return asked === "24h" || asked === "7d" ? asked : "90d";
}

/** Returns what the query looks for; empty: all. */
export function textOf(params: URLSearchParams): string {
  return (params.get("q") ?? "").trim();
}

// So many look at two thousand incidents; "Older" goes on from there.
const mostPages = 20;

export interface IncidentWalk {
  /** Reads the incidents before this number, newest first; null: the newest. */
  readonly read: (
    before: number | null,
  ) => Promise<{ readonly facts: readonly IncidentFacts[]; readonly next: number | null }>;
  readonly isWanted: (facts: IncidentFacts) => boolean;
  readonly before: number | null;
  /** Reads on until so many are wanted. */
  readonly atLeast: number;
}

/** Reads incidents page by page until enough of them are wanted; `next` is where the reading can go on, null: that was all. */
export async function walkIncidents({
  read,
  isWanted,
  before,
  atLeast,
}: IncidentWalk): ReturnType<IncidentWalk["read"]> {
  const facts: IncidentFacts[] = [];
  let next = before;
  let wanted = 0;
  for (let pages = 0; pages < mostPages; pages++) {
    const page = await read(next);
    facts.push(...page.facts);
    next = page.next;
    wanted += page.facts.filter(isWanted).length;
    if (next === null || wanted >= atLeast) break;
  }
  return { facts, next };
}

/** Returns what is open or not finished and not in the list: it is shown however old it is, and whatever the range is. */
export function waitingNumbers(from: {
  readonly live: readonly Pick<AlertState, "incident">[];
  readonly unfinished: Pick<Unfinished, "incidents">;
  readonly listed: readonly Pick<IncidentFacts, "incident">[];
}): number[] {
  const waiting = new Set(from.unfinished.incidents);
  for (const { incident } of from.live) if (incident !== undefined) waiting.add(incident.number);
  for (const { incident } of from.listed) waiting.delete(incident.number);
  return [...waiting];
}

const columns: readonly Column[] = [
  { name: "Severity", kind: "sev" },
  { name: "Incident" },
  { name: "Began", kind: "n" },
  { name: "Organizations", kind: "n orgs-n" },
  { name: "More than usual", kind: "n excess" },
  { name: "On hold", kind: "n" },
  { name: "Judged", kind: "judged" },
  { name: "Act", kind: "act", isHidden: true },
];

/** Renders what waits, what is not finished, and what is. */
export function renderIncidents(list: IncidentList, params: URLSearchParams): Html {
  const { incidents, next } = list;
  const text = textOf(params);
  const range = rangeOf(params);
  const wanted = incidents.filter((one) => matches(one, text));
  const open = wanted.filter(({ incident }) => incident.endedAtMs === null);
  const left = wanted.filter(({ incident }) => isLeft(list, incident.number) && incident.endedAtMs !== null);
  const done = wanted.filter(({ incident }) => incident.endedAtMs !== null && !isLeft(list, incident.number));
  const byGates = left.toSorted((a, b) => b.heldSince.size - a.heldSince.size);
  const groups: readonly IncidentGroup[] = [
    ["Open", open, ""],
    ["Needs a judgement", byGates, ", most on hold first"],
    ["Ended", done, ", newest first"],
  ];
  const more =
    next === null
      ? nothing
      : html`<span><a href="${withParams("/incidents", params, { before: String(next) })}">Older</a></span>`;
  return html`${renderHead(headline(list))}
  ${
    incidents.length === 0 && text === ""
      ? html`<p class="lede">When one begins it stands here, with its likely cause, and whether it is over.</p>`
      : html`${renderFilter({
          path: "/incidents",
          params,
          placeholder: "Filter: acme judged=checker not:judged",
          kept: ["range"],
          beside: html`<p>${countOf(wanted.length, "incident")} within ${rangeWords[range]}</p>
            ${renderSwitch(
              (Object.keys(ranges) as Range[]).map((one) => ({
                words: rangeWords[one],
                href: withParams("/incidents", params, { range: one === "90d" ? null : one, before: null }),
                isChosen: one === range,
              })),
              "Range",
            )}`,
        })}
        ${wanted.length === 0 ? renderNoMatch("incident", "/incidents", params) : renderIncidentTable(groups, list)}
        ${more.html === "" ? nothing : html`<p class="pager"><span></span>${more}</p>`}`
  }`;
}

function isLeft({ unfinished }: Pick<IncidentList, "unfinished">, number: number): boolean {
  return unfinished.incidents.has(number);
}

function headline({ incidents, unfinished }: IncidentList): string[] {
  const open = incidents.filter(({ incident }) => incident.endedAtMs === null);
  const nobody = open.filter(({ summary }) => summary.acknowledgedBy === null).length;
  const left = unfinished.incidents.size;
  const gates = unfinished.gates.size;
  if (incidents.length === 0 && left === 0) return ["No incident."];
  const held = gates === 0 ? "" : `: takedowns of ${countOf(gates, "organization")} are still on hold`;
  const unfinishedWords =
    left === 0 ? "" : `${formatCount(left)} that ended ${left === 1 ? "needs" : "need"} a judgement${held}.`;
  if (open.length === 0)
    return left === 0
      ? ["No incident is open, and none needs a judgement."]
      : ["No incident is open.", unfinishedWords];
  const isOpen = `${countOf(open.length, "incident")} ${open.length === 1 ? "is" : "are"} open`;
  const who =
    nobody === 0
      ? `${isOpen}, and acknowledged.`
      : nobody === open.length
        ? `${isOpen}. Nobody has acknowledged ${open.length === 1 ? "it" : "them"}.`
        : `${isOpen}. Nobody has acknowledged ${formatCount(nobody)} of them.`;
  return unfinishedWords === "" ? [who] : [who, unfinishedWords];
}

/** Incidents under a name, with what is said of their order. */
export type IncidentGroup = readonly [name: string, some: readonly IncidentFacts[], note: string];

type Listing = Pick<IncidentList, "unfinished" | "withPeople" | "nowMs">;

/** Renders incidents in groups; one without incidents is left out. */
export function renderIncidentTable(groups: readonly IncidentGroup[], listing: Listing): Html {
  const rows = groups.flatMap((group) => renderGroup(group, listing));
  return renderTable("incidents flow", columns, rows);
}

function renderGroup([name, some, note]: IncidentGroup, list: Listing): Html[] {
  if (some.length === 0) return [];
  return [
    html`<tr class="group">
      <td colspan="${columns.length}"><b>${name}</b> ${formatCount(some.length)}${note}</td>
    </tr>`,
    ...some.map((one) => renderRow(one, list)),
  ];
}

function renderRow(facts: IncidentFacts, list: Listing): Html {
  const { incident, summary, members, heldSince, nowMs } = facts;
  const { number, endedAtMs } = incident;
  const excess = Math.round(excessOf(memberFactsOf(facts)));
  const isTodo = endedAtMs === null || isLeft(list, number);
  const organizations = slugsOf(members).size;
  const lasted = durationText((endedAtMs ?? nowMs) - incident.startedAtMs);
  const [first, ...more] = incidentHeadline(facts.headline, { nowMs, withPeople: list.withPeople });
  return html`<tr id="incident-${number}" class="${isTodo ? "todo" : "done"}">
    <td class="sev">${severityWord(summary.severity, endedAtMs !== null)}</td>
    <th scope="row"><a href="/incidents/${number}">${first}</a><span class="under">${more.join(" ")}</span></th>
    <td class="n">${renderTime(incident.startedAtMs, nowMs)}<span class="under">for ${lasted}</span></td>
    <td class="n orgs-n" data-name="organizations">${formatCount(organizations)}</td>
    <td class="n excess" data-name="more than usual">${incident.family === "deaths" ? formatCount(excess) : "–"}</td>
    <td class="n" data-name="on hold">
      ${heldSince.size === 0 ? html`<span class="quiet">0</span>` : html`<b>${formatCount(heldSince.size)}</b>`}
    </td>
    <td class="judged">${judgedCell(facts, list.withPeople)}</td>
    <td class="act">${nextAct(facts, list)}</td>
  </tr>`;
}

function judgedCell(facts: IncidentFacts, withPeople: boolean): Html {
  const { judgement } = facts.headline;
  const { incident } = facts;
  if (incident.family === "unreachable")
    return html`&ndash;<span class="under">${incident.endedAtMs === null ? nothing : "ended by itself"}</span>`;
  if (judgement !== null)
    return html`${judgement.verdict}<span class="under">${withPeople ? judgement.by : nothing}</span>`;
  const { acknowledgedBy } = facts.summary;
  if (acknowledgedBy === null) return html`not judged`;
  return html`not judged<span class="under">acknowledged${withPeople ? ` by ${acknowledgedBy}` : ""}</span>`;
}

/** The next right act: who takes it, what it was, or nothing. */
function nextAct(facts: IncidentFacts, list: Listing): Html {
  const { incident, members, summary } = facts;
  const { number } = incident;
  const firing = members.filter(({ end }) => end === null).length;
  if (incident.endedAtMs === null && summary.acknowledgedBy === null)
    return actButton(number, "acknowledge", firing > 1 ? `Acknowledge ${formatCount(firing)}…` : "Acknowledge…", true);
  const unjudged = members.filter(({ alert }) => alert.kind === "verdict" && alert.judgement === undefined).length;
  if (incident.family === "unreachable" || unjudged === 0) {
    const isHeld = facts.heldSince.size > 0 && isLeft(list, number);
    return isHeld ? actButton(number, "release", `Release ${formatCount(facts.heldSince.size)}…`) : nothing;
  }
  if (incident.endedAtMs === null || isLeft(list, number))
    return actButton(number, "judge", unjudged > 1 ? `Judge ${formatCount(unjudged)}…` : "Judge…");
  return nothing;
}

/** Each word must be in a slug or the sentence, or be `judged=…` or `not:judged`. */
export function matches(facts: IncidentFacts, text: string): boolean {
  if (text === "") return true;
  const judgement = facts.headline.judgement?.verdict ?? null;
  const [first] = incidentHeadline(facts.headline, { nowMs: facts.nowMs, withPeople: false });
  const sentence = first.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => {
      if (word === "not:judged") return judgement === null;
      if (word.startsWith("judged=")) return judgement === word.slice(7);
      if (word === `${facts.incident.number}`) return true;
      return sentence.includes(word) || facts.members.some(({ alert }) => alert.slug.toLowerCase().includes(word));
    });
}
