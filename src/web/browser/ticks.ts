/** Ticks of rows: a group's box ticks its rows, with Shift all from the last one on. */
export function startTicks(): void {
  let last: HTMLInputElement | null = null;
  document.addEventListener("click", (event) => {
    const { target, shiftKey } = event;
    if (target instanceof Element && target.closest("[data-clear]") !== null) {
      event.preventDefault();
      clear();
    }
    if (!(target instanceof HTMLInputElement) || target.type !== "checkbox") return;
    const form = target.closest<HTMLFormElement>("form.picks");
    if (form === null) return;
    const boxes = boxesOf(form);
    const meant = target.matches("[data-group]")
      ? groupOf(target)
      : shiftKey && last !== null
        ? between(boxes, last, target)
        : [];
    for (const box of meant) box.checked = target.checked;
    last = target;
    show();
  });
  document.addEventListener("htmx:after:swap", show);
  show();
}

function boxesOf(form: ParentNode): HTMLInputElement[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[name=slug], input[name=letter]")];
}

/** The boxes of the rows below a group's head, up to the next one. */
function groupOf(head: HTMLInputElement): HTMLInputElement[] {
  const boxes: HTMLInputElement[] = [];
  let row = head.closest("tr")?.nextElementSibling ?? null;
  while (row !== null && !row.matches(".group")) {
    boxes.push(...boxesOf(row));
    row = row.nextElementSibling;
  }
  return boxes;
}

function between(boxes: HTMLInputElement[], from: HTMLInputElement, to: HTMLInputElement): HTMLInputElement[] {
  const ends = [boxes.indexOf(from), boxes.indexOf(to)];
  return ends.includes(-1) ? [] : boxes.slice(Math.min(...ends), Math.max(...ends) + 1);
}

function clear(): void {
  for (const box of boxesOf(document)) box.checked = false;
  show();
}

/** Says how many are ticked; the bar of acts is shown while any is. */
function show(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form.picks")) {
    const boxes = boxesOf(form);
    const count = boxes.filter(({ checked }) => checked).length;
    const words = form.querySelector<HTMLElement>("[data-picked]");
    const bar = form.querySelector<HTMLElement>(".bulk");
    if (bar !== null) bar.hidden = count === 0;
    const total = Number(words?.dataset["total"] ?? boxes.length);
    if (words !== null) words.textContent = `${count} of ${total} ticked`;
    for (const box of boxes) box.closest("tr")?.classList.toggle("ticked", box.checked);
    for (const head of form.querySelectorAll<HTMLInputElement>("[data-group]")) {
      const own = groupOf(head);
      head.hidden = false;
      head.checked = own.length > 0 && own.every(({ checked }) => checked);
      head.indeterminate = !head.checked && own.some(({ checked }) => checked);
    }
    for (const link of form.querySelectorAll<HTMLElement>("[data-clear]")) link.hidden = count === 0;
  }
}
