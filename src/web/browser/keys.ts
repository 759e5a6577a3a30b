import { html } from "../parts/html.ts";
import { moveChart } from "./chart.ts";

const offKey = "flatline-keys";
const pages: Readonly<Record<string, string>> = {
  o: "/",
  i: "/incidents",
  s: "/silences",
  r: "/receivers",
  c: "/config",
};
const acts: Readonly<Record<string, string>> = { a: "acknowledge", e: "judge", s: "silence" };

/** Starts the keys; none while the user types. None of them releases, and none acts without a dialog. */
export function startKeys(): void {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!(target instanceof Element) || event.defaultPrevented) return;
    const isTyping = target.matches("input:not([type=checkbox]), select, textarea, [role=slider]");
    if (isTyping || document.querySelector("dialog:modal") !== null) return;
    if (event.metaKey || event.ctrlKey || event.altKey || (localStorage.getItem(offKey) !== null && key !== "?"))
      return;
    const page = isGoing ? pages[key] : undefined;
    isGoing = key === "g";
    if (page !== undefined) return location.assign(page);
    // The letter is not for the field that it leads to.
    if (press(key)) event.preventDefault();
  });
}

/** Returns whether the key means something here. */
function press(key: string): boolean {
  if (key === "?") return showKeys();
  if (key === "/") return focus(document.getElementById("filter"));
  if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
  if (key === "x") return click(document.activeElement?.closest("tr")?.querySelector("td.check input"));
  if (/^[1-4]$/.test(key)) return click(document.querySelectorAll(".counters a")[Number(key) - 1]);
  if (key === "[" || key === "]") return moveChart(key === "[" ? -1 : 1);
  if (key === "r") return click(document.querySelector("button[form=run]"));
  const act = acts[key];
  if (act === undefined) return false;
  const ofTicked = document.querySelector(`.bulk:not([hidden]) [hx-get$="/${act}"]`);
  const ofPage = `a.button[hx-get$="/${act}"]${act === "silence" ? ', a.button[hx-get^="/silences/new"]' : ""}`;
  return click(ofTicked ?? document.querySelector(ofPage));
}

function click(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.click();
  return true;
}

function focus(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  return element !== null && element !== undefined;
}

/** To the next row, or the one before. */
function move(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("tbody th[scope=row] a")];
  const at = rows.findIndex((row) => row.closest("tr")?.contains(document.activeElement));
  return focus(rows[at === -1 ? 0 : Math.min(Math.max(0, at + by), rows.length - 1)]);
}

const list: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl K, ⌘K", "go to or do anything"],
  ["g, then o i s r c", "organizations, incidents, silences, receivers, configuration"],
  ["/", "filter"],
  ["j k", "next row, previous row; Enter opens it"],
  ["1–4", "only fail, warn, unknown, ok"],
  ["x, Shift click", "tick the row, all up to it; Esc clears"],
  ["a e s", "acknowledge, judge, silence: what is ticked, else the incident; opens the dialog"],
  ["[ ]", "the stretch before on the chart, or after"],
  ["r", "run the checks of this organization now"],
  ["?", "this list"],
];

function showKeys(): boolean {
  const isOff = localStorage.getItem(offKey) !== null;
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "keys-title");
  const rows = list.map(
    ([keys, what]) =>
      html`<dt><kbd>${keys}</kbd></dt>
        <dd>${what}</dd>`,
  );
  dialog.innerHTML = html`<h2 id="keys-title">Keys</h2>
    <dl class="then">${rows}</dl>
    <form method="dialog">
      <footer>
        <p>They are ${isOff ? "off" : "on"} in this browser.</p>
        <button>Close</button><button value="turn">Turn them ${isOff ? "on" : "off"}</button>
      </footer>
    </form>`.html;
  // At once, not with the dialog's "close", which comes after keys that are pressed meanwhile.
  dialog.addEventListener("submit", ({ submitter }) => {
    if (!(submitter instanceof HTMLButtonElement) || submitter.value !== "turn") return;
    if (isOff) localStorage.removeItem(offKey);
    else localStorage.setItem(offKey, "off");
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return true;
}
