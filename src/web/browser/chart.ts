import { formatNumber } from "../../base/numbers.ts";
import type { CursorNumbers } from "../pages/chart/data.ts";
import { formatClock, formatDay } from "../parts/figures.ts";

// What a hand that only clicks may slip, pixels.
const leastDrag = 5;
const keySteps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

/** Where the focused cursor of a chart was that a new one took the place of, epoch ms. */
let kept: { readonly atMs: number; readonly anchorMs: number | null } | null = null;

/**
 * Gives each chart a cursor, also one that comes later: a slider that says the values of an instant. Dragging, or Shift with the
 * arrows and Enter, goes to a part of the range, and Escape back.
 */
export function startCharts(): void {
  addCursors();
  document.addEventListener("htmx:after:swap", addCursors);
}

function addCursors(): void {
  for (const charted of document.querySelectorAll<HTMLElement>(".charted")) {
    const numbers = numbersOf(charted);
    if (charted.querySelector(".cursor") === null && numbers !== null) addCursor(charted, numbers);
  }
}

/** null: nothing is known of its range. */
function numbersOf(charted: HTMLElement): CursorNumbers | null {
  const json = charted.querySelector("script")?.textContent ?? "";
  return json === "" ? null : (JSON.parse(json) as CursorNumbers);
}

function addCursor(charted: HTMLElement, numbers: CursorNumbers): void {
  const { at, fromMs, toMs } = numbers;
  const [cursor, selection, hair, readout] = [part("cursor"), part("selection"), part("hair"), part("readout")];
  const lastIndex = at.length - 1;
  let index: number | null = null;
  let anchor: number | null = null;
  let downX: number | null = null;

  const leftOf = (one: number): number => (((at[one] ?? toMs) - fromMs) / (toMs - fromMs)) * 100;
  const indexOf = (atMs: number): number =>
    Math.max(
      0,
      at.findLastIndex((one) => one <= atMs),
    );
  const indexAt = (clientX: number): number => {
    const { left, width } = cursor.getBoundingClientRect();
    return indexOf(fromMs + ((clientX - left) / width) * (toMs - fromMs));
  };

  function show(newIndex: number | null, newAnchor: number | null): void {
    [index, anchor] = [newIndex, newAnchor];
    const words = index === null ? "no instant" : wordsAt(numbers, index, anchor);
    cursor.setAttribute("aria-valuenow", String(index ?? lastIndex));
    cursor.setAttribute("aria-valuetext", words);
    hair.hidden = readout.hidden = index === null;
    selection.hidden = index === null || anchor === null;
    if (index === null) return;
    const left = leftOf(index);
    hair.style.left = `${left}%`;
    readout.textContent = words;
    readout.style.left = left > 50 ? "auto" : `${left}%`;
    readout.style.right = left > 50 ? `${100 - left}%` : "auto";
    selection.style.left = `${Math.min(left, leftOf(anchor ?? index))}%`;
    selection.style.width = `${Math.abs(left - leftOf(anchor ?? index))}%`;
  }

  function zoom(): void {
    if (index === null || anchor === null || index === anchor) return;
    const [from, to] = [Math.min(index, anchor), Math.max(index, anchor)].map((one) => at[one] ?? toMs);
    // A range that ends now goes on.
    go({ from: String(from), ...(numbers.isLive && to === toMs ? {} : { to: String(to) }) });
  }

  cursor.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    downX = event.clientX;
    cursor.setPointerCapture(event.pointerId);
    show(indexAt(downX), null);
  });
  cursor.addEventListener("pointermove", ({ clientX }) => {
    const isDragged = downX !== null && Math.abs(clientX - downX) >= leastDrag;
    show(indexAt(clientX), isDragged && downX !== null ? indexAt(downX) : anchor);
  });
  cursor.addEventListener("pointerup", () => {
    if (downX !== null) zoom();
    downX = null;
  });
  cursor.addEventListener("pointercancel", () => {
    downX = null;
    show(null, null);
  });
  cursor.addEventListener("pointerleave", () => {
    if (downX === null && !cursor.matches(":focus-visible")) show(null, null);
  });
  cursor.addEventListener("focus", () => {
    if (index === null && cursor.matches(":focus-visible")) show(lastIndex, null);
  });
  cursor.addEventListener("blur", () => {
    const place =
      index === null ? null : { atMs: at[index] ?? toMs, anchorMs: anchor === null ? null : (at[anchor] ?? toMs) };
    // Also when the chart is replaced, which is known only afterwards.
    queueMicrotask(() => {
      if (cursor.isConnected) show(null, null);
      else kept = place;
    });
  });
  cursor.addEventListener("keydown", (event) => {
    const step = keySteps[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step !== undefined) {
      const from = index ?? lastIndex;
      show(Math.min(Math.max(from + step, 0), lastIndex), event.shiftKey ? (anchor ?? from) : null);
    } else if (event.key === "Enter" && anchor !== null) zoom();
    else if (event.key === "Escape" && anchor !== null) show(index, null);
    else if (event.key === "Escape" && new URL(location.href).searchParams.has("from")) go({});
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  cursor.tabIndex = 0;
  cursor.setAttribute("role", "slider");
  cursor.setAttribute("aria-label", "Instant of the chart");
  cursor.setAttribute("aria-valuemin", "0");
  cursor.setAttribute("aria-valuemax", String(lastIndex));
  cursor.append(selection, hair, readout);
  charted.append(cursor);
  show(null, null);
  if (kept === null) return;
  const { atMs, anchorMs } = kept;
  kept = null;
  cursor.focus({ preventScroll: true });
  show(indexOf(atMs), anchorMs === null ? null : indexOf(anchorMs));
}

function part(name: string): HTMLElement {
  const element = document.createElement("div");
  element.className = name;
  return element;
}

/** "23 Nov 21:47: 14,200 in 24 h, 3,300 expected, 4,905 deaths 21:45 to 21:50, fail" */
function wordsAt({ at, lines, bars, states, toMs }: CursorNumbers, index: number, anchor: number | null): string {
  const atMs = at[index] ?? toMs;
  const values = lines.flatMap(({ name, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [`${formatNumber(value)} ${name}`];
  });
  const bar = bars?.from.findLastIndex((one) => one <= atMs && one < toMs) ?? -1;
  if (bars !== null && bar !== -1) {
    const [fromMs, endMs] = [bars.from[bar] ?? 0, bars.from[bar + 1] ?? toMs];
    values.push(`${formatNumber(bars.deaths[bar] ?? 0)} deaths ${formatClock(fromMs)} to ${formatClock(endMs)}`);
  }
  const state = states?.findLast((one) => one.fromMs <= atMs)?.severity;
  if (state !== undefined) values.push(state);
  const [first, second] = [Math.min(anchor ?? index, index), Math.max(anchor ?? index, index)].map(
    (one) => at[one] ?? toMs,
  );
  const day = formatDay(second ?? toMs) === formatDay(first ?? toMs) ? "" : `${formatDay(second ?? toMs)} `;
  const until = first === second ? "" : ` to ${day}${formatClock(second ?? toMs)}`;
  const name = `${formatDay(first ?? toMs)} ${formatClock(first ?? toMs)}${until}`;
  return `${name}: ${values.join(", ") || "not known"}`;
}

/** Goes to a part of the range; without one to the page's own. */
function go(span: Readonly<Record<string, string>>): void {
  const address = new URL(location.href);
  for (const name of ["from", "to", "range"]) address.searchParams.delete(name);
  for (const [name, value] of Object.entries(span)) address.searchParams.set(name, value);
  location.assign(address);
}
