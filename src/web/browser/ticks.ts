/** Lets a group's checkbox tick its rows, and shows the acts on ticked rows. */
export function startTicks(): void {
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (target instanceof Element && target.closest("[data-clear]") !== null) {
      event.preventDefault();
      clear();
    }
    if (!(target instanceof HTMLInputElement) || target.type !== "checkbox") return;
    if (target.matches("[data-group]")) for (const box of groupOf(target)) box.checked = target.checked;
    show();
  });
  document.addEventListener("htmx:after:swap", show);
  show();
}

function boxesOf(form: ParentNode): HTMLInputElement[] {
  return [...form.querySelectorAll<HTMLInputElement>("input[name=slug]")];
}

/** Returns the checkboxes of a group's rows. */
function groupOf(head: HTMLInputElement): HTMLInputElement[] {
  return boxesOf(head.closest("tbody") ?? document);
}

function clear(): void {
  for (const box of boxesOf(document)) box.checked = false;
  show();
}

/** Shows how many rows are ticked, and the bar of acts if any is. */
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
