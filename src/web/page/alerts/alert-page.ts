import { breakAddresses } from "../../../base/broken-address.ts";
import { ratioWords, timesWords } from "../../../contract/death-counts.ts";
import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { renderChart, renderChartTable, renderWeekNote } from "../chart/chart.ts";
import { renderLanes } from "../chart/lanes.ts";
import { renderSwitches, type ChartSwitches } from "../chart/switches.ts";
import { renderAssetTypes, renderTimeline } from "../organization/parts.ts";
import { organizationPath } from "../overview/row.ts";
import { verdictSentence } from "../overview/verdict.ts";
import { countOf, formatLengthInProse, nbsp } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { signInPath } from "../../sign-in/next.ts";
import { mark } from "../parts/marks.ts";
import { renderTime } from "../../parts/time.ts";
import { renderComments, renderDeliveries } from "./alert-records.ts";
import { renderOrder } from "./order.ts";
import { distance, renderActs } from "./alert-acts.ts";
import { alertRanges, type AlertData, type AlertRange } from "./alert-model.ts";
import { beganMs, groupOf } from "./alert-row.ts";

/** Renders the page of one alert. */
export function renderAlertPage(data: AlertData): Html {
  const { view, nowMs } = data;
  const { alert, endsAtMs } = view;
  const group = groupOf(view);
  const isSpike = alert.check === "dead-asset-spike" && alert.kind === "verdict";
  return html`<div class="crumbs">
      <nav aria-label="Where this is">
        <a href="/alerts">Alerts</a> / <a href="/alerts?q=${group}">${group}</a> / <span>${alert.slug}</span>
      </nav>
    </div>
    <div class="headline">
      <h1 class="name ${alert.severity}${endsAtMs === null ? "" : " over"}">
        ${mark(alert.severity, 20)} <span class="word">${alert.severity}</span>
        <span class="slug">${alert.slug}</span>
      </h1>
      <div class="buttons" data-slug="${alert.slug}" data-checks="${alert.check}">
        <button type="button" data-do="silence" ${data.hasToken ? nothing : html` disabled`}>Silence&hellip;</button>
        ${data.withPeople ? html`<button type="button" data-do="copy-report" data-alert="${alert.id}">Copy report</button>` : nothing}
        <p class="did" id="did" role="status"></p>
      </div>
    </div>
    <p class="lead">${alertSentence(data)}</p>
    <p class="part">
      <code>${alert.check}</code> of <a href="${organizationPath(alert.slug)}">${alert.slug}</a> ·
      <code class="detail">${alert.id.slice(0, 8)}</code>
    </p>
    ${data.fleet.verdict?.stage !== "sent" || endsAtMs !== null ? nothing : html`<p class="part">Part of a fleet verdict: <a href="/">${verdictSentence(data.fleet.verdict, data.fleet)}</a></p>`}
    ${renderOrder(data)}${renderActs(data)} ${isSpike ? renderAlertChart(data) : nothing}
    <div class="columns">
      <div>${renderEvidence(data)}${renderAssetTypes(data)}</div>
      <div>${renderTimeline(data, "What happened")}</div>
    </div>
    ${isSpike ? renderDead(data) : nothing}
    <div class="columns">
      <div>${renderDeliveries(data)}</div>
      <div>${renderComments(data)}</div>
    </div>
    <p class="hint">As of ${renderTime(nowMs, nowMs, "seconds")}.</p>`;
}

/** Returns the title of the document: "fail: ads-hosts, 459×". */
export function alertTitle({ view }: AlertData): string {
  const ratio = peakRatio(view);
  return `${view.endsAtMs === null ? view.alert.severity : "ended"}: ${view.alert.slug}${ratio === null ? "" : `, ${ratio}`}`;
}

/** Returns what holds, what it means, who has it. */
export function alertSentence({ view, row, nowMs, gate }: AlertData): string {
  const { alert, endsAtMs } = view;
  const { peak, judgement } = alert;
  if (endsAtMs !== null) {
    const lasted = formatLengthInProse(endsAtMs - beganMs(alert));
    const ratio = peakRatio(view);
    const times = ratio === null ? "" : ` (${ratio})`;
    const most = peak.currentCount === null ? "" : `, peak ${formatCount(peak.currentCount)}${times}`;
    const judged = { checker: "the checker was wrong", real: "the assets did die", expected: "it was expected" };
    return `It lasted ${lasted}${most}. ${judgement === undefined ? "Nobody has judged it." : `Judged: ${judged[judgement.verdict]}.`}`;
  }
  const state =
    alert.state === "pending"
      ? `Pending for ${formatLengthInProse(nowMs - alert.startsAtMs)}`
      : `Firing for ${formatLengthInProse(nowMs - alert.startsAtMs)}`;
  const who = alert.acknowledgement === null ? "" : ", acknowledged";
  const held = gate?.decision === "hold" ? "; its deaths are held" : "";
  const count = alert.check === "dead-asset-spike" && alert.kind === "verdict" ? (row?.count ?? null) : null;
  if (count === null || row === null) return `${state}${who}${held}.`;
  const window = `${countOf(count, "death")} in ${row.windowHours}${nbsp}h`;
  const expected =
    row.expected === null || row.ratio === null
      ? row.expected === 0
        ? ", none expected"
        : ""
      : `, ${formatExpected(row.expected)} expected: ${timesWords(row.ratio)}`;
  return `${window}${expected}. ${state}${who}${held}.`;
}

const rangeNames: Readonly<Record<AlertRange, string>> = {
  alert: "this alert",
  "24h": `24${nbsp}h`,
  "3d": `3${nbsp}d`,
  "7d": `7${nbsp}d`,
  all: "all",
};

/** Returns the ratio at the peak in words; null: it is not known. */
function peakRatio({ alert, expected, ratio }: AlertData["view"]): string | null {
  return ratioWords({ currentCount: alert.peak.currentCount, expectedCount: expected, ratio });
}

function renderAlertChart(data: AlertData): Html {
  const { chart, view, row, range, isScaleAsked } = data;
  const switches: ChartSwitches<AlertRange> = {
    path: `/alerts/${encodeURIComponent(view.alert.id)}`,
    ranges: alertRanges.map((one) => [one, rangeNames[one]]),
    range,
    standard: "alert",
    chart,
    isScaleAsked,
  };
  return html`<section aria-labelledby="chart-h">
    <div class="charthead">
      <h2 id="chart-h">Deaths in the last ${row?.windowHours ?? view.alert.windowHours ?? 24}${nbsp}h</h2>
      <div class="switches" data-from="${chart.fromMs}" data-to="${chart.toMs}">${renderSwitches(switches)}</div>
    </div>
    ${
      chart.at.length === 0
        ? html`<p class="away">Nothing was recorded in this range. A longer one may show more.</p>`
        : html`<div id="chart">${renderChart(chart)}</div>
            ${renderLanes(chart, data.lanes)}${renderWeekNote(chart)}${renderChartTable(chart)}`
    }
  </section>`;
}

function renderEvidence({ view, findings, foundAtMs, suggestedAction, nowMs }: AlertData): Html {
  const { alert, url } = view;
  const { onset } = alert;
  if (findings.length === 0 && onset === undefined && suggestedAction === null) return nothing;
  const marker = onset?.marker ?? null;
  const link =
    url !== null && /^https?:\/\//.test(url)
      ? html`<p class="advice"><a href="${url}" rel="noreferrer">Open it in the application</a></p>`
      : nothing;
  return html`<section aria-labelledby="evidence-h">
    <h2 id="evidence-h">Evidence</h2>
    <dl class="evidence">
      ${
        onset === undefined
          ? nothing
          : html`<dt>Began</dt>
              <dd>
                <b>${renderTime(onset.atMs, nowMs)}</b
                >${marker === null ? nothing : html`, ${distance(marker.atMs, onset.atMs).replace(" later", " after")} the marker «${breakAddresses(marker.text)}» (${renderTime(marker.atMs, nowMs)})`}.
              </dd>`
      }
      ${
        findings.length === 0
          ? nothing
          : html`<dt>Found</dt>
              <dd>
                ${foundAtMs === null ? nothing : html`<p class="detail">At ${renderTime(foundAtMs, nowMs)}, when it was at its worst:</p>`}${findings.map(({ message }) => html`<p>${message}</p>`)}
              </dd>`
      }
      ${
        suggestedAction === null
          ? nothing
          : html`<dt>Do this first</dt>
              <dd>${suggestedAction}</dd>`
      }
    </dl>
    ${link}
  </section>`;
}

/** Filled by the scripts: names of assets are for who may read them. */
function renderDead({ view, withPeople, hasToken }: AlertData): Html {
  return html`<section
    aria-labelledby="dead-h"
    id="dead"
    data-alert="${view.alert.id}"
    data-may="${withPeople ? "yes" : "no"}"
  >
    <h2 id="dead-h">Dead assets</h2>
    <div id="dead-part">
      ${
        withPeople
          ? html`<p class="detail">
              Reading them needs JavaScript; <code>flatline alerts assets</code> lists them, too.
            </p>`
          : !hasToken
            ? html`<p class="detail">Names of assets need a token, and none is configured.</p>`
            : html`<p class="detail">
                Names of assets and people need a token.
                <a href="${signInPath(`/alerts/${encodeURIComponent(view.alert.id)}`)}">Sign in</a>
              </p>`
      }
    </div>
  </section>`;
}
