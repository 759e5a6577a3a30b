import { swapPart } from "./swap.ts";

/** Filters the rows of a listing that is all in the document, by words: each must stand in a row. */
export function startListings(): void {
  document.addEventListener("input", (event) => {
    const input = event.target as Element;
    const form = input.closest<HTMLElement>("form[data-filter]");
    if (input instanceof HTMLInputElement && form !== null) {
      filterListing(form.dataset["filter"] ?? "", input.value);
      keepSoon(input.value);
    }
    const search = input.closest<HTMLFormElement>("form[data-search]");
    if (search !== null) searchSoon(search);
  });
  document.addEventListener("submit", (event) => {
    if ((event.target as Element).matches("form[data-filter], form[data-search]")) event.preventDefault();
  });
  addEventListener("flatline-swap", restoreFilter);
  // After a swap by a link the address is written: it holds what the rows are to be filtered by.
  addEventListener("flatline-page", restoreFilter);
  restoreFilter();
}

/** Filters as the address says: after a load, a way back, or another order of the same rows. */
function restoreFilter(): void {
  const form = document.querySelector<HTMLElement>("form[data-filter]");
  const input = form?.querySelector("input");
  if (form === null || input === null || input === undefined) return;
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  if (input.value !== "") filterListing(form.dataset["filter"] ?? "", input.value);
  keepInLinks(input.value);
}

/** Writes the filter into the address, and into the links that show the same rows in another order. */
function keepSoon(text: string): void {
  clearTimeout(pending.timer);
  pending.timer = setTimeout(() => {
    history.replaceState(null, "", withFilter(location.href, text));
    keepInLinks(text);
  }, searchAfterMs);
}

function keepInLinks(text: string): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".tools nav a[data-swap]"))
    link.href = withFilter(link.href, text);
}

function withFilter(href: string, text: string): string {
  const address = new URL(href);
  if (text.trim() === "") address.searchParams.delete("q");
  else address.searchParams.set("q", text);
  return address.href;
}

const searchAfterMs = 150;
const pending: { timer: ReturnType<typeof setTimeout> | undefined } = { timer: undefined };

/** Asks the server for the part of the page that a filter in words is about, and keeps it in the address. */
function searchSoon(form: HTMLFormElement): void {
  clearTimeout(pending.timer);
  pending.timer = setTimeout(() => {
    const params = new URLSearchParams();
    for (const [name, value] of new FormData(form))
      if (typeof value === "string" && value !== "") params.set(name, value);
    const query = params.size === 0 ? "" : `?${params.toString()}`;
    history.replaceState(null, "", `${location.pathname}${query}`);
    void swapPart(location.href, [form.dataset["search"] ?? "", "counters-part"]);
  }, searchAfterMs);
}

function filterListing(name: string, text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const table = document.getElementById(name);
  if (table === null) return;
  let shown = 0;
  for (const body of table.querySelectorAll("tbody")) {
    let inBody = 0;
    for (const row of body.querySelectorAll<HTMLElement>("tr[data-words]")) {
      const has = row.dataset["words"] ?? "";
      row.hidden = !words.every((word) => has.includes(word));
      if (!row.hidden) inBody++;
    }
    body.hidden = inBody === 0;
    shown += inBody;
  }
  const away = document.querySelector<HTMLElement>(`[data-away="${name}"]`);
  if (away === null) return;
  away.hidden = shown > 0;
  away.textContent = shown > 0 ? "" : `Nothing matches «${text.trim()}».`;
}
