import { html, nothing, type Html } from "../../parts/html.ts";

/** Returns a cell with a box to select by; it is shown where acts are possible. */
export function pickCell(tag: "th" | "td", box: Html): Html {
  const inner = html`<label class="pick">${box}</label>`;
  return tag === "th" ? html`<th class="a-pick">${inner}</th>` : html`<td class="a-pick">${inner}</td>`;
}

/** Stands at the foot of the window while something is selected. */
export function renderBulkBar({ hasToken }: { readonly hasToken: boolean }): Html {
  if (!hasToken) return nothing;
  return html`<div class="bulkbar" id="bulkbar" role="region" aria-label="What is selected" hidden>
    <p id="picked"></p>
    <div class="buttons">
      <button type="button" data-bulk="acknowledge">Acknowledge&hellip;</button>
      <button type="button" data-bulk="judge">Judge&hellip;</button>
      <button type="button" data-bulk="silence">Silence&hellip;</button>
      <button type="button" data-bulk="release">Release&hellip;</button>
      <button type="button" class="plain" data-bulk="clear">Clear <kbd>Esc</kbd></button>
    </div>
  </div>`;
}
