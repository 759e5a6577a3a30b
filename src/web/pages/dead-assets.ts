import { breakAddress } from "../../base/broken-address.ts";
import { hourMs } from "../../base/time.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { countOf, isSameDay, timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderTime } from "../parts/time.ts";
import type { Running } from "../read/running.ts";
import { renderSection, renderTable, type Column } from "./table.ts";

// All of them are in the CSV.
const shownAssets = 20;

const columns: readonly Column[] = [
  { name: "Died" },
  { name: "Type" },
  { name: "Address" },
  { name: "Attributes", kind: "wide" },
];

/** Renders the assets that died last in the spikes among these alerts: addresses broken, never a link. */
export async function renderDeadAssets(
  { store, clock, holdsEvents }: Pick<Running, "store" | "clock" | "holdsEvents">,
  alerts: readonly Alert[],
  csv: string,
): Promise<Html> {
  const nowMs = clock.nowMs();
  const spans = alerts.flatMap((alert) => {
    const { check, kind, slug, windowHours, startsAtMs } = alert;
    if (check !== "dead-asset-spike" || kind !== "verdict" || windowHours === undefined) return [];
    return [{ slug, interval: { afterMs: startsAtMs - windowHours * hourMs, untilMs: alert.end?.atMs ?? nowMs } }];
  });
  if (spans.length === 0 || !holdsEvents()) return nothing;
  const deaths = await store.evidence.newestDeaths({ spans, assetTypes: [], limit: shownAssets });
  const { assetTypes, attributeSets } = await store.evidence.factsOf(deaths);
  const counted = await store.events.deaths(spans.map(({ slug, interval }) => ({ slug, intervals: [interval] })));
  const count = counted.flat().reduce((sum, one) => sum + (one.deaths[0] ?? 0), 0);
  const isOfMany = new Set(spans.map(({ slug }) => slug)).size > 1;
  const rows = deaths.map(({ slug, asset, atMs, typeId, attributeSetId }) => {
    const attributes = attributeSetId === null ? {} : (attributeSets.get(attributeSetId) ?? {});
    return html`<tr>
      <td class="nowrap">${renderTime(atMs, nowMs, isSameDay(atMs, nowMs) ? "seconds" : "time")}</td>
      <td>${assetTypes.get(typeId) ?? "–"}</td>
      <td class="address">${breakAddress(asset)}</td>
      <td class="attrs wide second">
        ${Object.entries(attributes).map(([name, value]) => html`<span class="quiet">${name}</span> ${value} `)}
      </td>
      ${isOfMany ? html`<td><a href="/o/${encodeURIComponent(slug)}">${slug}</a></td>` : nothing}
    </tr>`;
  });
  const table =
    rows.length === 0
      ? html`<p class="second">None of them has a name.</p>`
      : html`${renderTable("", isOfMany ? [...columns, { name: "Organization" }] : columns, rows)}
          <p class="pager">
            <span
              >the last ${countOf(rows.length, "asset")}; addresses are broken on purpose, so that nothing opens
              them</span
            ><span><a href="${csv}" download>All of them as CSV</a></span>
          </p>`;
  const fromMs = Math.min(...spans.map(({ interval }) => interval.afterMs));
  const beside = html`<p>${countOf(count, "death")} since ${timeText(fromMs, nowMs)}</p>`;
  return renderSection("Dead assets", table, { beside, id: "assets" });
}
