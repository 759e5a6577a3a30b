import type { Place, PlaceList } from "../../contract/v1/places.ts";
import { html, type Html } from "../parts/html.ts";
import { findPlaces, nearestPlaces, type FoundPlace } from "../parts/places.ts";

const seenKey = "flatline-seen";
const mostSeen = 5;
const mostFound = 8;

/** Starts the dialog that leads to an organization, an incident, one of its acts, a page or a setting. */
export function startGoTo(): void {
  rememberSeen();
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  for (const button of document.querySelectorAll<HTMLElement>(".goto")) {
    button.hidden = false;
    if (isMac) button.querySelector("kbd")?.replaceChildren("⌘K");
    button.addEventListener("click", () => void openGoTo());
  }
  document.addEventListener("keydown", (event) => {
    const isAsked = event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey);
    if (!isAsked || event.shiftKey || event.altKey || document.querySelector("dialog:modal") !== null) return;
    event.preventDefault();
    void openGoTo();
  });
}

async function openGoTo(): Promise<void> {
  const dialog = document.createElement("dialog");
  dialog.className = "goto-dialog";
  dialog.ariaLabel = "Go to or do";
  const asks = "Organization, incident, act, page or setting";
  dialog.innerHTML = html`<input
      type="text"
      role="combobox"
      aria-expanded="true"
      aria-controls="goto-list"
      aria-autocomplete="list"
      aria-label="${asks}"
      placeholder="${asks}"
      autocomplete="off"
      spellcheck="false"
    />
    <ul id="goto-list" role="listbox" aria-label="Found"></ul>
    <p role="status"></p>`.html;
  const [input, list, none] = [
    dialog.querySelector("input"),
    dialog.querySelector("ul"),
    dialog.querySelector("p"),
  ] as const;
  if (input === null || list === null || none === null) return;
  let places: readonly Place[] = [];
  let shown: readonly Place[] = [];
  let at = 0;

  function draw(): void {
    const asked = input?.value.trim() ?? "";
    const found = asked === "" ? seenPlaces(places) : findPlaces(places, asked, mostFound);
    shown = found.map(({ place }) => place);
    at = Math.min(at, Math.max(0, shown.length - 1));
    const rows = found.map((one, index) => renderPlace(one, index, index === at));
    if (list !== null) list.innerHTML = html`${rows}`.html;
    if (shown.length > 0) input?.setAttribute("aria-activedescendant", `goto-${at}`);
    else input?.removeAttribute("aria-activedescendant");
    const isNone = shown.length === 0 && asked !== "" && places.length > 0;
    const nearest = isNone ? nearestPlaces(places, asked) : [];
    const words = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
    if (none !== null) none.textContent = isNone ? `Nothing is called «${asked}».${words}` : "";
  }

  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const place = shown[at];
    if (event.key === "Enter" && place !== undefined) location.assign(place.href);
    if (by === 0 || shown.length === 0) return;
    event.preventDefault();
    at = (at + by + shown.length) % shown.length;
    draw();
  });
  list.addEventListener("click", ({ target }) => {
    const href = target instanceof Element ? target.closest("li")?.dataset["href"] : undefined;
    if (href !== undefined) location.assign(href);
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const response = await fetch("/places.json");
  if (response.ok) ({ places } = (await response.json()) as PlaceList);
  draw();
}

function renderPlace({ place, letters }: FoundPlace, index: number, isChosen: boolean): Html {
  const on = new Set(letters);
  const name = Array.from(place.name).map((letter, at) => (on.has(at) ? html`<b>${letter}</b>` : letter));
  const severity = place.severity ?? "none";
  const mark = html`<svg class="mark ${severity}" viewBox="0 0 14 14" aria-hidden="true">
    <use href="#m-${severity}" />
  </svg>`;
  return html`<li role="option" id="goto-${index}" data-href="${place.href}" aria-selected="${String(isChosen)}">
    ${mark}<span class="name">${name}</span><span class="quiet">${place.kind}</span>
  </li>`;
}

/** Keeps which organizations and incidents were looked at last, in this browser. */
function rememberSeen(): void {
  if (!/^\/(?:o|incidents)\/[^/]+$/.test(location.pathname)) return;
  const seen = [location.pathname, ...readSeen().filter((path) => path !== location.pathname)];
  localStorage.setItem(seenKey, JSON.stringify(seen.slice(0, mostSeen + 1)));
}

function readSeen(): readonly string[] {
  return JSON.parse(localStorage.getItem(seenKey) ?? "[]") as readonly string[];
}

function seenPlaces(places: readonly Place[]): readonly FoundPlace[] {
  const byHref = new Map(places.map((place) => [place.href, place]));
  return readSeen()
    .filter((path) => path !== location.pathname)
    .slice(0, mostSeen)
    .flatMap((path) => {
      const place = byHref.get(path);
      return place === undefined ? [] : [{ place, letters: [] }];
    });
}
