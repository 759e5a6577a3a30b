import { timeText, type TimeKind } from "../parts/time.ts";

const zoneKey = "flatline-zone";
const themeKey = "flatline-theme";
const minuteMs = 60_000;

/** Starts the choices in the foot of the page, kept in this browser: the zone of the times and the theme. */
export function startChoices(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-choice]");
    if (button === null) return;
    const key = button.dataset["choice"] === "theme" ? themeKey : zoneKey;
    // The first of each choice is what holds without one.
    if (button.value === "system" || button.value === "utc") localStorage.removeItem(key);
    else localStorage.setItem(key, button.value);
    showChoices();
    dispatchEvent(new Event("flatline-choice"));
  });
  document.addEventListener("pointerover", titleTime);
  document.addEventListener("focusin", titleTime);
  new MutationObserver((changes) => {
    if (!isLocal()) return;
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) writeTimes(node);
  }).observe(document.body, { childList: true, subtree: true });
  showChoices();
}

/** Returns the instant whose UTC words are those of `atMs` in the zone that was chosen. */
export function inZone(atMs: number): number {
  return isLocal() ? atMs - new Date(atMs).getTimezoneOffset() * minuteMs : atMs;
}

function isLocal(): boolean {
  return localStorage.getItem(zoneKey) === "local";
}

function showChoices(): void {
  const theme = localStorage.getItem(themeKey);
  if (theme === null) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  const zone = document.getElementById("zone");
  if (zone !== null) zone.textContent = isLocal() ? zoneName() : "UTC";
  const held: Readonly<Record<string, string>> = { theme: theme ?? "system", zone: isLocal() ? "local" : "utc" };
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-choice]"))
    button.setAttribute("aria-pressed", String(held[button.dataset["choice"] ?? ""] === button.value));
  writeTimes(document.body);
}

function zoneName(): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "local";
}

function writeTimes(root: Element): void {
  const found = root.matches("time[data-kind]") ? [root] : root.querySelectorAll("time[data-kind]");
  for (const element of found as Iterable<HTMLTimeElement>) {
    const kind = element.dataset["kind"] as TimeKind;
    const text = timeText(kind, inZone(Date.parse(element.dateTime)), inZone(Date.now()));
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Under the pointer or the focus an instant says the reader's own time, with seconds. */
function titleTime({ target }: Event): void {
  const element = target instanceof Element ? target.closest("time") : null;
  if (element === null || element.title !== "") return;
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  element.title = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(at);
}
