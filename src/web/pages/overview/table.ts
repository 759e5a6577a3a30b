import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { compareSeverity, type Severity } from "../../../contract/severity.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { html, nothing, mark, severityWord, shownSeverities, type Html } from "../html.ts";
import type { OrganizationRow, Overview } from "../../read/overview.ts";
import {
  filterByWords,
  organizationLink,
  pageOf,
  renderFilter,
  renderGate,
  renderGroups,
  renderPager,
  renderRatio,
  withParams,
  type Column,
  type RowGroup,
} from "../table.ts";
import { countSeverities } from "./headline.ts";

const pageSize = 100;
// Further members are on the incident's page.
const shownOfIncident = 8;

/** Renders the severities as filters with their counts, and the organizations, the worst first. */
export function renderOrganizations(overview: Overview, params: URLSearchParams): Html {
  const { rows, open } = overview;
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
  const found = filterByWords(wanted, params, wordsOf);
  const numbers = new Set(open.map(({ incident }) => incident.number));
  const rest = isFiltered ? found : rows.filter(({ incident }) => incident === null || !numbers.has(incident));
  const page = pageOf(rest.toSorted(byUrgency), params, pageSize);
  const groups = isFiltered || page.number > 1 ? [] : open.map((one) => membersOf(overview, one));
  const others = html`<b>No incident</b>, ${countOf(rest.length, "organization")}: ${stateWords(rest)}`;
  const say = isFiltered
    ? `${formatCount(found.length)} of ${formatCount(rows.length)} match` +
      (found.length === 0 ? "" : `: ${stateWords(found)}`)
    : `${countOf(rows.length, "organization")}, ${open.length > 0 ? "the worst first" : "those on hold first"}`;
  const windows = new Set(rows.map(({ windowHours }) => windowHours));
  const hasLabels = rows.some(({ labels }) => Object.keys(labels).length > 0);
  const note = html`deaths in ${windows.size === 1 ? `the last ${[...windows][0]} h` : "each one's window"} · expected:
  from the days before`;
  return html`<nav class="counters" aria-label="Filter by severity">${links}</nav>
    ${renderFilter("/", params, `Filter: bank ${hasLabels ? "team=fraud " : ""}gate=hold`, say)}
    ${
      found.length === 0
        ? html`<p class="second">No organization matches. <a href="/">All organizations</a></p>`
        : renderGroups(
            columnsOf(overview.nowMs).filter(([name]) => hasLabels || name !== "Labels"),
            [...groups, { rows: page.items, head: groups.length === 0 ? undefined : others }],
            "orgs",
            ({ slug, severity }) => html`id="org-${slug}" ${isHot(severity) ? html` class="bad"` : nothing}`,
          )
    }
    ${renderPager(page, "/", params, note)}`;
}

/** Returns an open incident's members with the most excess. */
function membersOf({ rows }: Overview, { incident: { number } }: Overview["open"][number]): RowGroup<OrganizationRow> {
  const own = rows.filter((row) => row.incident === number).toSorted(byExcess);
  const many = own.length > shownOfIncident ? `the ${shownOfIncident} worst of ` : "";
  const head = html`<a href="/incidents/${number}?show=all"><b>Incident ${number}</b></a
    >, ${many}${countOf(own.length, "organization")}: ${stateWords(own)}`;
  return { head, rows: own.slice(0, shownOfIncident) };
}

/** Returns words such as "11 fail, 1 unknown, 3 on hold". */
function stateWords(some: readonly OrganizationRow[]): string {
  const counts = countSeverities(some);
  const held = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  const known = shownSeverities.filter((severity) => counts[severity] > 0);
  const words = known.map((severity) => `${formatCount(counts[severity])} ${severity}`);
  return [...words, ...(held === 0 ? [] : [`${formatCount(held)} on hold`])].join(", ");
}

function byExcess(left: OrganizationRow, right: OrganizationRow): number {
  const excess = ({ count, expected }: OrganizationRow): number => (count === null ? 0 : count - (expected ?? 0));
  return excess(right) - excess(left) || (left.slug < right.slug ? -1 : 1);
}

/** The worst first, then those on hold, then by ratio. */
function byUrgency(left: OrganizationRow, right: OrganizationRow): number {
  return (
    compareSeverity(right.severity, left.severity) ||
    Number(right.heldSinceMs !== null) - Number(left.heldSinceMs !== null) ||
    (right.ratio ?? 0) - (left.ratio ?? 0) ||
    (left.slug < right.slug ? -1 : 1)
  );
}

/** Returns the text that the filter searches. */
function wordsOf({ slug, severity, state, others, heldSinceMs, labels }: OrganizationRow): string {
  const gate = heldSinceMs === null ? "gate=open" : "gate=hold";
  return [slug, severity, state ?? "", gate, ...others.map(({ check }) => check), ...pairWords(labels, "=")].join(" ");
}

function pairWords(labels: Readonly<Record<string, string>>, between: string): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}${between}${value}`);
}

function isHot(severity: Severity): boolean {
  return severity === "fail" || severity === "warn";
}

function columnsOf(nowMs: number): readonly Column<OrganizationRow>[] {
  return [
    ["Severity", "sev", ({ severity }) => severityWord(severity)],
    ["Organization", "name", renderName],
    ["Labels", "labels wide second", ({ labels }) => pairWords(labels, " ").join(" · ")],
    ["Deaths", "n", ({ count }) => formatCount(count)],
    ["Expected", "n second named", ({ expected }) => formatExpected(expected)],
    ["Ratio", "n ratio", (row) => renderRatio(row, row.severity)],
    ["Takedowns", "gate", (row) => html`${renderGate(row.heldSinceMs, nowMs)}${renderLate(row.lateMs)}`],
  ];
}

function renderName({ slug, others, state, isWaiting }: OrganizationRow): Html {
  const notes = [
    ...others.map(({ check, severity }) => `${check} ${severity}`),
    ...(state === null ? [] : [state]),
    ...(isWaiting ? ["waits for its first run"] : []),
  ];
  return html`${organizationLink(slug)}${
    notes.length === 0 ? nothing : html`<span class="under">${notes.join(", ")}</span>`
  }`;
}

function renderLate(lateMs: number | null): Html {
  if (lateMs === null) return nothing;
  return html`<span class="under nowrap marked">${mark("warn")}late ${durationText(lateMs)}</span>`;
}
