import { formatCount, formatExpected, formatRatio } from "../../../base/numbers.ts";
import { compareSeverity, type Severity } from "../../../contract/severity.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { Overview, OverviewRow } from "../../read/overview.ts";
import { mark, severityWord, shownSeverities } from "../marks.ts";
import {
  filterByWords,
  renderFilter,
  pageOf,
  renderPager,
  renderTable,
  withParams,
  type Column,
  type PageOf,
} from "../table.ts";
import { countSeverities } from "./headline.ts";
import { countOf, durationText } from "../../../words/numbers.ts";

const pageSize = 100;
// So many members of each open incident are shown; the rest is on its page.
const shownOfIncident = 8;

/** What the query of the overview asks for. */
interface Asked {
  readonly severities: readonly Severity[];
  readonly text: string;
}

function askedOf(params: URLSearchParams): Asked {
  const severities = (params.get("severity") ?? "").split(",");
  return {
    severities: shownSeverities.filter((one) => severities.includes(one)),
    text: (params.get("q") ?? "").trim(),
  };
}

/** Renders four links that filter, and their proportions. */
export function renderCounters(rows: readonly OverviewRow[], params: URLSearchParams): Html {
  const counts = countSeverities(rows);
  const asked = askedOf(params).severities;
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
  return html`<nav class="counters" aria-label="Filter by severity">${links}</nav>
    ${renderStrip(counts, rows.length)}`;
}

function renderStrip(counts: Readonly<Record<Severity, number>>, total: number): Html {
  if (total === 0) return nothing;
  const fills = {
    fail: html`fill="var(--fail)"`,
    warn: html`fill="url(#p-warn)"`,
    unknown: html`fill="url(#p-unknown)"`,
    ok: html`stroke="var(--ok)"`,
  };
  let at = 0;
  const parts = shownSeverities.flatMap((severity) => {
    if (counts[severity] === 0) return [];
    const width = (counts[severity] / total) * 100;
    const [x, w] = [Math.round(at * 100) / 100, Math.round(width * 100) / 100];
    at += width;
    const rule = x === 0 ? nothing : html`<rect fill="var(--page)" x="${x}%" width="2" height="8" />`;
    return [
      html`<rect
          ${fills[severity]}
          x="${x}%"
          y="${severity === "ok" ? 0.5 : 0}"
          width="${w}%"
          height="${severity === "ok" ? 7 : 8}"
        />${rule}`,
    ];
  });
  return html`<svg class="strip" aria-hidden="true">${parts}</svg>`;
}

const columns: readonly Column[] = [
  { name: "Severity", kind: "sev" },
  { name: "Organization", kind: "name" },
  { name: "Labels", kind: "labels wide" },
  { name: "Deaths", kind: "n" },
  { name: "Expected", kind: "n" },
  { name: "Ratio", kind: "n" },
  { name: "Takedowns", kind: "gate" },
];

/** A part of the table: an incident with its worst, or the others. */
interface Part {
  readonly head: Html | null;
  readonly rows: readonly OverviewRow[];
  readonly more: Html;
}

/** Which organizations a query shows. */
export interface Layout {
  readonly isFiltered: boolean;
  /** All that match. */
  readonly found: readonly OverviewRow[];
  readonly parts: readonly Part[];
  /** Those in no incident, or with a filter all that match. */
  readonly page: PageOf<OverviewRow>;
}

/** Renders the filter and the table: open incidents with their worst, then the others, shut gates first. */
export function renderOrganizations(
  { rows, labelsOf, nowMs, open }: Overview,
  params: URLSearchParams,
  { isFiltered, found, parts, page }: Layout,
): Html {
  const counts = countSeverities(found);
  const sums = shownSeverities.filter((one) => counts[one] > 0).map((one) => `${formatCount(counts[one])} ${one}`);
  const say = isFiltered
    ? `${formatCount(found.length)} of ${formatCount(rows.length)} match${sums.length === 0 ? "" : `: ${sums.join(", ")}`}`
    : `${countOf(rows.length, "organization")}, ${open.length > 0 ? "the worst first" : "those on hold first"}`;
  const body = parts.flatMap(({ head, rows: own, more }) => [
    ...(head === null ? [] : [head]),
    ...own.map((row) => renderRow(row, labelsOf(row.slug), nowMs)),
    ...(more.html === "" ? [] : [more]),
  ]);
  const windows = new Set(rows.map(({ windowHours }) => windowHours));
  const [hours] = windows;
  const note = html`deaths in ${windows.size === 1 ? `the last ${hours} h` : "each one's window"} · expected: from the
  days before`;
  return html`${renderFilter({
    path: "/",
    params,
    placeholder: "Filter: bank team=fraud gate=hold",
    kept: ["severity"],
    beside: html`<span>${say}</span>`,
  })}
  ${
    found.length === 0
      ? html`<p class="second">No organization matches. <a href="/">All organizations</a></p>`
      : renderTable("orgs", columns, body)
  }
  ${renderPager(page, (to) => withParams("/", params, { page: to === 1 ? null : String(to) }), note)}`;
}

/** Finds and orders what the query asks for. */
export function layOut(overview: Overview, params: URLSearchParams): Layout {
  const { severities, text } = askedOf(params);
  const { rows } = overview;
  const isFiltered = text !== "" || severities.length > 0;
  const wanted = rows.filter(({ severity }) => severities.length === 0 || severities.includes(severity));
  const found = filterByWords(wanted, params, (row) => wordsOf(row, overview.labelsOf(row.slug)));
  const rest = (isFiltered ? found : outsideIncidents(overview)).toSorted(byUrgency);
  const page = pageOf(rest, params.get("page"), pageSize);
  const parts = isFiltered ? [{ head: null, rows: page.items, more: nothing }] : partsOf(overview, rest, page);
  return { isFiltered, found, parts, page };
}

function partsOf(overview: Overview, rest: readonly OverviewRow[], page: PageOf<OverviewRow>): readonly Part[] {
  const groups = page.number > 1 ? [] : overview.open.flatMap((facts) => groupOf(overview, facts));
  const head =
    groups.length === 0 ? null : renderGroup(html`<b>No incident</b>, ${countOf(rest.length, "organization")}`, rest);
  return [...groups, { head: page.items.length === 0 ? null : head, rows: page.items, more: nothing }];
}

function groupOf({ rows }: Overview, { incident }: Overview["open"][number]): Part[] {
  const own = rows.filter((row) => row.incident === incident.number).toSorted(byExcess);
  if (own.length === 0) return [];
  const { number } = incident;
  const left = own.length - shownOfIncident;
  return [
    {
      head: renderGroup(
        html`<a href="/incidents/${number}"><b>Incident ${number}</b></a
          >, ${countOf(own.length, "organization")}`,
        own,
      ),
      rows: own.slice(0, shownOfIncident),
      more:
        left <= 0
          ? nothing
          : html`<tr class="more">
              <td class="sev" colspan="${columns.length}">
                <a href="/incidents/${number}?show=all">${formatCount(left)} more of incident ${number}</a>
              </td>
            </tr>`,
    },
  ];
}

/** The rows that no group has. */
function outsideIncidents({ rows, open }: Overview): readonly OverviewRow[] {
  const numbers = new Set(open.map(({ incident }) => incident.number));
  return rows.filter(({ incident }) => incident === null || !numbers.has(incident));
}

function excess({ count, expected }: OverviewRow): number {
  return count === null ? 0 : count - (expected ?? 0);
}

function byExcess(left: OverviewRow, right: OverviewRow): number {
  return excess(right) - excess(left) || (left.slug < right.slug ? -1 : 1);
}

/** Worst first, then shut gates, then by ratio. */
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

function renderGroup(words: Html, some: readonly OverviewRow[]): Html {
  const counts = countSeverities(some);
  const sum = (value: (row: OverviewRow) => number | null): number =>
    some.reduce((total, row) => total + (value(row) ?? 0), 0);
  const [count, expected] = [sum((row) => row.count), sum((row) => row.expected)];
  const shut = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  const marks = shownSeverities
    .filter((severity) => counts[severity] > 0)
    .map(
      (severity) =>
        html`<span>${mark(severity)} ${formatCount(counts[severity])}<span class="sr"> ${severity}</span></span>`,
    );
  return html`<tr class="group">
    <td class="sev" colspan="2">${words} <span class="marks">${marks}</span></td>
    <td class="wide"></td>
    <td class="n"><b>${formatCount(count)}</b></td>
    <td class="n" data-name="of">${formatExpected(expected)}</td>
    <td class="n ratio">${expected === 0 ? "" : formatRatio(count / expected)}</td>
    <td class="gate">${shut === 0 ? "" : `${formatCount(shut)} on hold`}</td>
  </tr>`;
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
