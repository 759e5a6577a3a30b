import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { countOf, formatClock, formatLongDay, formatShare } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import type { OrganizationData } from "./organization.ts";

/** Renders which types carry the excess, with their share of the count. */
export function renderAssetTypes({ assetTypes }: Pick<OrganizationData, "assetTypes">): Html {
  if (assetTypes.length === 0) return nothing;
  const total = assetTypes.reduce((sum, { count }) => sum + count, 0);
  const rows = assetTypes.slice(0, 12).map(({ assetType, count, expected }) => {
    const share = total === 0 ? 0 : count / total;
    return html`<tr>
      <th scope="row">${assetType}</th>
      <td class="num">${formatCount(count)}</td>
      <td class="num">${formatExpected(expected)}</td>
      <td class="num">${formatCount(Math.max(0, count - expected))}</td>
      <td class="share">
        <svg width="106" height="8" viewBox="0 0 106 8" aria-hidden="true">
          <rect class="track" width="106" height="8" />
          <rect class="fill" width="${Math.max(share > 0 ? 1 : 0, Math.round(share * 106))}" height="8" /></svg
        ><span>${formatShare(share)}</span>
      </td>
    </tr>`;
  });
  return html`<section aria-labelledby="carries-h">
    <h2 id="carries-h">What carries the excess</h2>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="carries-h">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Asset type</th>
            <th scope="col" class="num">Count</th>
            <th scope="col" class="num">Expected</th>
            <th scope="col" class="num">Excess</th>
            <th scope="col">Share<span class="wide-word"> of the count</span></th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** Renders what the check found, and what to do first. */
export function renderFindings({ findings, suggestedAction, appUrl }: OrganizationData): Html {
  if (findings.length === 0 && suggestedAction === null) return nothing;
  const link =
    appUrl !== null && /^https?:\/\//.test(appUrl)
      ? html`<p class="advice"><a href="${appUrl}" rel="noreferrer">Open it in the application</a></p>`
      : nothing;
  return html`<section aria-labelledby="findings-h">
    <h2 id="findings-h">Findings</h2>
    <ul class="findings">
      ${findings.map(({ severity, message }) => html`<li>${mark(severity)} <span class="sr">${severity}: </span>${message}</li>`)}
    </ul>
    ${suggestedAction === null ? nothing : html`<p class="advice"><b>Do this first:</b> ${suggestedAction}</p>`}${link}
  </section>`;
}

/** Renders what holds, where it was set and what it means now. */
export function renderThresholds({ settings, row, thresholds }: OrganizationData): Html {
  const means: Readonly<Record<string, string>> = {
    ...(row.expected === null
      ? {}
      : {
          warnMultiplier: `warn above ${formatExpected(row.expected * thresholds.warnMultiplier)}`,
          failMultiplier: `fail above ${formatExpected(row.expected * thresholds.failMultiplier)}`,
        }),
    minSpikeCount: `never below ${countOf(thresholds.minSpikeCount, "death")}`,
  };
  return html`<section aria-labelledby="thresholds-h">
    <h2 id="thresholds-h">Thresholds</h2>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="thresholds-h">
      <table class="plain stack">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="num">Value</th>
            <th scope="col">Set in</th>
            <th scope="col">Means now</th>
          </tr>
        </thead>
        <tbody>
          ${settings.map(
            ({ name, value, setIn }) =>
              html`<tr>
                <th scope="row"><code>${name}</code></th>
                <td class="num">${value}</td>
                <td>${setIn.includes(":") ? html`<code>${setIn}</code>` : setIn}</td>
                <td class="detail">${means[name] ?? ""}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** Renders what happened to the alerts, the newest first. */
export function renderTimeline(
  { timeline, nowMs }: Pick<OrganizationData, "timeline" | "nowMs">,
  title = "Timeline",
): Html {
  if (timeline.length === 0)
    return html`<section aria-labelledby="timeline-h">
      <h2 id="timeline-h">${title}</h2>
      <p class="detail">No alert in this time.</p>
    </section>`;
  const days = Map.groupBy(timeline, ({ atMs }) => Math.floor(atMs / 86_400_000));
  return html`<section aria-labelledby="timeline-h">
    <h2 id="timeline-h">${title}</h2>
    ${[...days.values()].map(
      (entries) =>
        html`<h3>${formatLongDay(entries[0]?.atMs ?? nowMs)}</h3>
          <ol class="timeline">
            ${entries.map(
              ({ atMs, kind, severity, title, text, notified }) =>
                html`<li>
                  <time datetime="${new Date(atMs).toISOString()}">${formatClock(atMs)}</time
                  ><span class="beat"
                    >${kind === "mark" ? mark(severity) : html`<svg class="mark ${kind}" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">${kind === "dot" ? html`<circle cx="7" cy="7" r="2.6" fill="currentColor" />` : html`<path d="M2.5 2.5l9 9m0-9l-9 9" stroke="currentColor" stroke-width="2" />`}</svg>`}</span
                  >
                  <div>
                    <b>${title}</b>
                    ${text}${notified === null ? nothing : html`<br /><span class="detail">${notified}</span>`}
                  </div>
                </li>`,
            )}
          </ol>`,
    )}
  </section>`;
}
