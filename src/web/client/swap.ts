import { startDeadAssets } from "./dead-assets.ts";
import { startChart } from "./chart/chart.ts";

// The one chart of this page, and how often another page was asked for.
const shown: { end: (() => void) | null; swaps: number } = { end: null, swaps: 0 };

/** Begins what scripts draw on the page that is shown: its chart, its dead assets. */
export function beginChart(): void {
  shown.end?.();
  shown.end = startChart();
  startDeadAssets();
}

/**
 * Gets a page from the server and shows its content in the place of what is shown; false when it could not, or when another
 * one was asked for meanwhile.
 */
export async function swapPage(url: string): Promise<boolean> {
  const swap = ++shown.swaps;
  const page = await fetchPage(url);
  if (page === null || swap !== shown.swaps) return false;
  show(page, url === location.href);
  return true;
}

/**
 * Shows the page of this address as it is now; false when it could not, or when meanwhile the reader went elsewhere or
 * `isBusy`: what is read or filled in is not pulled away.
 */
export async function refreshPage(isBusy: () => boolean): Promise<boolean> {
  const [url, swap] = [location.href, shown.swaps];
  const page = await fetchPage(url);
  if (page === null || swap !== shown.swaps || location.href !== url || isBusy()) return false;
  show(page, true);
  return true;
}

/** Swaps some of its elements only, by id: what is typed into stays. */
export async function swapPart(url: string, ids: readonly string[]): Promise<void> {
  const page = await fetchPage(url);
  // A later word was quicker.
  if (page === null || location.href !== url) return;
  for (const id of ids) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old !== null && fresh !== null) old.innerHTML = fresh.innerHTML;
  }
  dispatchEvent(new Event("flatline-swap"));
}

async function fetchPage(url: string): Promise<Document | null> {
  let response: Response;
  try {
    response = await fetch(url, { headers: { accept: "text/html" } });
  } catch {
    return null;
  }
  // A page that is closed now leads to the sign-in, which leads back to it.
  if (response.redirected && new URL(response.url).pathname === "/sign-in") {
    location.assign(response.url);
    return null;
  }
  if (!(response.headers.get("content-type") ?? "").startsWith("text/html")) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** `isSame`: the page is the one that is shown, later; what an act answered stays then. */
function show(page: Document, isSame: boolean): void {
  const main = document.getElementById("main");
  const next = page.getElementById("main");
  if (main === null || next === null) return;
  const focused = document.activeElement;
  const open = [...main.querySelectorAll("details")].map((details) => details.open);
  const selector = main.contains(focused) ? selectorOf(focused) : null;
  const said = isSame ? document.getElementById("did") : null;
  main.innerHTML = next.innerHTML;
  if (said !== null) document.getElementById("did")?.replaceWith(said);
  main.dataset["live"] = next.dataset["live"] ?? "no";
  for (const [index, details] of [...main.querySelectorAll("details")].entries()) details.open = open[index] ?? false;
  if (selector !== null) main.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  document.title = page.title;
  document.documentElement.dataset["page"] = page.documentElement.dataset["page"] ?? "";
  for (const id of ["data", "trace", "banner"]) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old !== null && fresh !== null) old.innerHTML = fresh.innerHTML;
    else if (old === null && fresh !== null) document.body.append(document.importNode(fresh, true));
    else if (id === "data") old?.remove();
  }
  const icon = page.getElementById("favicon")?.getAttribute("href");
  if (icon !== undefined && icon !== null) document.getElementById("favicon")?.setAttribute("href", icon);
  const nav = page.querySelector(".pagesnav");
  if (nav !== null) document.querySelector(".pagesnav")?.replaceChildren(...document.importNode(nav, true).childNodes);
  beginChart();
  dispatchEvent(new Event("flatline-swap"));
}

/** How to find what had the focus in the page that comes. */
function selectorOf(element: Element | null): string | null {
  if (!(element instanceof HTMLElement)) return null;
  const { do: does, receiver } = element.dataset;
  if (does !== undefined)
    return `[data-do="${does}"]${receiver === undefined ? "" : `[data-receiver="${CSS.escape(receiver)}"]`}`;
  const href = element.getAttribute("href");
  return href === null ? null : `a[href="${CSS.escape(href)}"]`;
}
