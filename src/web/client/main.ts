// The page's entry: what the server drew is taken over and kept live.
import { escapeUnseen } from "../../base/unseen-text.ts";
import { startActions } from "./actions.ts";
import { startChoices } from "./choices.ts";
import { startGoTo } from "./go-to.ts";
import { startListings } from "./listing.ts";
import { startKeys } from "./keys.ts";
import { startOverview } from "./overview.ts";
import { noteBack } from "./place.ts";
import { openStream, type Stream } from "./stream.ts";
import { startSelection } from "./selection.ts";
import { beginChart, refreshPage } from "./swap.ts";

const refreshEveryMs = 2_000;

function start(): void {
  document.documentElement.classList.add("js");
  let stream: Stream = { now: () => Number(document.getElementById("main")?.dataset["now"]) };
  const overview = startOverview(() => stream);
  beginChart();
  startActions();
  startSelection(overview);
  startKeys(overview);
  startChoices();
  startGoTo();
  startListings();
  useOrder();
  let refresh: ReturnType<typeof setTimeout> | null = null;
  let isFirst = true;
  // What is filled in, read in full or typed is not pulled away.
  const isBusy = (): boolean =>
    document.querySelector("dialog[open], details.span[open], #dead-part[data-more]") !== null ||
    document.activeElement?.matches("#main input, #main textarea, #main select") === true;
  const refreshSoon = (): void => {
    refresh ??= setTimeout(() => void refreshNow(), refreshEveryMs);
  };
  const refreshNow = async (): Promise<void> => {
    refresh = null;
    // What nobody sees is not asked for.
    const isDone = !isBusy() && !document.hidden && (await refreshPage(isBusy));
    if (isDone) useOrder();
    else if (isBusy() || document.hidden) refreshSoon();
  };
  const isLivePage = (): boolean => document.getElementById("main")?.dataset["live"] === "yes";
  stream = openStream({
    hello: () => {
      overview?.hello();
      if (!isFirst && isLivePage()) refreshSoon();
      isFirst = false;
    },
    change: () => {
      if (
        document.getElementById("fleet") === null &&
        isLivePage() &&
        document.querySelector("input[name=letter]:checked") === null
      )
        refreshSoon();
    },
  });
  addEventListener("popstate", () => {
    noteBack();
    location.reload();
  });
}

/** The neighbours are those of the list that the reader came from. */
function useOrder(): void {
  const slug = document.querySelector<HTMLElement>(".buttons")?.dataset["slug"];
  const stored = sessionStorage.getItem("flatline-order");
  if (slug === undefined || stored === null) return;
  const order = JSON.parse(stored) as readonly string[];
  const at = order.indexOf(slug);
  if (at === -1) return;
  show("k", order[at - 1]);
  show("j", order[at + 1]);
}

function show(key: string, slug: string | undefined): void {
  const link = document.querySelector<HTMLAnchorElement>(`[data-neighbour=${key}]`);
  if (link === null) return;
  link.hidden = slug === undefined;
  if (slug === undefined) return;
  link.href = `/o/${encodeURIComponent(slug)}`;
  const text = [...link.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  if (text !== undefined) text.textContent = escapeUnseen(key === "k" ? `‹ ${slug} ` : `${slug} `);
}

start();
