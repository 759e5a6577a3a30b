import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { compareSeverity } from "../../../contract/severity.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { Overview, OverviewRow } from "../../read/overview.ts";
import { mark, severityWord, shownSeverities } from "../marks.ts";
import { filterByWords, renderFilter, pageOf, renderPager, renderTable, withParams, type Column } from "../table.ts";
import { countSeverities } from "./headline.ts";
import { countOf, durationText } from "../../../words/numbers.ts";

const pageSize = 100;
// So many members of each open incident are shown; the rest is on its page.
const shownOfIncident = 8;

const columns: readonly Column[] = [
  { name: "Severity", kind: "sev" },
  { name: "Organization", kind: "name" },
  { name: "Labels", kind: "labels wide" },
  { name: "Deaths", kind: "n" },
  { name: "Expected", kind: "n" },
  { name: "Ratio", kind: "n" },
  { name: "Takedowns", kind: "gate" },
];

/** Renders how many organizations have which severity, as links that filter, and those that are asked for: the worst first. */
export function renderOrganizations(overview: Overview, params: URLSearchParams): Html {
  const { rows, open, labelsOf, nowMs } = overview;
  const words = (params.get("severity") ?? "").split(",");
  const asked = shownSeverities.filter((one) => words.includes(one));
  const counts = countSeverities(rows);
  const links = shownSeverities.map((severity) => {
    const isOn = asked.includes(severity);
    const next = shownSeverities.filter((one) => (one === severity ? !isOn : asked.includes(one)));
    const href = withParams("/", params, { severity: next.length === 0 ? null : next.join(","), page: null });
    const isZero = counts[severity] === 0;
    return html`<a
      href="${href}"
      ${isZero ? html` class="zero"` : nothing}${isOn ? html` aria-current="true"` : nothing}
      >${mark(severity, isZero ? "zero" : severity)} <b>${formatCount(counts[severity])}</b> ${severity}</a
    > `;
  });
  const isFiltered = asked.length > 0 || (params.get("q") ?? "").trim() !== "";
  const wanted = asked.length === 0 ? rows : rows.filter(({ severity }) => asked.includes(severity));
  const found = filterByWords(wanted, params, (row) => wordsOf(row, labelsOf(row.slug)));
  const numbers = new Set(open.map(({ incident }) => incident.number));
  const rest = isFiltered ? found : rows.filter(({ incident }) => incident === null || !numbers.has(incident));
  const page = pageOf(rest.toSorted(byUrgency), params.get("page"), pageSize);
  const groups = isFiltered || page.number > 1 ? [] : open.flatMap((one) => renderMembers(overview, one));
  const others = html`<b>No incident</b>, ${countOf(rest.length, "organization")}`;
  const body = [
    ...groups,
    ...(groups.length === 0 || rest.length === 0 ? [] : [renderGroup(others, rest)]),
    ...page.items.map((row) => renderRow(row, labelsOf(row.slug), nowMs)),
  ];
  const say = isFiltered
    ? `${formatCount(found.length)} of ${formatCount(rows.length)} match${found.length === 0 ? "" : `: ${severityWords(found)}`}`
    : `${countOf(rows.length, "organization")}, ${open.length > 0 ? "the worst first" : "those on hold first"}`;
  const windows = new Set(rows.map(({ windowHours }) => windowHours));
  const note = html`deaths in ${windows.size === 1 ? `the last ${[...windows][0]} h` : "each one's window"} · expected:
  from the days before`;
  const placeholder = "Filter: bank team=fraud gate=hold";
  return html`<nav class="counters" aria-label="Filter by severity">${links}</nav>
    ${renderFilter({ path: "/", params, placeholder, kept: ["severity"], beside: html`<span>${say}</span>` })}
    ${
      found.length === 0
        ? html`<p class="second">No organization matches. <a href="/">All organizations</a></p>`
        : renderTable("orgs", columns, body)
    }
    ${renderPager(page, (to) => withParams("/", params, { page: to === 1 ? null : String(to) }), note)}`;
}

/** An open incident with its worst. */
function renderMembers(
  { rows, labelsOf, nowMs }: Overview,
  { incident: { number } }: Overview["open"][number],
): Html[] {
  const own = rows.filter((row) => row.incident === number).toSorted(byExcess);
  if (own.length === 0) return [];
  const head = html`<a href="/incidents/${number}"><b>Incident ${number}</b></a
    >, ${countOf(own.length, "organization")}`;
  const left = own.length - shownOfIncident;
  const more = html`<tr class="more">
    <td class="sev" colspan="${columns.length}">
      <a href="/incidents/${number}?show=all">${formatCount(left)} more of incident ${number}</a>
    </td>
  </tr>`;
  const shown = own.slice(0, shownOfIncident).map((row) => renderRow(row, labelsOf(row.slug), nowMs));
  return [renderGroup(head, own), ...shown, ...(left > 0 ? [more] : [])];
}

function renderGroup(words: Html, some: readonly OverviewRow[]): Html {
  const held = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  return html`<tr class="group">
    <td class="sev" colspan="${columns.length - 1}">${words}: ${severityWords(some)}</td>
    <td class="gate">${held === 0 ? "" : `${formatCount(held)} on hold`}</td>
  </tr>`;
}

/** "11 fail, 1 unknown" */
function severityWords(some: readonly OverviewRow[]): string {
  const counts = countSeverities(some);
  const known = shownSeverities.filter((severity) => counts[severity] > 0);
  return known.map((severity) => `${formatCount(counts[severity])} ${severity}`).join(", ");
}

function byExcess(left: OverviewRow, right: OverviewRow): number {
  const excess = ({ count, expected }: OverviewRow): number => (count === null ? 0 : count - (expected ?? 0));
  return excess(right) - excess(left) || (left.slug < right.slug ? -1 : 1);
}

/** Worst first, then those on hold, then by ratio. */
function byUrgency(left: OverviewRow, right: OverviewRow): number {
  return (
    compareSeverity(right.severity, left.severity) ||
    Number(right.heldSinceMs !== null) - Number(left.heldSinceMs !== null) ||
    (right.ratio ?? 0) - (left.ratio ?? 0) ||
    (left.slug < right.slug ? -1 : 1)
  );
}

/** What the filter looks at. */
function wordsOf(
  { slug, severity, state, others, heldSinceMs }: OverviewRow,
  labels: Readonly<Record<string, string>>,
): string {
  const own = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const gate = heldSinceMs === null ? "gate=open" : "gate=hold";
  return [slug, severity, state ?? "", gate, ...others.map(({ check }) => check), ...own].join(" ");
}

function renderRow(row: OverviewRow, labels: Readonly<Record<string, string>>, nowMs: number): Html {
  const { slug, severity, count, expected, others, heldSinceMs, state, lateMs, isWaiting } = row;
  const isHot = severity === "fail" || severity === "warn";
  const shown = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const notes = [
    ...others.map(({ check, severity: of }) => `${check} ${of}`),
    ...(state === null ? [] : [state]),
    ...(isWaiting ? ["waits for its first run"] : []),
  ];
  const gate =
    heldSinceMs === null
      ? html`<span class="second">allowed</span>`
      : html`on hold since ${renderTime(heldSinceMs, nowMs)}`;
  const late =
    lateMs === null
      ? nothing
      : html`<span class="under nowrap marked">${mark("warn")}late ${durationText(lateMs)}</span>`;
  return html`<tr id="org-${slug}" ${isHot ? html` class="bad"` : nothing}>
    <td class="sev">${severityWord(severity)}</td>
    <th scope="row">
      <a href="/o/${encodeURIComponent(slug.toWellFormed())}">${slug}</a
      >${notes.length === 0 ? nothing : html`<span class="under">${notes.join(", ")}</span>`}
    </th>
    <td class="wide quiet">${shown.join(" · ")}</td>
    <td class="n">${isHot ? html`<b>${formatCount(count)}</b>` : formatCount(count)}</td>
    <td class="n second" data-name="of">${formatExpected(expected)}</td>
    <td class="n ratio ${severity}">${formatRatioCell(row)}</td>
    <td class="gate">${gate}${late}</td>
  </tr>`;
}
