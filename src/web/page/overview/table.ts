import { formatCount } from "../../../base/numbers.ts";
import { countOf, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { pickCell } from "../parts/picking.ts";
import { sameWindow } from "./fleet.ts";
import { renderGroupBy, renderGroups } from "./groups.ts";
import { defaultDir, renderRow, rowWords, writeQuery, type RowData, type RowQuery, type SortKey } from "./row.ts";

/** Rows on a page of the server; a browser with JavaScript has them all. */
export const pageSize = 100;

const columns: readonly { readonly key: SortKey | null; readonly name: string; readonly css: string }[] = [
  { key: "severity", name: "Severity", css: "c-sev" },
  { key: "slug", name: "Organization", css: "c-org" },
  { key: "count", name: "Count", css: "num c-count" },
  { key: "expected", name: "Expected", css: "num c-exp" },
  { key: "ratio", name: "Ratio", css: "num c-ratio" },
  { key: null, name: "Last 7 days", css: "c-spark" },
  { key: "began", name: "Began", css: "num c-began" },
  { key: "next", name: "Next run", css: "num c-next" },
  { key: "alert", name: "Alert", css: "c-alert" },
];

/** Renders the head of the table: links, so that it sorts without JavaScript too. */
export function renderHead(query: RowQuery): Html {
  const cells = columns.map(({ key, name, css }) => {
    if (key === null) return html`<th scope="col" class="${css}">${name}</th>`;
    const isOn = query.sort === key;
    const dir = isOn ? (query.dir === "asc" ? "desc" : "asc") : defaultDir(key);
    const sorted = !isOn ? nothing : html` aria-sort="${query.dir === "asc" ? "ascending" : "descending"}"`;
    const arrow = !isOn
      ? nothing
      : html` <span class="arrow" aria-hidden="true">${query.dir === "asc" ? "↑" : "↓"}</span>`;
    return html`<th scope="col" class="${css}" ${sorted}>
      <a href="${writeQuery({ ...query, sort: key, dir })}" data-sort="${key}">${name}${arrow}</a>
    </th>`;
  });
  return html`<tr>
    ${pickCell("th", html`<input type="checkbox" data-pick-all aria-label="Select all that the filter shows" />`)}${cells}
  </tr>`;
}

/** Renders what the rows are, in words: how many, in which order, what is counted. */
export function renderNote(found: number, all: number, query: RowQuery): Html {
  const order =
    query.sort === "severity" && query.dir === "desc"
      ? "worst first"
      : `by ${query.sort === "next" ? "next run" : query.sort}`;
  const many =
    found === all ? countOf(all, "organization") : `${formatCount(found)} of ${countOf(all, "organization")}`;
  return html`${many}, ${order}`;
}

/** Renders what count and expected mean here. */
export function renderMeaning(rows: readonly RowData[]): Html {
  const window = sameWindow(rows);
  const what = window === null ? "deaths in each one's window" : `deaths in the last ${window}${nbsp}h`;
  return html`count: ${what} · expected: from the days before`;
}

/** Renders the whole part below the counters. */
export function renderTable(
  rows: readonly RowData[],
  found: readonly RowData[],
  query: RowQuery,
  page: number,
  nowMs: number,
): Html {
  if (rows.length === 0) return nothing;
  const start = (page - 1) * pageSize;
  const shown = found.slice(start, start + pageSize);
  const hidden =
    query.severities.length === 0
      ? nothing
      : html`<input type="hidden" name="severity" value="${query.severities.join(",")}" />`;
  const order = [
    query.sort === "severity" ? nothing : html`<input type="hidden" name="sort" value="${query.sort}" />`,
    query.dir === defaultDir(query.sort) ? nothing : html`<input type="hidden" name="dir" value="${query.dir}" />`,
    query.group === undefined ? nothing : html`<input type="hidden" name="group" value="${query.group}" />`,
  ];
  const isGrouped = query.group !== undefined;
  const options = columns.filter(({ key }) => key !== null);
  return html`<div class="tools">
      <form class="filter" role="search" action="/" method="get">
        <label class="sr" for="q">Filter by words: slug, label=value, severity, state</label
        ><input
          id="q"
          name="q"
          type="search"
          placeholder="Filter: bank team=fraud fail"
          value="${query.text}"
          autocomplete="off"
          spellcheck="false"
        /><kbd aria-hidden="true">/</kbd>${hidden}${order}
      </form>
      <label class="sorter"
        ><span>Sort by</span>
        <select id="sorter">
          ${options.map(({ key, name }) => html`<option value="${key}" ${key === query.sort ? html` selected` : nothing}>${name}</option>`)}
        </select></label
      >
      <p class="note" id="note">${renderNote(found.length, rows.length, query)}</p>
      <div class="groupby" id="groupby">${renderGroupBy(rows, query)}</div>
    </div>
    <table class="fleet" id="fleet" aria-rowcount="${found.length + 1}" aria-labelledby="note">
      <thead>
        ${renderHead(query)}
      </thead>
      <tbody id="rows">
        ${isGrouped ? renderGroups(found, query, nowMs) : shown.map((row, index) => renderRow(row, nowMs, start + index + 1))}
      </tbody>
    </table>
    <div id="away">
      ${found.length === 0 || rowWords(rows, query).problems.length > 0 ? renderAway(query, rowWords(rows, query).problems) : nothing}
    </div>
    ${isGrouped ? nothing : renderPages(found.length, page, query)}
    <p class="hint" id="meaning">${renderMeaning(rows)}</p>`;
}

/** No row is left by the filter. */
export function renderAway(query: RowQuery, problems: readonly string[] = []): Html {
  if (problems.length > 0)
    return html`<p class="away">${problems.join(" ")} <a href="/" data-clear>Clear the filter</a>.</p>`;
  const what = query.text.trim() === "" ? `is ${query.severities.join(" or ")}` : `matches «${query.text.trim()}»`;
  return html`<p class="away">No organization ${what}. <a href="/" data-clear>Clear the filter</a>.</p>`;
}

function renderPages(found: number, page: number, query: RowQuery): Html {
  const pages = Math.ceil(found / pageSize);
  if (pages <= 1) return nothing;
  return html`<nav class="pages" id="pages" aria-label="Pages">
    ${page > 1 ? html`<a rel="prev" href="${writeQuery(query, page - 1)}">&lsaquo; previous</a>` : nothing}
    <span>page ${page} of ${pages}</span>
    ${page < pages ? html`<a rel="next" href="${writeQuery(query, page + 1)}">next &rsaquo;</a>` : nothing}
  </nav>`;
}
