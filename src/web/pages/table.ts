import { formatCount, formatRatio, none } from "../../base/numbers.ts";
import type { Severity } from "../../contract/severity.ts";
import { html, nothing, renderTime, type Html } from "./html.ts";

/** A column. Classes in `kind`: `name` heads the row, `n` aligns right, `named` repeats its name on narrow pages. */
export type Column<Row> = readonly [name: string, kind: string, cell: (row: Row) => Html | string | number];

/** Rows under an optional heading. */
export interface RowGroup<Row> {
  readonly head?: Html | undefined;
  readonly rows: readonly Row[];
}

/** Renders a table; `kind` has the classes for narrow pages. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], kind = ""): Html {
  return renderGroups(columns, [{ rows }], kind);
}

/** Renders groups of rows, each row with its `attributes`; empty groups are left out. */
export function renderGroups<Row>(
  columns: readonly Column<Row>[],
  groups: readonly RowGroup<Row>[],
  kind: string,
  attributes: (row: Row) => Html = () => nothing,
): Html {
  const hasTicks = columns[0]?.[1].startsWith("check") === true;
  const tick = html`<td class="check wide"><input type="checkbox" data-group aria-label="Tick these" hidden /></td>`;
  const renderHead = (head: Html): Html =>
    html`<tr class="group">
      ${hasTicks ? tick : nothing}
      <td class="sev" colspan="${columns.length - Number(hasTicks)}">${head}</td>
    </tr>`;
  const renderCell = ([name, classes, cell]: Column<Row>, row: Row): Html => {
    const kinds = classes.split(" ");
    if (kinds.includes("name")) return html`<th scope="row">${cell(row)}</th>`;
    const label = kinds.includes("named") ? html` data-name="${name.toLowerCase()}"` : nothing;
    return html`<td class="${classes}" ${label}>${cell(row)}</td>`;
  };
  const renderRow = (row: Row): Html =>
    html`<tr ${attributes(row)}>
      ${columns.map((column) => renderCell(column, row))}
    </tr>`;
  return html`<div class="table ${kind}">
    <table>
      <thead>
        <tr>
          ${columns.map(([name, classes]) => {
            const isHidden = /\b(?:act|bar|check)\b/.test(classes);
            return html`<th scope="col" class="${classes}"><span class="${isHidden ? "sr" : ""}">${name}</span></th>`;
          })}
        </tr>
      </thead>
      ${groups
        .filter(({ rows }) => rows.length > 0)
        .map(
          ({ head, rows }) =>
            html`<tbody>
              ${head === undefined ? nothing : renderHead(head)}${rows.map(renderRow)}
            </tbody>`,
        )}
    </table>
  </div>`;
}

export function organizationPath(slug: string): string {
  return `/o/${encodeURIComponent(slug.toWellFormed())}`;
}

export function organizationLink(slug: string): Html {
  return html`<a href="${organizationPath(slug)}">${slug}</a>`;
}

type Deaths = Readonly<Record<"count" | "expected" | "ratio", number | null>>;

/** Renders 459× or 3.1×, in the colour of `severity`; "from 0": deaths came and none were expected. */
export function renderRatio({ count, expected, ratio }: Deaths, severity: Severity | "" = ""): Html {
  const isKnown = ratio !== null && Number.isFinite(ratio);
  const text = isKnown ? formatRatio(ratio) : expected === 0 && (count ?? 0) > 0 ? "from 0" : none;
  return html`<span class="severity ${severity}">${text}</span>`;
}

/** Renders whether takedowns are on hold, and since when. */
export function renderGate(heldSinceMs: number | null, nowMs: number): Html {
  return heldSinceMs === null
    ? html`<span class="second">allowed</span>`
    : html`on hold since ${renderTime(heldSinceMs, nowMs)}`;
}

/** Renders a section; `beside` follows its heading. */
export function renderSection(title: string, content: Html, { beside = nothing, id }: SectionParts = {}): Html {
  return html`<section class="part" ${id === undefined ? nothing : html` id="${id}"`}>
    <header>
      <h2>${title}</h2>
      ${beside}
    </header>
    ${content}
  </section>`;
}

interface SectionParts {
  readonly beside?: Html;
  readonly id?: string;
}

/** Renders the filter (`?q=`) of the list at `path`; `found` says how many rows match. */
export function renderFilter(path: string, params: URLSearchParams, placeholder: string, found: string): Html {
  const hidden = [...params].map(([name, value]) =>
    name === "q" || name === "page" ? null : html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form
    class="tools"
    role="search"
    action="${path}"
    hx-get="${path}"
    hx-trigger="input delay:150ms, submit"
    hx-target="#main"
    hx-select="#main"
    hx-swap="outerMorph"
    hx-replace-url="true"
    hx-sync="this:replace"
  >
    <label class="filter"
      ><span class="sr">Filter</span
      ><input
        type="search"
        name="q"
        id="filter"
        value="${params.get("q") ?? ""}"
        placeholder="${placeholder}"
        autocomplete="off"
        spellcheck="false" /></label
    >${hidden}
    <p>${found}</p>
  </form>`;
}

/** Returns the items whose text has every word of `?q=`. */
export function filterByWords<Item>(
  items: readonly Item[],
  params: URLSearchParams,
  textOf: (item: Item) => string,
): readonly Item[] {
  const words = (params.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter((item) => {
    const text = textOf(item).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Renders "no match" with a link to all items. */
export function renderNoMatch(what: string, path: string, params: URLSearchParams): Html {
  return html`<p class="second">
    No ${what} matches «${params.get("q") ?? ""}». <a href="${withParams(path, params, { q: null })}">All of them</a>
  </p>`;
}

/** Returns the page of `?page=`, or the nearest one; `start` is the index of its first item. */
export function pageOf<Item>(items: readonly Item[], params: URLSearchParams, size: number) {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const number = Math.min(Math.max(1, Math.trunc(Number(params.get("page") ?? 1)) || 1), pages);
  const start = (number - 1) * size;
  return { items: items.slice(start, start + size), number, pages, total: items.length, start };
}

/** Renders "1–100 of 180 Next" under a list. */
export function renderPager<Item>(
  page: ReturnType<typeof pageOf<Item>>,
  path: string,
  params: URLSearchParams,
  note = nothing,
): Html {
  const { items, number, pages, total, start } = page;
  const link = (to: number, words: string): Html =>
    html` <a href="${withParams(path, params, { page: to === 1 ? null : String(to) })}">${words}</a>`;
  return html`<p class="pager">
    <span>${note}</span>
    ${
      pages === 1
        ? nothing
        : html`<span
            >${formatCount(start + 1)}&ndash;${formatCount(start + items.length)} of
            ${formatCount(total)}${number > 1 ? link(number - 1, "Previous") : nothing}${
              number < pages ? link(number + 1, "Next") : nothing
            }</span
          >`
    }
  </p>`;
}

/** Returns `path` with changed parameters; null removes one. */
export function withParams(
  path: string,
  params: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  const query = next.toString();
  return query === "" ? path : `${path}?${query}`;
}
