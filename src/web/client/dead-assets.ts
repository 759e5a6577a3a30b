import { formatCount } from "../../base/numbers.ts";
import { breakAddress } from "../../base/broken-address.ts";
import { escapeUnseen } from "../../base/unseen-text.ts";
import type { DeadAsset, DeadAssetPage } from "../../contract/v1/dead-assets.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { renderTime } from "../parts/time.ts";

interface Asked {
  readonly stillDead: boolean;
  readonly assetType: string;
}

const firstRows = 10;
const nextRows = 100;
const longestShown = 64;

/** Lists the assets that died in the alert that is shown, where the reader may know their names. */
export function startDeadAssets(): void {
  const section = document.getElementById("dead");
  const part = document.getElementById("dead-part");
  const id = section?.dataset["alert"];
  if (part === null || id === undefined || section?.dataset["may"] !== "yes") return;
  const types = new Set<string>();
  let shown: readonly DeadAsset[] = [];
  let page: DeadAssetPage | null = null;
  let asked: Asked = { stillDead: false, assetType: "" };

  const address = (query: Readonly<Record<string, string>>): string => {
    const params = new URLSearchParams(query);
    if (asked.stillDead) params.set("stillDead", "true");
    if (asked.assetType !== "") params.set("assetType", asked.assetType);
    return `/api/v1/alerts/${encodeURIComponent(id)}/assets?${params.toString()}`;
  };

  const load = async (cursor: string | null): Promise<void> => {
    const limit = String(cursor === null ? firstRows : nextRows);
    const response = await ask(address({ limit, ...(cursor === null ? {} : { cursor }) }));
    if (!part.isConnected) return;
    if (response === null || !response.ok) {
      part.innerHTML = problemOf(response?.status ?? 0).html;
      return;
    }
    page = (await response.json()) as DeadAssetPage;
    shown = cursor === null ? page.assets : [...shown, ...page.assets];
    for (const { assetType } of page.assets) if (assetType !== null) types.add(assetType);
    part.innerHTML = render(page, shown, asked, types).html;
    part.toggleAttribute("data-more", cursor !== null);
  };

  part.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-assets]");
    if (button === null) return;
    const what = button.dataset["assets"];
    if (what === "more") void load(page?.cursor ?? null);
    else if (what === "csv") download(address({ format: "csv" }), `assets-${id}.csv`);
    else {
      asked = { ...asked, stillDead: what === "dead" };
      void load(null);
    }
  });
  part.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLSelectElement)) return;
    asked = { ...asked, assetType: event.target.value };
    void load(null);
  });
  void load(null);
}

async function ask(url: string): Promise<Response | null> {
  try {
    return await fetch(url);
  } catch {
    return null;
  }
}

function download(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function problemOf(status: number): Html {
  if (status === 404)
    return html`<p class="detail">The service does not name the dead assets. Ask it, or look at its page.</p>`;
  return html`<p class="detail">
    The dead assets could not be read${status === 0 ? "" : ` (HTTP ${status})`}. Reload to try again.
  </p>`;
}

function render(page: DeadAssetPage, shown: readonly DeadAsset[], asked: Asked, types: ReadonlySet<string>): Html {
  const nowMs = Date.now();
  const { count, knownCount, fromAt, cursor } = page;
  if (knownCount === 0)
    return html`<p class="detail">
      None of the ${formatCount(count)} deaths has a name: the stream carries no <code>asset</code>.
    </p>`;
  const rows = shown.map((one) => renderAsset(one, nowMs));
  return html`<p class="detail">
      ${formatCount(count)} deaths since ${renderTime(Date.parse(fromAt), nowMs)}, ${formatCount(knownCount)} assets
      with a name
    </p>
    <div class="tools">
      <span class="switch">
        <button type="button" data-assets="all" aria-pressed="${String(!asked.stillDead)}">All</button>
        <button type="button" data-assets="dead" aria-pressed="${String(asked.stillDead)}">Still dead</button>
      </span>
      <select aria-label="Type">
        <option value="">All types</option>
        ${[...types].toSorted().map((type) => html`<option value="${type}" ${type === asked.assetType ? html` selected` : nothing}>${type}</option>`)}
      </select>
      <button type="button" class="last" data-assets="csv">Download CSV</button>
    </div>
    ${
      rows.length === 0
        ? html`<p class="away">
            ${asked.assetType === "" ? "All of them were found alive again." : "No asset of this type."}
          </p>`
        : html`<table class="plain dead stack" aria-labelledby="dead-h">
            <thead>
              <tr>
                <th scope="col">Died ↓</th>
                <th scope="col">Type</th>
                <th scope="col">Address</th>
                <th scope="col">Attributes</th>
                <th scope="col" class="num">Alive again</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>`
    }
    <p class="hint">
      Addresses are broken on purpose, so that nothing opens them. The CSV has them as they are.
      ${cursor === undefined ? nothing : html`<button type="button" class="plain" data-assets="more">Next ${nextRows}</button>`}
    </p>`;
}

function renderAsset({ asset, assetType, deadAt, attributes, revivedAt }: DeadAsset, nowMs: number): Html {
  const broken = breakAddress(escapeUnseen(asset));
  const cut =
    broken.length <= longestShown
      ? broken
      : `${broken.slice(0, longestShown / 2)}…${broken.slice(broken.length - longestShown / 2 + 1)}`;
  return html`<tr>
    <td>${renderTime(Date.parse(deadAt), nowMs, "time")}</td>
    <td>${assetType ?? ""}</td>
    <th scope="row" class="mono whole" title="${broken}">${cut}</th>
    <td class="attributes">
      ${Object.entries(attributes).map(([name, value], index) => html`${index > 0 ? " · " : ""}<span class="detail">${name}</span> ${value}`)}
    </td>
    <td class="num">
      ${revivedAt === null ? html`<b>still dead</b>` : html`<span class="detail">${renderTime(Date.parse(revivedAt), nowMs)}</span>`}
    </td>
  </tr>`;
}
