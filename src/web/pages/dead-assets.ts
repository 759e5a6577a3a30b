import { breakAddress } from "../../base/broken-address.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { countOf, isSameDay, timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderTime } from "../parts/time.ts";
import type { AlertAssets } from "../read/dead-assets.ts";
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
  alertAssets: Pick<AlertAssets, "newest">,
  alerts: readonly Alert[],
  csv: string,
): Promise<Html> {
  const died = await alertAssets.newest(alerts, shownAssets);
  if (died === null) return nothing;
  const { assets, isOfMany, count, fromMs, nowMs } = died;
  const rows = assets.map(
    ({ slug, asset, assetType, deadAtMs, attributes }) =>
      html`<tr>
        <td class="nowrap">${renderTime(deadAtMs, nowMs, isSameDay(deadAtMs, nowMs) ? "seconds" : "time")}</td>
        <td>${assetType ?? "–"}</td>
        <td class="address">${breakAddress(asset)}</td>
        <td class="attrs wide second">
          ${Object.entries(attributes).map(([name, value]) => html`<span class="quiet">${name}</span> ${value} `)}
        </td>
        ${isOfMany ? html`<td><a href="/o/${encodeURIComponent(slug)}">${slug}</a></td>` : nothing}
      </tr>`,
  );
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
  const beside = html`<p>${countOf(count, "death")} since ${timeText(fromMs, nowMs)}</p>`;
  return renderSection("Dead assets", table, { beside, id: "assets" });
}
