import { swapPart } from "./swap.ts";

/** Filters the rows of a listing that is all in the document, by words: each must stand in a row. */
export function startListings(): void {
  document.addEventListener("input", (event) => {
    const input = event.target as Element;
    const form = input.closest<HTMLElement>("form[data-filter]");
    if (input instanceof HTMLInputElement && form !== null) filterListing(form.dataset["filter"] ?? "", input.value);
    const search = input.closest<HTMLFormElement>("form[data-search]");
    if (search !== null) searchSoon(search);
  });
  document.addEventListener("submit", (event) => {
    if ((event.target as Element).matches("form[data-filter], form[data-search]")) event.preventDefault();
  });
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
