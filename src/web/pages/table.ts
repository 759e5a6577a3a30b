import { formatCount } from "../../base/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";

/** A column of a table. */
export interface Column {
  readonly name: string;
  /** Classes of its cells [none]. `n` stands at the right. */
  readonly kind?: string;
  /** Its name is for readers of text only [no]. */
  readonly isHidden?: boolean;
}

/** Renders a table of rows; `kind` are the classes that decide how it looks where there is little room. */
export function renderTable(kind: string, columns: readonly Column[], rows: readonly Html[], caption?: string): Html {
  const heads = columns.map(
    ({ name, kind: classes = "", isHidden = false }) =>
      html`<th scope="col" class="${classes}">${isHidden ? html`<span class="sr">${name}</span>` : name}</th>`,
  );
  return html`<div class="table ${kind}">
    <table>
      ${
        caption === undefined
          ? nothing
          : html`<caption class="sr">
              ${caption}
            </caption>`
      }
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Renders a section with its head; `beside` stands after the head. */
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

/** What a list is filtered by. */
export interface FilterParts {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly placeholder: string;
  /** Parameters that a new text keeps. */
  readonly kept?: readonly string[];
  /** Stands behind the field: how many match, and what else can be chosen. */
  readonly beside: Html;
}

/** Renders the field that filters a list by `?q=`, while one types where scripts run. */
export function renderFilter({ path, params, placeholder, kept = [], beside }: FilterParts): Html {
  const hidden = kept.flatMap((name) => {
    const value = params.get(name);
    return value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`];
  });
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
    >${hidden}${beside}
  </form>`;
}

/** Returns the items that have each word of `?q=` in their text. */
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

/** Says that the filter leaves nothing, with the way back. */
export function renderNoMatch(what: string, path: string, params: URLSearchParams): Html {
  return html`<p class="second">
    No ${what} matches «${params.get("q") ?? ""}». <a href="${withParams(path, params, { q: null })}">All of them</a>
  </p>`;
}

/** Renders a choice between links; the chosen one is marked. */
export function renderSwitch(choices: readonly Choice[], label: string): Html {
  return html`<nav class="switch row" aria-label="${label}">
    ${choices.map(
      ({ words, href, isChosen }) =>
        html`<a href="${href}" ${isChosen ? html` aria-current="true"` : nothing}>${words}</a> `,
    )}
  </nav>`;
}

export interface Choice {
  readonly words: string;
  readonly href: string;
  readonly isChosen: boolean;
}

/** The rows of one page of a list. */
export interface PageOf<Item> {
  readonly items: readonly Item[];
  /** Counts from 1. */
  readonly number: number;
  readonly pages: number;
  readonly total: number;
  /** Index of the first item over all, from 0. */
  readonly start: number;
}

/** Returns the page that `?page=` asks for, or the nearest that there is. */
export function pageOf<Item>(items: readonly Item[], asked: string | null, size: number): PageOf<Item> {
  const pages = Math.max(1, Math.ceil(items.length / size));
  const number = Math.min(Math.max(1, Math.trunc(Number(asked ?? 1)) || 1), pages);
  const start = (number - 1) * size;
  return { items: items.slice(start, start + size), number, pages, total: items.length, start };
}

/** Renders "1–100 of 180 Next" under a list of several pages; `hrefOf` gives the address of a page. */
export function renderPager<Item>(page: PageOf<Item>, hrefOf: (number: number) => string, note = nothing): Html {
  const { items, number, pages, total, start } = page;
  const link = (to: number, words: string): Html => html` <a href="${hrefOf(to)}">${words}</a>`;
  return html`<p class="pager">
    <span>${note}</span>
    ${
      pages === 1
        ? nothing
        : html`<span
            >${formatCount(start + 1)}&ndash;${formatCount(start + items.length)} of
            ${formatCount(total)}${number > 1 ? link(number - 1, "Previous") : nothing}${number < pages ? link(number + 1, "Next") : nothing}</span
          >`
    }
  </p>`;
}

/** Returns the query of an address with some of its parameters set, or taken out (null). */
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
