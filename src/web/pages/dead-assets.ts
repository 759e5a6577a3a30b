import { breakAddress } from "../../base/broken-address.ts";
import { formatCount } from "../../base/numbers.ts";
import { countOf, isSameDay, timeText } from "../../words/numbers.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderTime } from "../parts/time.ts";
import type { AssetState, DeadAssetList } from "../read/dead-assets.ts";
import { renderSection, renderSwitch, renderTable, withParams, type Column } from "./table.ts";

export interface DeadAssetsOptions {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly nowMs: number;
}

const stateWords: Readonly<Record<AssetState, string>> = {
  all: "all",
  dead: "still dead",
  alive: "found alive",
};

const columns: readonly Column[] = [
  { name: "Died", kind: "at", sort: "descending" },
  { name: "Type", kind: "type" },
  { name: "Address" },
  { name: "Attributes", kind: "attrs" },
];

/** Renders a page of the assets that died: addresses broken, never a link. */
export function renderDeadAssets(list: DeadAssetList | null, { path, params, nowMs }: DeadAssetsOptions): Html {
  if (list === null) return nothing;
  const { alertId, count, known, fromMs, state, assets, next, problem } = list;
  const id = "assets";
  const href = (changes: Readonly<Record<string, string | null>>): string =>
    `${withParams(path, params, changes)}#${id}`;
  if (problem !== null) return renderSection("Dead assets", html`<p class="second">${problem}.</p>`, { id });
  const names =
    known === null ? "" : known === count ? ", all with a name" : `, ${countOf(known, "asset")} with a name`;
  const beside = html`<p>${countOf(count, "death")} since ${timeText(fromMs, nowMs)}${names}</p>
    ${
      alertId === null
        ? nothing
        : renderSwitch(
            (Object.keys(stateWords) as AssetState[]).map((one) => ({
              words: stateWords[one],
              href: href({ assets: one === "all" ? null : one, after: null }),
              isChosen: one === state,
            })),
            "Which of them",
          )
    }`;
  const isOfMany = alertId === null;
  const last: Column = isOfMany ? { name: "Organization" } : { name: "Found alive", kind: "n" };
  const rows = assets.map(
    ({ slug, asset, assetType, deadAtMs, attributes, revivedAtMs }) =>
      html`<tr>
        <td class="at">${renderTime(deadAtMs, nowMs, isSameDay(deadAtMs, nowMs) ? "seconds" : "time")}</td>
        <td class="type">${assetType ?? "–"}</td>
        <td class="address">${breakAddress(asset)}</td>
        <td class="attrs second">
          ${Object.entries(attributes).map(([name, value]) => html`<span class="quiet">${name}</span> ${value} `)}
        </td>
        ${isOfMany ? html`<td><a href="/o/${encodeURIComponent(slug)}">${slug}</a></td>` : html`<td class="n">${revivedAtMs === null ? html`<b>still dead</b>` : renderTime(revivedAtMs, nowMs)}</td>`}
      </tr>`,
  );
  const csv = alertId === null ? null : `/api/v1/alerts/${encodeURIComponent(alertId)}/assets?format=sheet`;
  const links = [
    ...(params.has("after") ? [html`<a href="${href({ after: null })}">Newest</a>`] : []),
    ...(next === null ? [] : [html`<a href="${href({ after: next })}">Next 100</a>`]),
    ...(csv === null
      ? []
      : [html`<a href="${csv}${state === "dead" ? "&stillDead=true" : ""}" download>Download CSV</a>`]),
  ];
  const table =
    assets.length === 0
      ? html`<p class="second">${state === "all" ? "None of them has a name." : `None is ${stateWords[state]}.`}</p>`
      : renderTable("dead flow", [...columns, last], rows);
  const broken = "Addresses are broken on purpose, so that nothing opens them.";
  return renderSection(
    "Dead assets",
    html`${table}
      <p class="pager">
        <span>${broken}${csv === null ? "" : " The CSV has them as they are."}</span
        ><span>${formatCount(assets.length)} shown ${links.map((link) => html` ${link}`)}</span>
      </p>`,
    { beside, id },
  );
}
