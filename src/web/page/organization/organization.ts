import type { PageOrganization, PageSilence } from "../ports.ts";
import { renderBaselineDays } from "./baseline-days.ts";
import { ranges, type ChartData, type Range } from "../chart/chart-data.ts";
import { renderChart, renderChartTable, renderWeekNote } from "../chart/chart.ts";
import { renderLanes, type Lanes } from "../chart/lanes.ts";
import { renderSwitches, type ChartSwitches } from "../chart/switches.ts";
import { formatCount, formatExpected, none } from "../../../base/numbers.ts";
import { ratioWords, timesWords } from "../../../contract/death-counts.ts";
import {
  countOf,
  formatClock,
  formatLengthInProse,
  formatRatioCell,
  formatTime,
  formatWait,
  isSameDay,
  nbsp,
  withPageTimes,
} from "../../parts/figures.ts";
import type { FleetData } from "../overview/fleet.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, type RowSeverity } from "../parts/marks.ts";
import { renderAssetTypes, renderFindings, renderThresholds, renderTimeline } from "./parts.ts";
import { renderOtherChecks, renderOtherLines, type OtherCheck } from "./other-checks.ts";
import { dueText, organizationPath, shownSeverity, sinceText, writeQuery, type RowData } from "../overview/row.ts";
import { verdictSentence } from "../overview/verdict.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { renderTime } from "../../parts/time.ts";

/** Everything that the page of one organization shows. Times are epoch ms. */
export interface OrganizationData {
  readonly nowMs: number;
  readonly row: RowData;
  readonly fleet: FleetData;
  readonly previous: string | null;
  readonly next: string | null;
  readonly chart: ChartData;
  readonly range: Range;
  readonly isScaleAsked: boolean;
  readonly lanes: Lanes;
  /** What the gate says, where it has something to say: not while no failure is open. */
  readonly gate: { readonly decision: "allow" | "hold"; readonly message: string } | null;
  /** Deaths on each day of a median baseline, the latest first; empty where it is a mean. */
  readonly days: readonly number[];
  readonly assetTypes: readonly { readonly assetType: string; readonly count: number; readonly expected: number }[];
  readonly findings: readonly { readonly severity: RowSeverity; readonly message: string }[];
  readonly suggestedAction: string | null;
  readonly appUrl: string | null;
  readonly error: { readonly reason: string; readonly message: string } | null;
  readonly lastResult: { readonly severity: string; readonly atMs: number } | null;
  readonly lastRunTookMs: number | null;
  readonly unknownRuns: number;
  /** Names of the organization's checks, the spike check first. */
  readonly checks: readonly string[];
  readonly others: readonly OtherCheck[];
  /** The firing alerts that are not acknowledged yet, by id. */
  readonly openAlerts: readonly string[];
  readonly sent: { readonly accepted: number; readonly dead: number };
  readonly timeline: readonly TimelineEntry[];
  readonly settings: readonly { readonly name: string; readonly value: string; readonly setIn: string }[];
  readonly thresholds: {
    readonly warnMultiplier: number;
    readonly failMultiplier: number;
    readonly minSpikeCount: number;
  };
  readonly hasToken: boolean;
  readonly origin: PageOrganization["origin"] | null;
  /** The silences that hold now and are about it. */
  readonly silences: readonly PageSilence[];
  /** Who reads it may see names and reasons. */
  readonly withPeople: boolean;
}

export interface TimelineEntry {
  readonly atMs: number;
  readonly kind: "mark" | "dot" | "cross";
  readonly severity: RowSeverity;
  readonly title: string;
  readonly text: string;
  /** The notified receivers, in a line below. */
  readonly notified: string | null;
}

/** Renders the page of one organization. */
export function renderOrganization(data: OrganizationData): Html {
  const { row } = data;
  const severity = shownSeverity(row);
  return html`<div class="crumbs">
      <nav aria-label="Where this is">
        <a href="/">Organizations</a> /
        <a href="${writeQuery({ severities: [severity], text: "", sort: "severity", dir: "desc" })}">${severity}</a> /
        <span>${row.slug}</span>
      </nav>
      <nav class="neighbours" aria-label="Neighbours">
        ${data.previous === null ? nothing : html`<a rel="prev" href="${organizationPath(data.previous)}" data-neighbour="k">&lsaquo; ${data.previous} <kbd aria-hidden="true">k</kbd></a>`}
        ${data.next === null ? nothing : html`<a rel="next" href="${organizationPath(data.next)}" data-neighbour="j">${data.next} <kbd aria-hidden="true">j</kbd> &rsaquo;</a>`}
      </nav>
    </div>
    <div class="headline">
      <h1 class="name ${severity}">
        ${mark(severity, 20)}
        <span class="word">${row.severity === null && severity === "unknown" ? "not run yet" : severity}</span>
        <span class="slug">${row.slug}</span>
      </h1>
      ${renderButtons(data)}
    </div>
    <p class="lead">${organizationSentence(data)}</p>
    ${renderOrigin(data.origin)} ${renderSilencePanel(data.silences, data.withPeople, data.nowMs)}
    ${data.fleet.verdict?.stage !== "sent" ? nothing : html`<p class="part">${row.severity === "fail" || row.severity === "warn" ? "Part of a" : "Not part of the"} fleet verdict: <a href="/">${verdictSentence(data.fleet.verdict, data.fleet)}</a></p>`}
    ${renderOtherLines(data.others, data.nowMs)}${renderGate(data)} ${renderFigures(data)}
    <section aria-labelledby="chart-h">
      <div class="charthead">
        <h2 id="chart-h">Deaths in the last ${row.windowHours}${nbsp}h</h2>
        <div class="switches" data-from="${data.chart.fromMs}" data-to="${data.chart.toMs}">
          ${renderSwitches(switchesOf(data))}
        </div>
      </div>
      ${
        data.chart.at.length === 0
          ? html`<p class="away">
              Nothing was recorded in this range.
              ${row.severity === null ? "The first run is yet to come." : "A longer one may show more."}
            </p>`
          : html`${data.chart.count.every((count) => count === null) ? html`<p class="away">No run in this range gave a count.</p>` : html`<div id="chart">${renderChart(data.chart)}</div>`}
            ${renderLanes(data.chart, data.lanes)}${renderWeekNote(data.chart)}${renderChartTable(data.chart)}`
      }
    </section>
    <div class="columns">
      <div>
        ${renderBaselineDays(data)}${renderAssetTypes(data)}${renderFindings(data)}${renderOtherChecks(data.others, data.nowMs)}
      </div>
      <div class="beside">${renderTimeline(data)}</div>
      <div>${renderThresholds(data)}</div>
    </div>`;
}

/** Where it is written down; null: it is not configured any more. */
function renderOrigin(origin: OrganizationData["origin"]): Html {
  if (origin === null) return nothing;
  const from =
    origin.kind === "file"
      ? html`Set in <code>${origin.place}</code>`
      : html`Discovered by <code>${origin.source}</code>`;
  return html`<p class="hint">${from}</p>`;
}

/** Returns the title of the document: "fail: ads-hosts, 459×". */
export function organizationTitle(row: RowData): string {
  const shown = shownSeverity(row);
  if (shown !== (row.severity ?? "unknown")) return `${shown}: ${row.slug}, ${row.others[0]?.check ?? ""}`;
  const ratio = ratioWords({ currentCount: row.count, expectedCount: row.expected, ratio: row.ratio });
  return `${row.severity ?? "not run yet"}: ${row.slug}${ratio === null ? "" : `, ${ratio}`}`;
}

const holding = { fail: "Failing", warn: "Warning", ok: "Ok", unknown: "Unknown" } as const;

/** Returns what holds, and what it means. */
export function organizationSentence(data: OrganizationData): string {
  const { row, nowMs } = data;
  if (row.severity === null) return `Waiting for its first run, in ${formatWait(row.nextRunMs - nowMs)}.`;
  if (row.severity === "unknown") return unknownSentence(data);
  const window = `in ${row.windowHours}${nbsp}h`;
  const lasts =
    row.sinceMs === null
      ? ""
      : ` ${holding[row.severity]} ${row.severity === "ok" ? "" : `since ${sinceWords(row.sinceMs, nowMs)}, `}for ${row.isSinceLonger ? `more than 7${nbsp}d` : formatLengthInProse(nowMs - row.sinceMs)}.`;
  if (row.count === null) return `The service says ${row.severity} and gives no count.${lasts}`;
  const deaths = countOf(row.count, "death");
  if (row.expected === null) return `${deaths} ${window}; the service gives no expected count.${lasts}`;
  if (row.expected === 0) return `${deaths} ${window}, none expected.${lasts}`;
  const start = `${deaths} ${window}, ${formatExpected(row.expected)} expected`;
  if (row.ratio === null) return `${start}.${lasts}`;
  return row.severity === "ok"
    ? `${start} (${formatRatioCell(row)}).${lasts}`
    : `${start}: ${timesWords(row.ratio)}.${lasts}`;
}

function unknownSentence({ row, nowMs, error, lastResult, unknownRuns }: OrganizationData): string {
  const last =
    lastResult === null
      ? ""
      : ` Last result: ${lastResult.severity}, ${formatLengthInProse(nowMs - lastResult.atMs)} ago.`;
  if (error === null)
    return `No run since ${sinceWords(row.lastRunMs ?? nowMs, nowMs)}, ${dueText(row, nowMs, formatLengthInProse)}.${last}`;
  const runs = unknownRuns > 1 ? `, ${unknownRuns} runs in a row` : "";
  return `No result since ${sinceWords(row.sinceMs ?? nowMs, nowMs)}: ${withPageTimes(error.message, nowMs)} (${error.reason})${runs}.${last}`;
}

function sinceWords(atMs: number, nowMs: number): string {
  return isSameDay(atMs, nowMs) ? `${formatClock(atMs)} today` : formatTime(atMs, nowMs);
}

/** Whether a pipeline may act on the deaths, where there is something to say. */
function renderGate({ gate, nowMs }: OrganizationData): Html {
  if (gate === null) return nothing;
  const head = gate.decision === "hold" ? html`<strong>Deaths are held</strong>` : html`Deaths may be acted on`;
  return html`<p class="part">${head}: ${withPageTimes(gate.message, nowMs)}.</p>`;
}

function renderButtons({ row, hasToken, checks, openAlerts }: OrganizationData): Html {
  const off = hasToken ? nothing : html` disabled`;
  const why = hasToken
    ? nothing
    : html`<p class="whynot">These need a token, and none is configured (<code>server.token</code>).</p>`;
  return html`<div class="buttons" data-slug="${row.slug}" data-checks="${checks.join(" ")}">
    <button type="button" data-do="run" ${off}>Run now</button>
    <button type="button" data-do="silence" ${off}>Silence&hellip;</button>
    ${openAlerts.length === 0 ? nothing : html`<button type="button" class="primary" data-do="ack" data-alerts="${openAlerts.join(" ")}" ${off}>Acknowledge&hellip;</button>`}${why}
    <p class="did" id="did" role="status"></p>
  </div>`;
}

function renderFigures({ row, nowMs, lastRunTookMs, sent }: OrganizationData): Html {
  const severity = shownSeverity(row);
  const alert = row.alert === null ? none : row.alert.state;
  const deliveries = [
    sent.accepted > 0 ? `${sent.accepted} sent` : "",
    sent.dead > 0 ? countOf(sent.dead, "dead letter") : "",
  ]
    .filter(Boolean)
    .join(", ");
  const figures: readonly (readonly [string, string, string])[] = [
    [`Count, ${row.windowHours}${nbsp}h`, formatCount(row.count), ""],
    ["Expected", formatExpected(row.expected), ""],
    ["Ratio", formatRatioCell(row), ""],
    [`${holding[severity]} for`, sinceText(row, nowMs), ""],
    [
      "Last run",
      row.lastRunMs === null ? none : formatWait(nowMs - row.lastRunMs),
      row.lastRunMs === null ? "" : `ago${lastRunTookMs === null ? "" : `, ${lastRunTookMs}${nbsp}ms`}`,
    ],
    ["Next run", row.isRunning ? "running" : formatWait(row.nextRunMs - nowMs), ""],
    ["Alert", alert, row.alert?.isAcknowledged === true ? "acknowledged" : deliveries],
  ];
  return html`<dl class="figures">
    ${figures.map(
      ([name, value, detail]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}${detail === "" ? nothing : html` <small>${detail}</small>`}</dd>
        </div>`,
    )}
  </dl>`;
}

const rangeNames: Readonly<Record<Range, string>> = {
  "24h": `24${nbsp}h`,
  "3d": `3${nbsp}d`,
  "7d": `7${nbsp}d`,
  all: "all",
};

function switchesOf({ row, range, chart, isScaleAsked }: OrganizationData): ChartSwitches<Range> {
  return {
    path: organizationPath(row.slug),
    ranges: ranges.map((one) => [one, rangeNames[one]]),
    range,
    standard: "3d",
    chart,
    isScaleAsked,
  };
}

const glyph: Html = html`<svg class="glyph" width="18" height="14" viewBox="0 0 18 14" aria-hidden="true">
  <path d="M1 7H18" stroke="currentColor" stroke-width="3" stroke-dasharray="2 3" />
</svg>`;

/** Renders the silence that holds longest, and how many more. `withPeople`: who made it and why, for who may read that. */
function renderSilencePanel(silences: readonly PageSilence[], withPeople: boolean, nowMs: number): Html {
  const [longest, ...more] = silences.toSorted((left, right) => right.endsAtMs - left.endsAtMs);
  if (longest === undefined) return nothing;
  const { id, rule, createdBy, startsAtMs, endsAtMs } = longest;
  const { check = null, comment } = rule;
  const which = check === null ? "All checks" : check;
  const who =
    id === null ? "by the configuration" : html`${createdBy ?? "nobody said who"} at ${renderTime(startsAtMs, nowMs)}`;
  return html`<section class="silenced" aria-label="Silence">
    ${glyph}
    <div>
      <p>
        <b>Silenced until ${renderTime(endsAtMs, nowMs)}</b>, ${formatLengthInProse(endsAtMs - nowMs)}
        left.${more.length === 0 ? nothing : ` And ${more.length} more.`}
      </p>
      <p class="second">
        ${withPeople ? html`«${breakAddresses(comment)}», ${who}. ${which}.` : html`${which}. Why and by whom needs a token. <a href="/silences">Silences</a>`}
      </p>
    </div>
    ${
      !withPeople || id === null
        ? nothing
        : html`<p
            class="panel-acts"
            data-silence="${id}"
            data-pattern="${rule.slug ?? "*"}"
            data-check="${check ?? ""}"
            data-comment="${comment}"
            data-ends="${endsAtMs}"
          >
            <button type="button" data-do="silence-change">Extend&hellip;</button>
            <button type="button" data-do="silence-end">End now</button>
          </p>`
    }
  </section>`;
}
