/** Moves the focus to the next or previous line of groups and rows. */
export function moveIn(body: HTMLElement, by: number): void {
  const links = [...body.querySelectorAll<HTMLElement>("tr a")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(0, at + by), links.length - 1)]?.focus();
}

/** Returns what of a row that is drawn again takes the focus that its box or its link had. */
export function focusable(element: Element | null): string {
  return element instanceof HTMLInputElement ? "input" : "a";
}

/** Creates a row in the place of those that are not drawn. */
export function pad(): HTMLElement {
  const row = document.createElement("tr");
  row.className = "pad";
  row.setAttribute("aria-hidden", "true");
  row.innerHTML = "<td colspan=10></td>";
  return row;
}

/** Gives such a row the height of what it stands for. */
export function setHeight(row: HTMLElement, height: number): void {
  const cell = row.firstElementChild;
  if (cell instanceof HTMLElement) cell.style.height = `${height}px`;
}
