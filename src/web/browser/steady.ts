import { refresh } from "./page.ts";

interface BeforeSwap {
  readonly tasks: readonly { readonly fragment?: unknown }[];
}

// Its form says how many rows have come meanwhile.
const counted = "form:has([data-joined]) tbody";
const ticked = "td.check input[name]:checked";

let isFree = false;

/** Reads the page again, with the rows that have come meanwhile. */
export function showNewRows(): void {
  isFree = true;
  refresh();
}

/**
 * Keeps rows where they are while some are ticked or the pointer is on one: what one is about to press does not move away. While
 * some are ticked none comes, and none goes, too.
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
  for (const body of document.querySelectorAll(`tbody:has(tr:hover, ${ticked})`)) {
    const places = new Map([...body.children].map((row, place) => [row.id, place]));
    if (body.matches(`${counted}:has(${ticked})`)) keepRows(body, next);
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

/**
 * Leaves out rows that are not on the page, and says how many they are; those of the page that have left the list follow below a head
 * of their own. Once the new ones are asked for, of those that have left the ticked ones stay.
 */
function keepRows(body: Element, next: DocumentFragment): void {
  const nextBody = next.querySelector(counted);
  if (nextBody === null) return;
  const rowsOf = (one: Element): Element[] => [...one.querySelectorAll("tr[id]")];
  const isIn = (rows: readonly Element[], row: Element): boolean => rows.some(({ id }) => id === row.id);
  const [own, coming] = [rowsOf(body), rowsOf(nextBody)];
  const added = isFree ? [] : coming.filter((row) => !isIn(own, row));
  for (const row of added) row.remove();
  const link = next.querySelector<HTMLElement>("[data-joined] a");
  if (link !== null) {
    link.hidden = added.length === 0;
    link.textContent = `${added.length} more began`;
  }
  const gone = own.filter((row) => !isIn(coming, row) && (!isFree || row.querySelector(ticked) !== null));
  const head = nextBody.querySelector<HTMLElement>("[data-gone]");
  if (head !== null) head.hidden = gone.length === 0;
  nextBody.append(...gone.map((row) => row.cloneNode(true)));
}

/** The head under which a row stands; null: it stands under none. */
function groupOf(row: Element): Element | null {
  let head = row.previousElementSibling;
  while (head !== null && !head.matches(".group")) head = head.previousElementSibling;
  return head;
}
