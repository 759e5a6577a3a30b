import { formatSeconds } from "../parts/figures.ts";
import { part, refresh } from "./page.ts";
import { inZone, zoneName } from "./zone.ts";
import { clockText, dayText, durationText } from "../../words/numbers.ts";

// Changes within two seconds are drawn together.
const refreshEveryMs = 2_000;
// The server says something at least every 10 s; a line that says nothing for so long is dead though it looks open.
const silentMs = 25_000;
const staleMs = 60_000;
const retryMs = 2_000;

/** Listens to `/events`, again after a break; reads the page again when something has changed, and shows whether it is live. */
export function startLive(): void {
  let source: EventSource | null = null;
  let heardMs = Date.now();
  let offsetMs = madeAtMs() - heardMs || 0;
  let isLive = false;
  let waiting: ReturnType<typeof setTimeout> | null = null;

  function refreshSoon(): void {
    waiting ??= setTimeout(() => {
      waiting = null;
      // What nobody sees is not asked for.
      if (document.hidden) return refreshSoon();
      if (part("main")?.hasAttribute("data-live") === true) refresh();
    }, refreshEveryMs);
  }

  function heard(nowMs: number): void {
    heardMs = Date.now();
    if (Number.isFinite(nowMs)) offsetMs = nowMs - heardMs;
    isLive = true;
    show();
  }

  function open(): void {
    source?.close();
    const next = new EventSource(new URL(`../events?since=${madeAtMs()}`, import.meta.url));
    source = next;
    next.addEventListener("hello", (event) => {
      heard(Number(event.data));
    });
    next.addEventListener("beat", (event) => heard(Number(event.data)));
    next.addEventListener("change", () => {
      heard(Number.NaN);
      refreshSoon();
    });
    next.addEventListener("error", () => {
      if (source !== next) return;
      isLive = false;
      show();
      // A refusal ends an EventSource for good.
      if (next.readyState === EventSource.CLOSED) setTimeout(open, retryMs);
    });
  }

  function show(): void {
    const [lamp, clock, stale] = [part("lamp"), part<HTMLTimeElement>("clock"), part("stale")];
    if (lamp === null || clock === null || stale === null) return;
    const quietMs = Date.now() - heardMs;
    const text = isLive ? "live" : `reconnecting, last update ${durationText(quietMs)} ago`;
    if (lamp.textContent !== text) lamp.textContent = text;
    lamp.classList.toggle("on", isLive);
    const nowMs = (isLive || quietMs < staleMs ? Date.now() : heardMs) + offsetMs;
    const [date, seconds, zone] = clock.querySelectorAll("span");
    if (date !== undefined) date.textContent = `${dayText(inZone(nowMs))} `;
    const time = [...clock.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
    if (time !== undefined) time.textContent = clockText(inZone(nowMs));
    if (seconds !== undefined) seconds.textContent = formatSeconds(inZone(nowMs)).slice(5);
    if (zone !== undefined) zone.textContent = ` ${zoneName()}`;
    stale.hidden = isLive || quietMs < staleMs;
    if (!stale.hidden)
      stale.textContent = `This page is not live: no word from flatline since ${formatSeconds(inZone(heardMs + offsetMs))}. The figures below are from then.`;
  }

  setInterval(() => {
    if (isLive && Date.now() - heardMs > silentMs) {
      isLive = false;
      open();
    }
    show();
  }, 1_000);
  open();
  document.addEventListener("htmx:after:swap", () => {
    const severity = part("main")?.dataset["severity"];
    const icon = part<HTMLLinkElement>("favicon");
    if (severity !== undefined && icon !== null && !icon.href.endsWith(`/${severity}.svg`))
      icon.href = new URL(`${severity}.svg`, icon.href).href;
    sayHeadline();
  });
}

/** When the page was made, or last read again, by the server's clock; NaN: it has no clock. */
function madeAtMs(): number {
  return Date.parse(part<HTMLTimeElement>("clock")?.dateTime ?? "");
}

let said: string | null = null;

/** Says the headline to readers of text when it has changed, once. */
function sayHeadline(): void {
  const text = part("headline")?.textContent.replaceAll(/\s+/g, " ").trim() ?? null;
  said ??= text;
  if (text === said) return;
  said = text;
  const place = part("says");
  if (place !== null && text !== null) place.textContent = text;
}
