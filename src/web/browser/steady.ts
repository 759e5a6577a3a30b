import { refresh } from "./page.ts";

interface BeforeSwap {
  readonly tasks: readonly { readonly fragment?: unknown }[];
}

// Its form says how many rows have come meanwhile.
const counted = "form:has([data-joined]) tbody";

let isFree = false;

/** Reads the page again, with the rows that have come meanwhile. */
export function showNewRows(): void {
  isFree = true;
  refresh();
}

/**
 * Keeps rows where they are while some are ticked or the pointer is on one: what one is about to press does not move away. While
 * some are ticked none comes or goes, too.
 */
export function startSteady(): void {
  document.addEventListener("htmx:before:swap", (event) => {
    const { tasks } = (event as CustomEvent<BeforeSwap>).detail;
    for (const { fragment } of tasks) {
      if (!(fragment instanceof DocumentFragment)) continue;
      keepOrder(fragment);
      // A dialog that opens meanwhile has none of these rows.
      if (fragment.querySelector(counted) !== null) isFree = false;
    }
  });
}

/** Gives the rows of each table that is in use the order that they have on the page; those that are new follow. */
function keepOrder(next: DocumentFragment): void {
  for (const body of document.querySelectorAll("tbody:has(tr:hover, td.check input[name]:checked)")) {
    const places = new Map([...body.children].map((row, place) => [row.id, place]));
    if (!isFree && body.matches(`${counted}:has(td.check input[name]:checked)`)) keepRows(body, next);
    const placeOf = ({ id }: Element): number => places.get(id) ?? Infinity;
    const rows = [...next.querySelectorAll(`tbody tr[id]`)].filter(({ id }) => places.has(id));
    for (const group of Map.groupBy(rows, groupOf).values()) {
      const slots = group.map((row) => {
        const slot = document.createComment("");
        row.replaceWith(slot);
        return slot;
      });
      group.sort((left, right) => placeOf(left) - placeOf(right));
      for (const [index, slot] of slots.entries()) slot.replaceWith(group[index] ?? "");
    }
  }
}

/** Leaves out rows that are not on the page, and takes those of the page that are no longer meant. */
function keepRows(body: Element, next: DocumentFragment): void {
  const nextBody = next.querySelector(counted);
  if (nextBody === null) return;
  const rowsOf = (one: Element): Map<string, Element> =>
    new Map([...one.querySelectorAll("tr[id]")].map((row) => [row.id, row]));
  const [own, coming] = [rowsOf(body), rowsOf(nextBody)];
  for (const [id, row] of coming) if (!own.has(id)) row.remove();
  for (const [id, row] of own) if (!coming.has(id)) nextBody.append(row.cloneNode(true));
}

/** The head under which a row stands; null: it stands under none. */
function groupOf(row: Element): Element | null {
  let head = row.previousElementSibling;
  while (head !== null && !head.matches(".group")) head = head.previousElementSibling;
  return head;
}
