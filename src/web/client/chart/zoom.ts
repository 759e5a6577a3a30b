import type UPlot from "uplot";

import type { ChartData } from "../../page/chart/chart-data.ts";
import { renderLanes, type Lanes } from "../../page/chart/lanes.ts";

const secondMs = 1_000;
// At the present there is nothing later.
const leastMoveMs = 10_000;

/** A stretch of time, epoch ms. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Shows the whole of what the server sent, or asks it for the range without the stretch. */
export function resetZoom(plot: UPlot, data: ChartData): void {
  if (data.isAsked) document.getElementById("zoom-reset")?.click();
  else plot.setScale("x", { min: data.fromMs / secondMs, max: data.toMs / secondMs });
}

/** Moves the lanes with the chart, and keeps the zoom in the address; a link takes it back. */
export function followZoom(plot: UPlot, data: ChartData, lanes: Lanes | null): void {
  const { min, max } = plot.scales["x"] ?? {};
  if (min === undefined || max === undefined) return;
  const [fromMs, toMs] = [Math.round(min * secondMs), Math.round(max * secondMs)];
  const isWhole = Math.abs(fromMs - data.fromMs) < secondMs && Math.abs(toMs - data.toMs) < secondMs;
  const switches = document.querySelector<HTMLElement>(".switches");
  if (switches !== null) Object.assign(switches.dataset, { from: String(fromMs), to: String(toMs) });
  const place = document.querySelector(".lanes");
  if (place !== null && lanes !== null)
    place.outerHTML = renderLanes(isWhole ? data : { ...data, fromMs, toMs }, lanes).html;
  const reset = document.getElementById("zoom-reset");
  if (reset !== null) reset.hidden = isWhole && !data.isAsked;
  // The address of a stretch that the server gave stays as it is.
  if (isWhole && data.isAsked) return;
  const stretch = isWhole ? null : { fromMs, toMs };
  const address = withStretch(location.href, stretch);
  if (address !== location.href) history.replaceState(null, "", address);
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-keeps]"))
    link.href = withStretch(link.href, stretch);
}

/** The address of the chart half of its length earlier (-1) or later (1); null: there is no chart, or nothing later. */
export function movedAddress(by: -1 | 1, nowMs: number): string | null {
  // The switches stand there also where nothing was recorded.
  const { from, to } = document.querySelector<HTMLElement>(".switches")?.dataset ?? {};
  const [fromMs, lastMs] = [Number(from), Number(to)];
  if (!(lastMs > fromMs)) return null;
  const length = lastMs - fromMs;
  const toMs = Math.min(lastMs + (by * length) / 2, nowMs);
  if (by === 1 && toMs - lastMs < leastMoveMs) return null;
  return withStretch(location.href, { fromMs: Math.round(toMs - length), toMs: Math.round(toMs) });
}

function withStretch(href: string, stretch: Stretch | null): string {
  const address = new URL(href);
  address.searchParams.delete("from");
  address.searchParams.delete("to");
  if (stretch === null) return address.href;
  address.searchParams.set("from", String(stretch.fromMs));
  address.searchParams.set("to", String(stretch.toMs));
  return address.href;
}
