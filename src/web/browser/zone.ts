import { formatSeconds } from "../parts/figures.ts";
import { kindText, type TimeKind } from "../parts/time.ts";
import { dayText } from "../../words/numbers.ts";

const key = "flatline-zone";
const minuteMs = 60_000;
const isLocal = (): boolean => localStorage.getItem(key) === "local";
const toLocal = (atMs: number): number => atMs - new Date(atMs).getTimezoneOffset() * minuteMs;

/** Returns an instant so that writing it in UTC writes it in the reader's zone. */
export function inZone(atMs: number): number {
  return isLocal() ? toLocal(atMs) : atMs;
}

/** Returns the name of the reader's zone: "UTC", or "GMT+9". */
function zoneName(): string {
  if (!isLocal()) return "UTC";
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "local";
}

/** Writes the times of the page in the zone that the reader chooses in its foot; the other one is each time's title. */
export function startZone(): void {
  for (const place of document.querySelectorAll<HTMLElement>(".zones")) place.hidden = false;
  document.addEventListener("click", ({ target }) => {
    const zone = target instanceof Element ? target.closest<HTMLElement>("[data-zone]")?.dataset["zone"] : undefined;
    if (zone === undefined) return;
    localStorage.setItem(key, zone);
    write();
  });
  document.addEventListener("htmx:after:swap", write);
  write();
}

function write(): void {
  const nowMs = inZone(Date.now());
  for (const button of document.querySelectorAll<HTMLElement>("[data-zone]"))
    button.ariaPressed = String((button.dataset["zone"] === "local") === isLocal());
  for (const place of document.querySelectorAll("#clock .zone")) place.textContent = zoneName();
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-kind]")) {
    const atMs = Date.parse(time.dateTime);
    time.textContent = kindText(time.dataset["kind"] as TimeKind, inZone(atMs), nowMs);
    const other = isLocal() ? atMs : toLocal(atMs);
    time.title = `${dayText(other)} ${formatSeconds(other)} ${isLocal() ? "UTC" : "in this browser's zone"}`;
  }
}
