import { rowSeverities } from "../page/parts/marks.ts";
import type { Overview } from "./overview.ts";
import { movedAddress } from "./chart/zoom.ts";
import { openDialog } from "./dialog.ts";
import { areKeysOff, turnKeysOff } from "./keys-off.ts";
import { swapPage } from "./swap.ts";

const pages: Readonly<Record<string, string>> = {
  o: "/",
  a: "/alerts",
  s: "/silences",
  r: "/receivers",
  q: "/queue",
  c: "/config",
};

/** The buttons whose dialog a key opens: of what is selected, else of the alert or organization that the page shows. */
const acts: Readonly<Record<string, readonly [ofSelected: string, ofPage: string]>> = {
  a: ["acknowledge", "[data-do=ack], [data-do=ack-alert]"],
  e: ["judge", "[data-do=judge]"],
  s: ["silence", "[data-do=silence], [data-do=silence-new]"],
};

/** Starts the keys of ART; none while the user types. */
export function startKeys(overview: Overview | null): void {
  let isGoing = false;
  document.addEventListener("click", (event) => {
    if ((event.target as Element).closest("[data-keys]") !== null) void showKeys();
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const isTyping =
      target.matches("input:not([type=checkbox]), select, textarea") || target.closest("dialog") !== null;
    if (event.key === "Escape" && target.id === "q") {
      overview?.clear();
      target.blur();
      return;
    }
    // It has cleared what was selected.
    if (event.defaultPrevented) return;
    if (isTyping || event.metaKey || event.ctrlKey || event.altKey || areKeysOff()) return;
    const wasGoing = isGoing;
    isGoing = event.key === "g";
    const page = wasGoing ? pages[event.key] : undefined;
    if (page !== undefined) {
      document.querySelector<HTMLElement>(`.pagesnav a[href="${page}"]`)?.click();
      return;
    }
    press(event, overview);
  });
}

function press(event: KeyboardEvent, overview: Overview | null): void {
  const severity = rowSeverities[Number(event.key) - 1];
  if (severity !== undefined) overview?.toggle(severity);
  else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("q")?.focus();
  } else if (event.key === "Escape") {
    overview?.clear();
    document.querySelector<HTMLElement>("#zoom-reset:not([hidden])")?.click();
  } else if (event.key === "j" || event.key === "k") {
    if (overview !== null) overview.move(event.key === "j" ? 1 : -1);
    else document.querySelector<HTMLElement>(`[data-neighbour=${event.key}]`)?.click();
  } else if (acts[event.key] !== undefined) openAct(event, acts[event.key] ?? ["", ""]);
  else if (event.key === "r") document.querySelector<HTMLElement>("[data-do=run]:not(:disabled)")?.click();
  else if (event.key === "[" || event.key === "]") void moveChart(event.key === "[" ? -1 : 1);
  else if (event.key === "?") void showKeys();
}

/** A dialog says what the act will do; the key alone changes nothing. */
function openAct(event: KeyboardEvent, [ofSelected, ofPage]: readonly [string, string]): void {
  const button =
    document.querySelector<HTMLButtonElement>(`#bulkbar:not([hidden]) [data-bulk=${ofSelected}]`) ??
    document.querySelector<HTMLButtonElement>(`:is(${ofPage}):not(:disabled)`);
  if (button === null) return;
  // The letter is not for the dialog's first field.
  event.preventDefault();
  button.click();
}

async function moveChart(by: -1 | 1): Promise<void> {
  const address = movedAddress(by, Number(document.getElementById("main")?.dataset["now"]));
  if (address === null || !(await swapPage(address))) return;
  history.replaceState(null, "", address);
}

const list: readonly (readonly [string, string])[] = [
  ["/", "filter"],
  ["Esc", "clear, close"],
  ["j k", "next, previous"],
  ["Enter", "open"],
  ["x, Shift X", "select the row, all that the filter shows"],
  ["1–4", "only fail, warn, unknown, ok"],
  ["Ctrl K, ⌘K", "go to an organization, alert, page or setting"],
  ["g, then o a s r q c", "organizations, alerts, silences, receivers, queue, configuration"],
  ["[ ]", "chart earlier, later; arrows move its cursor, Esc resets it"],
  ["a e s", "acknowledge, judge, silence: opens the dialog"],
  ["r", "run now"],
  ["?", "this list"],
];

async function showKeys(): Promise<void> {
  const isOff = areKeysOff();
  const rows = list.map(([keys, what]) => `<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`).join("");
  const form = await openDialog({
    title: "Keys",
    content: `<dl>${rows}</dl><p>They are ${isOff ? "off" : "on"} in this browser.</p>`,
    cancel: "Close",
    verb: `Turn them ${isOff ? "on" : "off"}`,
  });
  if (form === null) return;
  turnKeysOff(!isOff);
}
