import { secondsText } from "../../words/numbers.ts";
import { part, refresh } from "./page.ts";

const longestMs = 60_000;
const staleMs = 60_000;

/** The fields of an htmx request that are read here. */
interface Asked {
  readonly sourceElement: Element;
  readonly sourceEvent: Event;
  readonly request: { readonly headers: Record<string, string> };
  readonly response: { readonly status: number; readonly headers: Headers };
  readonly text: string;
}

/**
 * Refreshes a visible page every `data-every` milliseconds, and less often after errors. While a dialog is open or a
 * row is ticked, it only counts the changes.
 */
export function startLive(): void {
  const main = part("main");
  if (main?.dataset["version"] === undefined) return;
  let [version, failures, heardMs] = [main.dataset["version"], 0, Date.now()];
  let waiting: ReturnType<typeof setTimeout> | undefined;
  // Only one refresh runs at a time: a new one would cancel a slow one.
  let isAsking = false;
  // The reader asked to see the changes; htmx drops a request while another runs.
  let isWanted = false;

  function ask(): void {
    clearTimeout(waiting);
    // A message that the page is gone has no version, and stays.
    if (main?.dataset["version"] === undefined) return;
    if (!document.hidden && !isAsking) main.dispatchEvent(new Event("ask"));
    waiting = setTimeout(ask, Math.min(Number(document.body.dataset["every"]) * 2 ** failures, longestMs));
  }

  /** Listens to the page's own htmx requests; `isOurs`: a timer asked, not a person. */
  function on(name: string, listener: (asked: Asked, isOurs: boolean, event: Event) => void): void {
    document.addEventListener(`htmx:${name}`, (event) => {
      const { ctx } = (event as CustomEvent<{ readonly ctx: Asked }>).detail;
      if (ctx.sourceElement === main) listener(ctx, ctx.sourceEvent.type === "ask", event);
    });
  }

  function heard(isGood: boolean): void {
    failures = isGood ? 0 : failures + 1;
    if (isGood) heardMs = Date.now();
    show(failures === 0, heardMs);
  }

  on("config:request", ({ request }, isOurs) => {
    isAsking = true;
    if (isOurs && !isWanted) request.headers["If-None-Match"] = version;
  });
  on("before:response", ({ response }, isOurs, event) => {
    const isGood = response.headers.has("etag");
    heard(isGood);
    if (!isGood && isOurs && response.status >= 500) event.preventDefault();
  });
  on("error", () => heard(false));
  on("finally:request", () => {
    isAsking = false;
  });
  on("before:swap", ({ response, text }, isOurs, event) => {
    if (isOurs && response.status === 304) return;
    const busy = document.querySelector("#dialog-place dialog, .picks input:checked");
    if (!isOurs || isWanted || busy === null) {
      isWanted = false;
      // If the page was not drawn, the next refresh must bring it again.
      version = response.headers.get("etag") ?? version;
      return showWaiting(0);
    }
    event.preventDefault();
    showWaiting(changesOf(main, text));
  });
  document.addEventListener("htmx:after:swap", () => {
    const { severity } = main.dataset;
    const icon = part<HTMLLinkElement>("favicon");
    if (severity !== undefined && icon !== null && !icon.href.endsWith(`/${severity}.svg`))
      icon.href = new URL(`${severity}.svg`, icon.href).href;
    sayHeadline();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) ask();
  });
  part("waiting")?.addEventListener("click", () => {
    isWanted = true;
    refresh();
  });
  show(true, heardMs);
  sayHeadline();
  ask();
}

function show(isLive: boolean, heardMs: number): void {
  const [lamp, stale] = [part("lamp"), part("stale")];
  if (lamp === null || stale === null) return;
  const at = secondsText(heardMs);
  lamp.textContent = isLive ? "live" : `last update ${at}`;
  lamp.classList.toggle("on", isLive);
  stale.hidden = isLive || Date.now() - heardMs < staleMs;
  stale.textContent = `This page is not live: no word from flatline since ${at} UTC. The figures below are from then.`;
}

function showWaiting(count: number): void {
  const button = part("waiting");
  if (button === null) return;
  button.hidden = count === 0;
  button.textContent = count === 1 ? "1 change, show it" : `${count} changes, show them`;
}

/** Returns how many headings, rows and list items of the new page are not on the shown one. */
function changesOf(shown: HTMLElement, text: string): number {
  const next = new DOMParser().parseFromString(text, "text/html").getElementById("main");
  return next === null ? 0 : wordsOf(next).difference(wordsOf(shown)).size;
}

function wordsOf(root: HTMLElement): Set<string> {
  const parts = root.querySelectorAll("h1, tr, li");
  return new Set([...parts].map((one) => `${one.tagName} ${plainText(one)}`));
}

function plainText(element: Element): string {
  const copy = element.cloneNode(true) as Element;
  for (const time of copy.querySelectorAll("time, [data-picked]")) time.remove();
  return copy.textContent.replaceAll(/\s+/g, " ").trim();
}

let said: string | null = null;

/** Announces a changed headline to screen readers, once. */
function sayHeadline(): void {
  const headline = part("headline");
  const text = headline === null ? null : plainText(headline);
  said ??= text;
  if (text === said) return;
  said = text;
  const place = part("says");
  if (place !== null && text !== null) place.textContent = text;
}
