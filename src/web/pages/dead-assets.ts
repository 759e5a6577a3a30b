import { breakAddress } from "../../base/broken-address.ts";
import { none } from "../../base/numbers.ts";
import type { Alert } from "../../store/alerts/alerts.ts";
import { countOf, isSameDay, timeText } from "../../words/numbers.ts";
import { html, nothing, renderTime, type Html } from "./html.ts";
import type { AlertAssets } from "../read/dead-assets.ts";
import { organizationLink, renderSection, renderTable, type Column } from "./table.ts";

// The CSV has all of them.
const shownAssets = 20;

/** Renders the last dead assets of these alerts; their addresses are broken, never links. */
export async function renderDeadAssets(
  alertAssets: Pick<AlertAssets, "newest">,
  alerts: readonly Alert[],
  csv: string,
): Promise<Html> {
  const died = await alertAssets.newest(alerts, shownAssets);
  if (died === null) return nothing;
  const { assets, isOfMany, count, fromMs, nowMs } = died;
  const columns: readonly Column<(typeof assets)[number]>[] = [
    ["Died", "nowrap", ({ deadAtMs }) => renderTime(deadAtMs, nowMs, isSameDay(deadAtMs, nowMs) ? "seconds" : "time")],
    ["Type", "", ({ assetType }) => assetType ?? none],
    ["Address", "address", ({ asset }) => breakAddress(asset)],
    [
      "Attributes",
      "attrs wide second",
      ({ attributes }) =>
        Object.entries(attributes)
          .map((one) => one.join(" "))
          .join(", "),
    ],
    ["Organization", "", ({ slug }) => organizationLink(slug)],
  ];
  const table =
    assets.length === 0
      ? html`<p class="second">None of them has a name.</p>`
      : html`${renderTable(isOfMany ? columns : columns.slice(0, -1), assets)}
          <p class="pager">
            <span
              >the last ${countOf(assets.length, "asset")}; addresses are broken on purpose, so that nothing opens
              them</span
            ><span><a href="${csv}" download>All of them as CSV</a></span>
          </p>`;
  const beside = html`<p>${countOf(count, "death")} since ${timeText(fromMs, nowMs)}</p>`;
  return renderSection("Dead assets", table, { beside, id: "assets" });
}
