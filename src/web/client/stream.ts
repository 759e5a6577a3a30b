import { formatDay, formatLengthInProse, formatSeconds } from "../parts/figures.ts";
import { inZone } from "./choices.ts";
import { type FleetData, renderTrace } from "../page/overview/fleet.ts";
import { renderPill, type WaitingCounts } from "../page/parts/waiting.ts";
import { renderStoreProblem } from "../page/parts/store-problem.ts";
import type { RowData } from "../page/overview/row.ts";

/** What has changed, as `/events` says it. */
export interface PageChange extends WaitingCounts {
  readonly nowMs: number;
  readonly rows: readonly RowData[];
  readonly gone: readonly string[];
  readonly fleet: FleetData;
  readonly storeProblem: string | null;
}

export interface Stream {
  /** The server's time; stands still while there has been no word from it for a minute. */
  now(): number;
}

// The server says something at least every 10 s; a line that says nothing for so long is dead though it looks open.
const silentMs = 25_000;
const staleMs = 60_000;
const retryMs = 2_000;

/** Listens to `/events`, again after a break; shows in the masthead whether the page is live. */
export function openStream(on: { readonly hello: () => void; readonly change: () => void }): Stream {
  const lamp = document.getElementById("stream");
  const clock = document.getElementById("clock");
  const stale = document.getElementById("stale");
  const startMs = Number(document.getElementById("main")?.dataset["now"] ?? Date.now());
  let offsetMs = startMs - Date.now();
  let heardMs = Date.now();
  let isLive = false;
  let source: EventSource | null = null;

  function heard(nowMs: number): void {
    heardMs = Date.now();
    offsetMs = nowMs - heardMs;
    isLive = true;
    show();
  }

  function open(): void {
    source?.close();
    const next = new EventSource("/events");
    source = next;
    next.addEventListener("hello", (event) => {
      heard(Number(event.data));
      on.hello();
    });
    next.addEventListener("beat", (event) => heard(Number(event.data)));
    next.addEventListener("change", (event) => {
      heard((JSON.parse(String(event.data)) as { readonly nowMs: number }).nowMs);
      on.change();
    });
    next.addEventListener("error", () => {
      if (source !== next) return;
      isLive = false;
      show();
      // A refusal ends an EventSource for good.
      if (next.readyState === EventSource.CLOSED) setTimeout(open, retryMs);
    });
  }

  function now(): number {
    const quietMs = Date.now() - heardMs;
    return isLive || quietMs < staleMs ? Date.now() + offsetMs : heardMs + offsetMs;
  }

  function show(): void {
    if (lamp === null || clock === null || stale === null) return;
    const quietMs = Date.now() - heardMs;
    lamp.className = "";
    const text = isLive ? "live" : `reconnecting, last update ${formatLengthInProse(quietMs)} ago`;
    if (lamp.dataset["text"] !== text) {
      lamp.dataset["text"] = text;
      lamp.innerHTML = isLive
        ? `<svg class="lamp" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="4.4" fill="currentColor"/></svg>live`
        : `<svg class="lamp off" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.6 1.6"/></svg>${text}`;
    }
    const serverMs = now();
    const shownMs = inZone(serverMs);
    clock.textContent = `${formatDay(shownMs)} ${formatSeconds(shownMs)}`;
    const isStale = !isLive && quietMs >= staleMs;
    stale.hidden = !isStale;
    if (isStale)
      stale.textContent = `This page is not live: no word from flatline since ${formatSeconds(heardMs + offsetMs)}. The figures below are from then.`;
  }

  setInterval(() => {
    if (isLive && Date.now() - heardMs > silentMs) {
      isLive = false;
      open();
    }
    show();
  }, 1_000);
  open();
  return { now };
}

/** Updates the trace and the counts in the masthead, on every page. */
export function showFrame({
  fleet,
  storeProblem,
  ...counts
}: Pick<PageChange, "fleet" | "storeProblem" | keyof WaitingCounts>): void {
  replaceHtml(document.getElementById("trace"), renderTrace(fleet).html);
  replaceHtml(document.getElementById("store"), renderStoreProblem(storeProblem).html);
  for (const name of ["unattended", "deadLetters", "queued"] as const)
    replaceHtml(document.querySelector(`.pagesnav [data-count=${name}]`), renderPill(name, counts[name]).html);
}

const drawn = new WeakMap<Element, string>();

/** Draws only what differs: what is not touched keeps its focus and its place. */
export function replaceHtml(element: Element | null, markup: string): void {
  if (element === null || drawn.get(element) === markup) return;
  drawn.set(element, markup);
  element.innerHTML = markup;
}
