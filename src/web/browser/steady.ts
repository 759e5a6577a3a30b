interface BeforeSwap {
  readonly tasks: readonly { readonly fragment?: unknown }[];
}

/** Keeps rows where they are while some are ticked or the pointer is on one: what one is about to press does not move away. */
export function startSteady(): void {
  document.addEventListener("htmx:before:swap", (event) => {
    const { tasks } = (event as CustomEvent<BeforeSwap>).detail;
    for (const { fragment } of tasks) if (fragment instanceof DocumentFragment) keepOrder(fragment);
  });
}

/** Gives the rows of each table that is in use the order that they have on the page; those that are new follow. */
function keepOrder(next: DocumentFragment): void {
  for (const body of document.querySelectorAll("tbody:has(tr:hover, td.check input[name]:checked)")) {
    const places = new Map([...body.children].map((row, place) => [row.id, place]));
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

/** The head under which a row stands; null: it stands under none. */
function groupOf(row: Element): Element | null {
  let head = row.previousElementSibling;
  while (head !== null && !head.matches(".group")) head = head.previousElementSibling;
  return head;
}
