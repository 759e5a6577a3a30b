import { formatCount } from "../../base/numbers.ts";
import { rowSeverities } from "../page/parts/marks.ts";
import { actOnMany, type BulkAct } from "./bulk.ts";
import { swapPage } from "./swap.ts";

/** What is selected: ids of alerts with their severities. It outlives filter and page, not a reload. */
const picked = new Map<string, string>();
const last: { box: HTMLInputElement | null } = { box: null };

/** Boxes of the list of alerts, and the buttons that act on many at once. */
export function startSelection(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const button = target.closest<HTMLButtonElement>("button[data-bulk]");
    if (button !== null) void press(button);
    if (target instanceof HTMLInputElement && target.name === "pick") pickTo(target, event.shiftKey);
  });
  document.addEventListener("change", (event) => {
    const box = event.target as Element;
    if (!(box instanceof HTMLInputElement)) return;
    if (box.matches("[data-pick-all]")) pickAll(boxes(), box.checked);
    if (box.matches("[data-pick-group]")) pickAll(boxes(box.closest("tbody") ?? undefined), box.checked);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.target as Element).closest("dialog, input:not([type=checkbox]), textarea, select") !== null) return;
    if (event.key === "Escape") clear();
    if (event.key !== "x" || event.metaKey || event.ctrlKey || event.altKey) return;
    document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("[name=pick]")?.click();
  });
  addEventListener("flatline-swap", show);
  show();
}

function boxes(within: ParentNode = document): HTMLInputElement[] {
  return [...within.querySelectorAll<HTMLInputElement>("input[name=pick]")];
}

/** With Shift all from the one before to this one. */
function pickTo(box: HTMLInputElement, isRange: boolean): void {
  const all = boxes();
  const [from, to] = [last.box === null ? -1 : all.indexOf(last.box), all.indexOf(box)];
  const range = isRange && from !== -1 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [box];
  last.box = box;
  pickAll(range, box.checked);
}

function pickAll(some: readonly HTMLInputElement[], isOn: boolean): void {
  for (const { value, dataset } of some) {
    if (isOn) picked.set(value, dataset["severity"] ?? "");
    else picked.delete(value);
  }
  show();
}

function clear(): void {
  picked.clear();
  show();
}

/** Draws what is selected into the boxes and the bar. */
function show(): void {
  const all = boxes();
  for (const box of all) {
    box.checked = picked.has(box.value);
    box.closest("tr")?.classList.toggle("picked", box.checked);
  }
  const draw = (box: HTMLInputElement | null, some: readonly HTMLInputElement[]): void => {
    if (box === null) return;
    const on = some.filter(({ checked }) => checked).length;
    box.checked = on > 0 && on === some.length;
    box.indeterminate = on > 0 && on < some.length;
  };
  draw(document.querySelector("[data-pick-all]"), all);
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-pick-group]"))
    draw(box, boxes(box.closest("tbody") ?? undefined));
  const bar = document.getElementById("bulkbar");
  if (bar === null) return;
  bar.hidden = picked.size === 0;
  const counts = rowSeverities.flatMap((severity) => {
    const count = [...picked.values()].filter((one) => one === severity).length;
    return count === 0 ? [] : [`${formatCount(count)} ${severity}`];
  });
  const away = picked.size - all.filter(({ checked }) => checked).length;
  const hidden = away === 0 ? "" : `; ${formatCount(away)} of them ${away === 1 ? "is" : "are"} not shown`;
  const words = document.getElementById("picked");
  if (words !== null) words.innerHTML = `<b>${formatCount(picked.size)} selected</b> ${counts.join(", ")}${hidden}`;
}

async function press(button: HTMLButtonElement): Promise<void> {
  const { bulk = "", group } = button.dataset;
  if (bulk === "clear") return clear();
  const act = bulk as BulkAct;
  const isOfFleet = button.closest("[data-members]") !== null;
  const done = isOfFleet
    ? await actOnMany(act, ({ isMember }) => isMember, 0)
    : group !== undefined
      ? await actOnMany(act, (alert) => alert.group === group, 0)
      : await actOnMany(act, ({ id }) => picked.has(id), picked.size);
  if (done === null) return;
  if (!isOfFleet) {
    if (group === undefined) clear();
    await swapPage(location.href);
  }
  for (const id of ["did", "live"]) {
    const place = document.getElementById(id);
    if (place !== null) place.textContent = done;
  }
}
