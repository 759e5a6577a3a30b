import { formatSeconds } from "../parts/figures.ts";
import { part, refresh } from "./page.ts";

const longestMs = 60_000;
const staleMs = 60_000;

/** What of a request of htmx is read here. */
interface Asked {
  readonly sourceElement: Element;
  readonly sourceEvent: Event;
  readonly request: { readonly headers: Record<string, string> };
  readonly response: { readonly status: number; readonly headers: Headers };
  readonly text: string;
}

/**
 * Asks for the page again every `data-every` milliseconds of the body while it is seen, and at once when it is shown again; after errors less
 * and less often. What has come is not drawn while a dialog is open or a row is ticked: how much it is stands above.
 */
export function startLive(): void {
  const main = part("main");
  if (main?.dataset["version"] === undefined) return;
  let [version, failures, heardMs] = [main.dataset["version"], 0, Date.now()];
  let waiting: ReturnType<typeof setTimeout> | undefined;
  // Another question would take the place of one that is still answered, and a slow page would never come.
  let isAsking = false;
  // What came was asked for by hand; the request for it is dropped while another question is under way.
  let isWanted = false;

  function ask(): void {
    clearTimeout(waiting);
    // What it is of may be gone; that is said now, for good.
    if (main?.dataset["version"] === undefined) return;
    if (!document.hidden && !isAsking) main.dispatchEvent(new Event("ask"));
    waiting = setTimeout(ask, Math.min(Number(document.body.dataset["every"]) * 2 ** failures, longestMs));
  }

  /** Calls `listener` for what htmx asks of this page; a question of ours is one that nobody sees, and may be told to end. */
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
    if (!isOurs || isWanted || !isBusy()) {
      isWanted = false;
      // Only now: what came and was not drawn has to come again.
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

function isBusy(): boolean {
  return document.querySelector("#dialog-place dialog, .picks input:checked") !== null;
}

function show(isLive: boolean, heardMs: number): void {
  const [lamp, stale] = [part("lamp"), part("stale")];
  if (lamp === null || stale === null) return;
  const since = formatSeconds(heardMs);
  lamp.textContent = isLive ? "live" : `last update ${since}`;
  lamp.classList.toggle("on", isLive);
  stale.hidden = isLive || Date.now() - heardMs < staleMs;
  stale.textContent = `This page is not live: no word from flatline since ${since} UTC. The figures below are from then.`;
}

function showWaiting(count: number): void {
  const button = part("waiting");
  if (button === null) return;
  button.hidden = count === 0;
  button.textContent = count === 1 ? "1 change, show it" : `${count} changes, show them`;
}

/** How many heads, rows and lines of the page that came are not on the one that is shown. */
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

/** Says the headline to readers of text when it has changed, once. */
function sayHeadline(): void {
  const headline = part("headline");
  const text = headline === null ? null : plainText(headline);
  said ??= text;
  if (text === said) return;
  said = text;
  const place = part("says");
  if (place !== null && text !== null) place.textContent = text;
}
