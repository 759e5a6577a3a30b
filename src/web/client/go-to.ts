import { escapeUnseen } from "../../base/unseen-text.ts";
import { escapeHtml } from "../parts/html.ts";
import { mark } from "../page/parts/marks.ts";
import type { Place, PlaceList } from "../../contract/v1/places.ts";
import { findPlaces, nearestPlaces } from "../parts/places.ts";

const seenKey = "flatline-seen";
const mostSeen = 5;
const mostFound = 8;

/** Starts the dialog that leads to an organization, an alert, a page or a setting. */
export function startGoTo(): void {
  rememberSeen();
  addEventListener("flatline-page", rememberSeen);
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const key = document.getElementById("goto-key");
  if (key !== null) key.textContent = isMac ? "⌘K" : "Ctrl K";
  document.addEventListener("click", (event) => {
    if ((event.target as Element).closest("[data-goto]") !== null) void openGoTo();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(isMac ? event.metaKey : event.ctrlKey) || event.shiftKey || event.altKey)
      return;
    if (document.querySelector("dialog[open]") !== null) return;
    event.preventDefault();
    void openGoTo();
  });
}

function openGoTo(): Promise<void> {
  const dialog = document.createElement("dialog");
  dialog.className = "goto-dialog";
  dialog.setAttribute("aria-label", "Go to");
  dialog.innerHTML = `<input type="text" role="combobox" aria-expanded="true" aria-controls="goto-list" aria-autocomplete="list" aria-label="Organization, alert, page or setting" placeholder="Organization, alert, page or setting" autocomplete="off" spellcheck="false"><ul id="goto-list" role="listbox" aria-label="Found"></ul><p class="goto-none" role="status"></p>`;
  document.body.append(dialog);
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("ul");
  const none = dialog.querySelector("p");
  if (input === null || list === null || none === null) return Promise.resolve();
  let places: readonly Place[] = [];
  let shown: readonly Place[] = [];
  let at = 0;

  const draw = (): void => {
    const found = input.value.trim() === "" ? seenPlaces(places) : findPlaces(places, input.value, mostFound);
    shown = found.map(({ place }) => place);
    at = Math.min(at, Math.max(0, shown.length - 1));
    list.innerHTML = found
      .map(
        ({ place, letters }, index) =>
          `<li role="option" id="goto-${index}" data-href="${escapeHtml(place.href)}" aria-selected="${String(index === at)}">${place.severity === null ? "<span class=mark></span>" : mark(place.severity).html}<span class="goto-name">${markLetters(place.name, letters)}</span><span class="goto-kind">${escapeHtml(place.kind)}</span></li>`,
      )
      .join("");
    if (shown.length > 0) input.setAttribute("aria-activedescendant", `goto-${at}`);
    else input.removeAttribute("aria-activedescendant");
    const nearest = shown.length > 0 || input.value.trim() === "" ? [] : nearestPlaces(places, input.value.trim());
    none.textContent =
      shown.length > 0 || input.value.trim() === "" || places.length === 0
        ? ""
        : `Nothing is called «${input.value.trim()}».${nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`}`;
  };
  const go = (href: string): void => {
    dialog.close();
    const link = document.querySelector<HTMLAnchorElement>(`.pagesnav a[href="${CSS.escape(href)}"]`);
    if (link === null) location.href = href;
    else link.click();
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && shown.length > 0) {
      event.preventDefault();
      at = (at + by + shown.length) % shown.length;
      draw();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      const place = shown[at];
      if (place !== undefined) go(place.href);
    }
  });
  list.addEventListener("click", (event) => {
    const href = (event.target as Element).closest<HTMLElement>("li")?.dataset["href"];
    if (href !== undefined) go(href);
  });
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
    const load = async (): Promise<void> => {
      places = await fetchPlaces();
      draw();
    };
    void load();
  });
}

async function fetchPlaces(): Promise<readonly Place[]> {
  try {
    const response = await fetch("/places.json");
    return response.ok ? ((await response.json()) as PlaceList).places : [];
  } catch {
    return [];
  }
}

function markLetters(name: string, letters: readonly number[]): string {
  const on = new Set(letters);
  return Array.from(name)
    .map((letter, index) => {
      const text = escapeHtml(escapeUnseen(letter));
      return on.has(index) ? `<b>${text}</b>` : text;
    })
    .join("");
}

/** Keeps which organizations and alerts were looked at last, in this browser. */
function rememberSeen(): void {
  if (!/^\/(?:o|alerts)\/./.test(location.pathname)) return;
  const seen = [location.pathname, ...readSeen().filter((path) => path !== location.pathname)];
  localStorage.setItem(seenKey, JSON.stringify(seen.slice(0, mostSeen + 1)));
}

function readSeen(): readonly string[] {
  const stored = localStorage.getItem(seenKey);
  return stored === null ? [] : (JSON.parse(stored) as readonly string[]);
}

function seenPlaces(
  places: readonly Place[],
): readonly { readonly place: Place; readonly letters: readonly number[] }[] {
  const byHref = new Map(places.map((place) => [place.href, place]));
  return readSeen()
    .filter((path) => path !== location.pathname)
    .slice(0, mostSeen)
    .flatMap((path) => {
      const place = byHref.get(path);
      return place === undefined ? [] : [{ place, letters: [] }];
    });
}
