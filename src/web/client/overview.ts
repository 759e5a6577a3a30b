import { escapeUnseen } from "../../base/unseen-text.ts";
import { formatRatioCell } from "../parts/figures.ts";
import { overviewTitle, renderCounters, renderVerdict, worstOf, type FleetData } from "../page/overview/fleet.ts";
import { rowSeverities, type RowSeverity } from "../page/parts/marks.ts";
import {
  defaultDir,
  otherChecksText,
  readQuery,
  renderRow,
  rowWords,
  selectRows,
  shownSeverity,
  sortKeys,
  writeQuery,
  type RowData,
  type RowQuery,
} from "../page/overview/row.ts";
import { renderGroupBy, renderGroups, rowsOfGroup } from "../page/overview/groups.ts";
import { renderAway, renderHead, renderMeaning, renderNote } from "../page/overview/table.ts";
import { startPlace } from "./place.ts";
import { replaceHtml, showFrame, type PageChange, type Stream } from "./stream.ts";

/** A row that can be selected: an alert by its id, an organization by its slug. */
export interface Pickable {
  readonly id: string;
  readonly severity: string;
}

/** The overview as the stream and the keys steer it. */
export interface Overview {
  hello(): void;
  change(change: PageChange): void;
  toggle(severity: RowSeverity): void;
  clear(): void;
  move(by: number): void;
  /** The rows that the filter shows, drawn or not, or those of one group; null: another page is shown, or they are not there yet. */
  listed(group?: string): readonly Pickable[] | null;
}

// Fewer rows are all drawn: only then does a search of the browser find everything.
const windowFrom = 150;
const overscan = 12;
const writeAfterMs = 150;
const drawEveryMs = 2_000;
const sayEveryMs = 10_000;
const tickEveryMs = 5_000;

/** Takes over the table that the server drew. */
export function startOverview(stream: () => Stream): Overview | null {
  const body = document.querySelector<HTMLTableSectionElement>("tbody#rows");
  const table = document.getElementById("fleet");
  const search = document.querySelector<HTMLInputElement>("#q");
  if (body === null || table === null || search === null) return null;
  const rows = new Map<string, RowData>();
  const place = startPlace(() => table.isConnected);
  let fleet: FleetData | null = null;
  let query = readQuery(new URLSearchParams(location.search));
  let found: RowData[] = [];
  const lines = new Map<string, { readonly markup: string; readonly element: HTMLElement }>();
  for (const element of body.querySelectorAll<HTMLElement>("tr.row"))
    lines.set(element.dataset["slug"] ?? "", { markup: "", element });
  const pads = [pad(), pad()] as const;
  let rowHeight = 36;
  /** What is drawn while rows are grouped; empty: they are not. */
  let groups = "";
  let drawnMs = 0;
  let drawTimer: ReturnType<typeof setTimeout> | null = null;
  let writeTimer: ReturnType<typeof setTimeout> | undefined;
  const news = new Map<string, RowData>();
  let saidMs = Number.NEGATIVE_INFINITY;

  async function load(): Promise<void> {
    try {
      const response = await fetch("/rows.json");
      if (!response.ok) return;
      const all = (await response.json()) as PageChange;
      note(all.rows);
      rows.clear();
      for (const row of all.rows) rows.set(row.slug, row);
      fleet = all.fleet;
      showFrame(all);
      draw(true);
      place.restore();
    } catch {
      // The stream says that it is broken; what is shown stays.
    }
  }

  function note(next: readonly RowData[]): void {
    for (const row of next) {
      const before = rows.get(row.slug);
      if (before !== undefined && shownSeverity(before) !== shownSeverity(row)) news.set(row.slug, row);
    }
    say();
  }

  /** Announces changes to a screen reader, seldom enough to be borne. */
  function say(): void {
    const live = document.getElementById("live");
    if (live === null || news.size === 0) return;
    const waitMs = saidMs + sayEveryMs - performance.now();
    if (waitMs > 0) {
      setTimeout(say, waitMs);
      return;
    }
    saidMs = performance.now();
    const [first] = selectRows([...news.values()], { severities: [], text: "", sort: "severity", dir: "desc" });
    if (first === undefined) return;
    const isOther = shownSeverity(first) !== (first.severity ?? "unknown");
    const ratio = isOther ? `, ${otherChecksText(first)}` : first.ratio === null ? "" : `, ${formatRatioCell(first)}`;
    live.textContent = `${first.slug} is now ${shownSeverity(first)}${ratio}${news.size > 1 ? `; ${news.size - 1} more changed` : ""}`;
    news.clear();
  }

  /** Under the pointer and under the focus nothing moves: the rows keep their places until both are gone. */
  function isHeld(): boolean {
    return body !== null && (body.matches(":hover") || body.contains(document.activeElement));
  }

  function draw(isAsked: boolean): void {
    // Another page may have taken the place of this one.
    if (fleet === null || table === null || body === null || !table.isConnected) return;
    drawnMs = performance.now();
    const all = [...rows.values()];
    const next = selectRows(all, query);
    if (isAsked || !isHeld()) found = next;
    else found = found.flatMap(({ slug }) => rows.get(slug) ?? []);
    const nowMs = stream().now();
    replaceHtml(document.getElementById("verdict-part"), renderVerdict(all, fleet, nowMs).html);
    replaceHtml(document.getElementById("counters"), renderCounters(all, query).html);
    replaceHtml(table.querySelector("thead"), renderHead(query).html);
    replaceHtml(document.getElementById("note"), renderNote(found.length, all.length, query).html);
    replaceHtml(document.getElementById("meaning"), renderMeaning(all).html);
    replaceHtml(document.getElementById("groupby"), renderGroupBy(all, query).html);
    const { problems } = rowWords(all, query);
    const isAway = found.length === 0 || problems.length > 0;
    replaceHtml(document.getElementById("away"), isAway ? renderAway(query, problems).html : "");
    document.getElementById("pages")?.remove();
    document.title = escapeUnseen(overviewTitle(all, fleet));
    document.getElementById("favicon")?.setAttribute("href", `/assets/${worstOf(all)}.svg`);
    table.setAttribute("aria-rowcount", String(found.length + 1));
    const sorter = document.querySelector<HTMLSelectElement>("#sorter");
    if (sorter !== null) sorter.value = query.sort;
    drawRows();
    sessionStorage.setItem("flatline-order", JSON.stringify(found.map(({ slug }) => slug)));
  }

  function drawRows(): void {
    if (body === null || table === null || !table.isConnected) return;
    const nowMs = stream().now();
    if (query.group === undefined) drawWindow(body, nowMs);
    else drawGroups(body, nowMs);
    dispatchEvent(new Event("flatline-rows"));
  }

  function drawWindow(body: HTMLTableSectionElement, nowMs: number): void {
    if (groups !== "") body.replaceChildren();
    groups = "";
    let [first, last] = [0, found.length];
    if (found.length > windowFrom) {
      const top = body.getBoundingClientRect().top;
      first = Math.max(0, Math.floor(-top / rowHeight) - overscan);
      last = Math.min(found.length, Math.ceil((innerHeight - top) / rowHeight) + overscan);
      // The focused row stays.
      if (last <= first) [first, last] = [0, Math.min(found.length, 2 * overscan)];
    }
    const wanted: HTMLElement[] = [];
    for (let index = first; index < last; index++) {
      const row = found[index];
      if (row === undefined) continue;
      const markup = renderRow(row, nowMs, index + 1).html;
      const known = lines.get(row.slug);
      if (known?.markup === markup) wanted.push(known.element);
      else wanted.push(drawRow(row.slug, markup, known?.element ?? null));
    }
    setHeight(pads[0], first * rowHeight);
    setHeight(pads[1], (found.length - last) * rowHeight);
    const order = [...(first > 0 ? [pads[0]] : []), ...wanted, ...(last < found.length ? [pads[1]] : [])];
    const keep = new Set<Element>(order);
    for (const element of Array.from(body.children)) if (!keep.has(element)) element.remove();
    for (const [index, element] of order.entries()) {
      const here = body.children[index];
      if (here !== element) body.insertBefore(element, here ?? null);
    }
    if (lines.size > 4 * (last - first) + 200) {
      const shown = new Set(wanted);
      for (const [slug, { element }] of lines) if (!shown.has(element)) lines.delete(slug);
    }
    const measured = wanted[0]?.getBoundingClientRect().height ?? 0;
    if (measured > 0 && Math.abs(measured - rowHeight) > 0.5) rowHeight = measured;
  }

  /** As many lines as a label has values, and a few rows each: they are all drawn. */
  function drawGroups(within: HTMLTableSectionElement, nowMs: number): void {
    const markup = renderGroups(found, query, nowMs).html;
    if (markup === groups) return;
    groups = markup;
    const focused = within.contains(document.activeElement)
      ? document.activeElement?.closest("tr")?.rowIndex
      : undefined;
    const kind = focusable(document.activeElement);
    within.innerHTML = markup;
    lines.clear();
    // The head is a row, too.
    if (focused !== undefined)
      within.rows[focused - 1]?.querySelector<HTMLElement>(kind)?.focus({ preventScroll: true });
  }

  function drawRow(slug: string, markup: string, before: HTMLElement | null): HTMLElement {
    const template = document.createElement("template");
    template.innerHTML = markup;
    const next = template.content.firstElementChild as HTMLElement;
    const hadFocus = before?.contains(document.activeElement) ?? false;
    const kind = focusable(document.activeElement);
    if (before !== null && before.className !== next.className) {
      const cell = next.querySelector(".c-sev");
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
        cell?.classList.add("changed");
        setTimeout(() => cell?.classList.remove("changed"), 1_000);
      }
    }
    before?.replaceWith(next);
    if (hadFocus) next.querySelector<HTMLElement>(kind)?.focus({ preventScroll: true });
    lines.set(slug, { markup, element: next });
    return next;
  }

  function drawSoon(): void {
    if (drawTimer !== null) return;
    const waitMs = Math.max(0, drawnMs + drawEveryMs - performance.now());
    drawTimer = setTimeout(() => {
      drawTimer = null;
      draw(false);
    }, waitMs);
  }

  function ask(next: RowQuery): void {
    query = next;
    if (search !== null && search.value !== next.text) search.value = next.text;
    draw(true);
    clearTimeout(writeTimer);
    writeTimer = setTimeout(() => history.replaceState(null, "", writeQuery(query)), writeAfterMs);
  }

  function toggle(severity: RowSeverity): void {
    const isOn = query.severities.includes(severity);
    ask({
      ...query,
      severities: rowSeverities.filter((one) => (one === severity ? !isOn : query.severities.includes(one))),
    });
  }

  function clear(): void {
    ask({ ...query, severities: [], text: "" });
  }

  search.form?.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", () => ask({ ...query, text: search.value }));
  document.querySelector<HTMLSelectElement>("#sorter")?.addEventListener("change", (event) => {
    const { value } = event.target as HTMLSelectElement;
    const sort = sortKeys.find((key) => key === value) ?? "severity";
    ask({ ...query, sort, dir: defaultDir(sort) });
  });
  document.getElementById("main")?.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>(
      "a[data-severity], a[data-sort], a[data-clear], a[data-ask]",
    );
    if (link === null || event.metaKey || event.ctrlKey || event.shiftKey || fleet === null) return;
    event.preventDefault();
    const severity = rowSeverities.find((one) => one === link.dataset["severity"]);
    const sort = sortKeys.find((one) => one === link.dataset["sort"]);
    if (severity !== undefined) {
      toggle(severity);
      document.querySelector<HTMLElement>(`a[data-severity=${severity}]`)?.focus();
    } else if (sort !== undefined) {
      const flipped = query.dir === "asc" ? "desc" : "asc";
      ask({ ...query, sort, dir: query.sort === sort ? flipped : defaultDir(sort) });
      document.querySelector<HTMLElement>(`a[data-sort=${sort}]`)?.focus();
    } else if (link.dataset["ask"] !== undefined) ask(readQuery(new URLSearchParams(link.search)));
    else clear();
  });
  let isScrolling = false;
  const onScroll = (): void => {
    if (isScrolling || found.length <= windowFrom) return;
    isScrolling = true;
    requestAnimationFrame(() => {
      isScrolling = false;
      drawRows();
    });
  };
  addEventListener("scroll", onScroll, { passive: true });
  addEventListener("resize", () => drawRows());
  setInterval(() => {
    if (fleet !== null) drawRows();
  }, tickEveryMs);

  return {
    hello: () => void load(),
    change: ({ rows: changed, gone, fleet: nextFleet }) => {
      note(changed);
      for (const row of changed) rows.set(row.slug, row);
      for (const slug of gone) rows.delete(slug);
      fleet = nextFleet;
      drawSoon();
    },
    toggle,
    clear,
    listed: (group) => {
      if (fleet === null || !table.isConnected) return null;
      const some = group === undefined ? found : rowsOfGroup(found, query, group);
      return some.map((row) => ({ id: row.slug, severity: shownSeverity(row) }));
    },
    move: (by) => {
      if (query.group !== undefined) return moveIn(body, by);
      const at = found.findIndex(
        ({ slug }) => slug === (document.activeElement?.closest<HTMLElement>("tr.row")?.dataset["slug"] ?? ""),
      );
      const index = at === -1 ? (by > 0 ? 0 : found.length - 1) : Math.min(Math.max(0, at + by), found.length - 1);
      const row = found[index];
      if (row === undefined) return;
      if (found.length > windowFrom && !lines.get(row.slug)?.element.isConnected) {
        scrollTo({ top: body.getBoundingClientRect().top + scrollY + index * rowHeight - innerHeight / 2 });
        drawRows();
      }
      lines.get(row.slug)?.element.querySelector<HTMLElement>("a")?.focus();
    },
  };
}

/** Moves the focus to the next or previous line of groups and rows. */
function moveIn(body: HTMLElement, by: number): void {
  const links = [...body.querySelectorAll<HTMLElement>("tr a")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(0, at + by), links.length - 1)]?.focus();
}

/** Returns what of a row that is drawn again takes the focus that its box or its link had. */
function focusable(element: Element | null): string {
  return element instanceof HTMLInputElement ? "input" : "a";
}

/** Creates a row in the place of those that are not drawn. */
function pad(): HTMLElement {
  const row = document.createElement("tr");
  row.className = "pad";
  row.setAttribute("aria-hidden", "true");
  row.innerHTML = "<td colspan=10></td>";
  return row;
}

/** Gives such a row the height of what it stands for. */
function setHeight(row: HTMLElement, height: number): void {
  const cell = row.firstElementChild;
  if (cell instanceof HTMLElement) cell.style.height = `${height}px`;
}
