import { formatCount } from "../../../base/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { Overview } from "../../read/overview.ts";

const [width, height] = [1_312, 32];

/** Renders the rule under the masthead as the week: how many organizations spiked, hour by hour. */
export function renderTrace({ trace, traceTogether, rows }: Overview): Html {
  const now = rows.filter(
    ({ severity, others }) => (severity === "fail" || severity === "warn") && others.length === 0,
  ).length;
  const top = Math.max(3, now, ...trace) * 1.1;
  const step = width / Math.max(1, trace.length);
  const y = (count: number): number => Math.round((height - 1 - (count / top) * (height - 3)) * 10) / 10;
  const line: string[] = [];
  const hot: string[] = [];
  let last = y(0);
  for (const [index, count] of trace.entries()) {
    const [from, to, at] = [round(index * step), round((index + 1) * step), y(count)];
    line.push(`${index === 0 ? `M0 ${at}` : at === last ? "" : `V${at}`}H${to}`);
    if (traceTogether[index] === true) hot.push(`M${from} ${last}V${at}H${to}`);
    last = at;
  }
  const words = "organizations that spike, last 7 days";
  return html`<figure class="trace" id="trace">
    <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${words}">
      <path stroke="var(--ink)" stroke-width="1.6" vector-effect="non-scaling-stroke" d="${line.join("")}" />
      ${hot.length === 0 ? nothing : html`<path stroke="var(--fail)" stroke-width="2.4" vector-effect="non-scaling-stroke" d="${hot.join("")}" />`}
    </svg>
    <figcaption><span>${words}</span><b>${formatCount(now)} now</b></figcaption>
  </figure>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
