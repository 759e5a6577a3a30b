import { formatCount } from "../../base/numbers.ts";
import { rowSeverities } from "../page/parts/marks.ts";
import { actOnMany, type BulkAct, type Meant } from "./bulk.ts";
import { areKeysOff } from "./keys-off.ts";
import type { Overview, Pickable } from "./overview.ts";
import { swapPage } from "./swap.ts";

/** What is selected: ids with their severities. It outlives filter and page, not a reload. */
const picked = new Map<string, string>();
const last: { id: string | null } = { id: null };

/** Boxes of the list of alerts and of the overview, and the buttons that act on many at once. */
export function startSelection(overview: Pick<Overview, "listed"> | null): void {
  /** All rows, or those of one group; the overview has more of them than it draws. */
  const listed = (group?: HTMLInputElement): readonly Pickable[] =>
    overview?.listed(group?.dataset["pickGroup"]) ??
    boxes(group?.closest("tbody") ?? undefined).map(({ value, dataset }) => ({
      id: value,
      severity: dataset["severity"] ?? "",
    }));
  const isOverview = (): boolean => document.getElementById("fleet") !== null;
  const redraw = (): void => show(listed);
  const pick = (some: readonly Pickable[], isOn: boolean): void => {
    for (const { id, severity } of some) {
      if (isOn) picked.set(id, severity);
      else picked.delete(id);
    }
    redraw();
  };
  const clear = (): void => {
    picked.clear();
    redraw();
  };
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const button = target.closest<HTMLButtonElement>("button[data-bulk]");
    if (button?.dataset["bulk"] === "clear") clear();
    else if (button !== null) void press(button, isOverview(), clear);
    if (target instanceof HTMLInputElement && target.name === "pick")
      pick(rangeTo(target, listed(), event.shiftKey), target.checked);
  });
  document.addEventListener("change", (event) => {
    const box = event.target as Element;
    if (!(box instanceof HTMLInputElement)) return;
    if (box.matches("[data-pick-all]")) pick(listed(), box.checked);
    if (box.matches("[data-pick-group]")) pick(listed(box), box.checked);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.target as Element).closest("dialog, input:not([type=checkbox]), textarea, select") !== null) return;
    if (event.key === "Escape" && picked.size > 0) {
      // Esc goes one step back: the filter stays.
      event.preventDefault();
      clear();
    }
    if (event.metaKey || event.ctrlKey || event.altKey || areKeysOff()) return;
    if (event.key === "X" && document.getElementById("bulkbar") !== null) pick(listed(), true);
    if (event.key === "x")
      document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("[name=pick]")?.click();
  });
  addEventListener("flatline-swap", redraw);
  addEventListener("flatline-rows", redraw);
  redraw();
}

function boxes(within: ParentNode = document): HTMLInputElement[] {
  return [...within.querySelectorAll<HTMLInputElement>("input[name=pick]")];
}

/** With Shift all from the one before to this one. */
function rangeTo(
  { value, dataset }: HTMLInputElement,
  all: readonly Pickable[],
  isRange: boolean,
): readonly Pickable[] {
  const [from, to] = [last.id, value].map((id) => all.findIndex((one) => one.id === id));
  last.id = value;
  if (!isRange || from === undefined || to === undefined || from === -1 || to === -1)
    return [{ id: value, severity: dataset["severity"] ?? "" }];
  return all.slice(Math.min(from, to), Math.max(from, to) + 1);
}

/** Draws what is selected into the boxes and the bar. */
function show(listed: (group?: HTMLInputElement) => readonly Pickable[]): void {
  for (const box of boxes()) {
    box.checked = picked.has(box.value);
    box.closest("tr")?.classList.toggle("picked", box.checked);
  }
  const bar = document.getElementById("bulkbar");
  if (bar === null) return;
  const draw = (box: HTMLInputElement, some: readonly Pickable[]): number => {
    const on = picked.size === 0 ? 0 : some.filter(({ id }) => picked.has(id)).length;
    box.checked = on > 0 && on === some.length;
    box.indeterminate = on > 0 && on < some.length;
    return on;
  };
  const all = document.querySelector<HTMLInputElement>("[data-pick-all]");
  const shown = all === null ? 0 : draw(all, listed());
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-pick-group]")) draw(box, listed(box));
  bar.hidden = picked.size === 0;
  const counts = rowSeverities.flatMap((severity) => {
    const count = [...picked.values()].filter((one) => one === severity).length;
    return count === 0 ? [] : [`${formatCount(count)} ${severity}`];
  });
  const away = picked.size - shown;
  const hidden = away === 0 ? "" : `; ${formatCount(away)} of them ${away === 1 ? "is" : "are"} not shown`;
  const words = document.getElementById("picked");
  if (words !== null) words.innerHTML = `<b>${formatCount(picked.size)} selected</b> ${counts.join(", ")}${hidden}`;
}

function meantBy(button: HTMLButtonElement, isOverview: boolean): Meant {
  const { group } = button.dataset;
  if (button.closest("[data-members]") !== null) return { kind: "members" };
  if (group !== undefined) return { kind: "group", group };
  const selected = new Set(picked.keys());
  return isOverview ? { kind: "slugs", slugs: selected } : { kind: "ids", ids: selected };
}

async function press(button: HTMLButtonElement, isOverview: boolean, clear: () => void): Promise<void> {
  const meant = meantBy(button, isOverview);
  const done = await actOnMany(button.dataset["bulk"] as BulkAct, meant);
  if (done === null) return;
  if (meant.kind === "ids" || meant.kind === "slugs") clear();
  // The overview is kept live by the stream.
  if (!isOverview) await swapPage(location.href);
  for (const id of ["did", "live"]) {
    const place = document.getElementById(id);
    if (place !== null) place.textContent = done;
  }
}
