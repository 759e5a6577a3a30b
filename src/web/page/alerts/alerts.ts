import { formatCompactCount, formatCount, none } from "../../../base/numbers.ts";
import { compareWorst, renderLabels } from "../overview/row.ts";
import { countOf, formatRatioCell, formatLength, formatShare, formatWait } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "../parts/marks.ts";
import { renderTime } from "../../parts/time.ts";
import { readWords, selectByWords, type Words } from "../../parts/words.ts";
import type { PageAlert } from "../ports.ts";
import { pickCell, renderBulkBar } from "../parts/picking.ts";
import { rangesOf, writeAlertsQuery, type AlertsQuery } from "./query.ts";
import { alertsSentence, type AlertsData } from "./sentence.ts";
import {
  alertGroups,
  alertSubject,
  beganMs,
  groupOf,
  isMuchUndone,
  undoneShare,
  whoOf,
  type AlertGroup,
} from "./alert-row.ts";

/** Ended alerts on one page. */
export const endedPageSize = 100;
const dayMs = 86_400_000;
const groupNames: Readonly<Record<AlertGroup, string>> = {
  firing: "Waiting for someone",
  acknowledged: "Acknowledged",
  pending: "Pending",
  silenced: "Silenced",
  ended: "Ended",
};

/** Renders the page of all alerts. */
export function renderAlerts(data: AlertsData, query: AlertsQuery): Html {
  const { alerts, nowMs, retentionDays } = data;
  const shown = alerts.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs >= nowMs - query.days * dayMs);
  const groups = Map.groupBy(shown, groupOf);
  const ranges = rangesOf(retentionDays);
  const waiting = groups.get("firing")?.length ?? 0;
  return html`<div class="headline">
      <h1 class="sentence">${alertsSentence(data)}</h1>
      ${
        waiting === 0 || !data.hasToken
          ? nothing
          : html`<div class="buttons" id="waiting-part">
              <button type="button" data-bulk="acknowledge" data-group="firing">
                Acknowledge ${formatCount(waiting)}&hellip;
              </button>
            </div>`
      }
    </div>
    <p class="did" id="did" role="status"></p>
    <div class="alertbar" id="counters-part">
      <nav class="counters" aria-label="Filter by state">
        ${alertGroups.map((group) => renderCounter(group, groups.get(group)?.length ?? 0, query, retentionDays))}
      </nav>
      ${renderEndedNote(groups.get("ended") ?? [], query, retentionDays)}
    </div>
    <div class="tools">
      <form class="filter wide" role="search" action="/alerts" method="get" data-search="alerts-part">
        <label class="sr" for="q">Filter in words</label
        ><input
          id="q"
          name="q"
          type="search"
          placeholder="Filter: acme fail team=trust undone>50%"
          value="${query.text}"
          autocomplete="off"
          spellcheck="false"
        /><kbd aria-hidden="true">/</kbd
        >${query.days === retentionDays ? nothing : html`<input type="hidden" name="days" value="${query.days}" />`}
      </form>
      <p class="note" id="alerts-note" aria-live="polite">
        ${countOf(shown.length, "alert")}, worst first; ended ones newest first
      </p>
      <nav class="switch" aria-label="Range">
        ${ranges.map((days) => html`<a href="${writeAlertsQuery({ ...query, days, page: 1 }, retentionDays)}" data-swap${days === query.days ? html` aria-current="true"` : nothing}>${days === 1 ? "24\u00a0h" : `${days}\u00a0d`}</a>`)}
      </nav>
    </div>
    <div id="alerts-part">${renderList(data, shown, query)}</div>
    ${renderBulkBar(data)}`;
}

const examples = ["firing", "pending", "ended", "fail", "undone>50%", "judged=checker", "not:judged", "longer:4h"];

function renderList(data: AlertsData, shown: readonly PageAlert[], query: AlertsQuery): Html {
  const { nowMs, retentionDays } = data;
  const words = wordsOf(shown, query);
  const found = selectByWords(shown, words, (view) => alertSubject(view, nowMs));
  const groups = Map.groupBy(found, groupOf);
  const hint =
    words.problems.length > 0
      ? html`<span class="late">${words.problems.join(" ")}</span>`
      : html`Words that work:
          ${examples.map((word) => html`<a href="${writeAlertsQuery({ ...query, text: `${query.text} ${word}`.trim(), page: 1 }, retentionDays)}" data-swap><code>${word}</code></a> `)}<code
            >"exact slug"</code
          >`;
  if (data.alerts.length === 0)
    return html`<p class="away">
      No alert yet. The first one appears here when a check stays not ok for <code>for</code>.
    </p>`;
  const ended = groups.get("ended") ?? [];
  const pages = Math.max(1, Math.ceil(ended.length / endedPageSize));
  const page = Math.min(query.page, pages);
  const start = (page - 1) * endedPageSize;
  return html`<p class="hint">${hint}</p>
    ${
      found.length === 0
        ? renderAway(data, shown, words, query)
        : html`<table class="listing alerts" id="alerts" aria-label="Alerts">
            <thead>
              <tr>
                ${pickCell("th", html`<input type="checkbox" data-pick-all aria-label="Select all that are shown" />`)}
                <th scope="col" class="a-sev">Severity</th>
                <th scope="col">Alert</th>
                <th scope="col" class="a-state">State</th>
                <th scope="col" class="num a-began">Began</th>
                <th scope="col" class="num a-lasted">Lasted</th>
                <th scope="col" class="num a-peak">Peak</th>
                <th scope="col" class="num a-ratio">Ratio</th>
                <th scope="col" class="num a-undone">Undone</th>
                <th scope="col" class="a-judged">Judged</th>
                <th scope="col" class="a-who">Who</th>
              </tr>
            </thead>
            ${alertGroups.map((group) => {
              const all = sortGroup(group, groups.get(group) ?? []);
              return renderGroup(group, all, group === "ended" ? all.slice(start, start + endedPageSize) : all, data);
            })}
          </table>`
    }
    <p class="hint">
      Began: when the deaths began. Undone: share of the deaths found alive again. A question mark is a proposal: at
      least half, and three, are undone.
    </p>
    ${
      pages === 1
        ? nothing
        : html`<nav class="pages" aria-label="Pages">
            ${page > 1 ? html`<a rel="prev" href="${writeAlertsQuery({ ...query, page: page - 1 }, retentionDays)}" data-swap>&lsaquo; previous</a>` : nothing}
            <span>ended ${start + 1}&ndash;${Math.min(start + endedPageSize, ended.length)} of ${ended.length}</span>
            ${page < pages ? html`<a rel="next" href="${writeAlertsQuery({ ...query, page: page + 1 }, retentionDays)}" data-swap>next &rsaquo;</a>` : nothing}
          </nav>`
    }`;
}

function wordsOf(shown: readonly PageAlert[], query: AlertsQuery): Words {
  const labels = [...new Set(shown.flatMap((view) => Object.keys(view.labels)))];
  return readWords(query.text, { names: [...alertGroups, "fail", "warn", "unknown"], labels });
}

/** Says which word leaves nothing, and what would be found without it. */
function renderAway(data: AlertsData, shown: readonly PageAlert[], words: Words, query: AlertsQuery): Html {
  const { nowMs, retentionDays } = data;
  const without = words.tests
    .map(({ text }, index) => {
      const tests = words.tests.filter((_, other) => other !== index);
      return { text, tests, count: selectByWords(shown, { tests }, (view) => alertSubject(view, nowMs)).length };
    })
    .toSorted((left, right) => right.count - left.count)
    .find(({ count }) => count > 0);
  const drop =
    without === undefined
      ? html`<a href="/alerts" data-swap>Clear the filter</a>.`
      : html`<a
            href="${writeAlertsQuery({ ...query, page: 1, text: without.tests.map(({ text }) => text).join(" ") }, retentionDays)}"
            data-swap
            >${without.count} ${without.count === 1 ? "matches" : "match"} without ${without.text}</a
          >.`;
  return html`<p class="away">No alert matches «${query.text.trim()}». ${drop}</p>`;
}

const glyphs: Readonly<Record<AlertGroup, string>> = {
  firing: '<rect y="4.5" width="18" height="5" fill="currentColor" />',
  acknowledged:
    '<path d="M0 7H18" stroke="currentColor" stroke-width="1.6" /><circle cx="9" cy="7" r="3" fill="currentColor" />',
  pending: '<rect x=".75" y="4.75" width="16.5" height="4.5" fill="none" stroke="currentColor" stroke-width="1.5" />',
  silenced: '<path d="M1 7H18" stroke="currentColor" stroke-width="3" stroke-dasharray="2 3" />',
  ended: '<path d="M0 7H14M14 3V11" fill="none" stroke="currentColor" stroke-width="1.6" />',
};

function glyph(group: AlertGroup): Html {
  return {
    html: `<svg class="glyph" width="18" height="14" viewBox="0 0 18 14" aria-hidden="true">${glyphs[group]}</svg>`,
  };
}

function renderCounter(group: AlertGroup, count: number, query: AlertsQuery, retentionDays: number): Html {
  const words = query.text.split(/\s+/).filter(Boolean);
  const isOn = words.includes(group);
  const text = (
    isOn
      ? words.filter((word) => word !== group)
      : [...words.filter((word) => !(alertGroups as readonly string[]).includes(word)), group]
  ).join(" ");
  return html`<a
    class="counter${count === 0 ? " zero" : ""}"
    href="${writeAlertsQuery({ ...query, text, page: 1 }, retentionDays)}"
    data-swap
    ${isOn ? html` aria-current="true"` : nothing}
    >${glyph(group)} <b>${formatCount(count)}</b> ${group}</a
  >`;
}

function renderEndedNote(ended: readonly PageAlert[], query: AlertsQuery, retentionDays: number): Html {
  if (ended.length === 0) return nothing;
  const counts = Map.groupBy(ended, ({ alert }) => alert.judgement?.verdict ?? "none");
  const parts = (["checker", "real", "expected"] as const).flatMap((verdict) => {
    const count = counts.get(verdict)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  const open = counts.get("none")?.length ?? 0;
  const link = html`<a
    href="${writeAlertsQuery({ ...query, text: "ended not:judged", page: 1 }, retentionDays)}"
    data-swap
    >${open} not judged</a
  >`;
  return html`<p class="note">
    ${formatCount(ended.length)} ended within ${query.days === 1 ? "24\u00a0h" : `${query.days} days`}:
    ${parts.join(", ")}${parts.length > 0 && open > 0 ? ", " : ""}${open > 0 ? link : nothing}
  </p>`;
}

function sortGroup(group: AlertGroup, views: readonly PageAlert[]): readonly PageAlert[] {
  if (group === "ended") return views.toSorted((left, right) => (right.endsAtMs ?? 0) - (left.endsAtMs ?? 0));
  return views.toSorted(
    (left, right) =>
      compareWorst(right.alert.severity, left.alert.severity) ||
      compareRatios(right, left) ||
      (left.alert.slug < right.alert.slug ? -1 : 1),
  );
}

/** Positive when the ratio of `left` is larger; where nothing was expected it is the largest. */
function compareRatios(left: PageAlert, right: PageAlert): number {
  const [a = 0, b = 0] = [left, right].map(({ ratio, expected }) => ratio ?? (expected === 0 ? Infinity : -1));
  return a === b ? 0 : a - b;
}

function renderGroup(
  group: AlertGroup,
  all: readonly PageAlert[],
  shown: readonly PageAlert[],
  data: AlertsData,
): Html {
  if (all.length === 0) return nothing;
  return html`<tbody>
    <tr class="group">
      ${pickCell("td", html`<input type="checkbox" data-pick-group aria-label="Select all: ${groupNames[group]}" />`)}
      <th scope="rowgroup" colspan="10">${groupNames[group]} <span>${phraseOf(group, all, data)}</span></th>
    </tr>
    ${shown.map((view) => renderAlert(view, group, data))}
  </tbody>`;
}

function phraseOf(group: AlertGroup, all: readonly PageAlert[], { nowMs, held }: AlertsData): string {
  const many = formatCount(all.length);
  if (group === "firing")
    return `${countOf(all.length, "alert")} ${all.length === 1 ? "fires and nobody has it" : "fire and nobody has them"}`;
  if (group === "acknowledged") return `${many}, quiet${held === 0 ? "" : "; deaths are still held"}`;
  if (group === "ended") return `${many}, the latest first`;
  if (group === "silenced") return many;
  const next = Math.min(...all.map(({ firesAtMs }) => firesAtMs ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next)
    ? `${many}, ${all.length === 1 ? "fires" : "the next fires"} in ${formatWait(next - nowMs)} unless it goes back`
    : many;
}

function renderAlert(view: PageAlert, group: AlertGroup, data: AlertsData): Html {
  const { nowMs, withPeople } = data;
  const { alert, endsAtMs, labels } = view;
  const { id, slug, severity, check } = alert;
  const undone = undoneShare(view);
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const isHot = group !== "ended" && (severity === "fail" || severity === "warn");
  return html`<tr class="row ${severity}${group === "ended" ? " over" : ""}${group === "firing" ? " open" : ""}">
    ${pickCell("td", html`<input type="checkbox" name="pick" value="${id}" data-severity="${severity}" aria-label="Select ${slug}" />`)}
    <td class="a-sev">
      <span class="sevcell ${severity}">${mark(severity)} <span class="word">${severity}</span></span>
    </td>
    <th scope="row" class="a-alert">
      <span class="slugline"
        ><a href="/alerts/${encodeURIComponent(id)}" title="${slug}">${slug}</a
        >${check === "dead-asset-spike" ? nothing : html` <span class="checks">${check}</span>`}${renderLabels(names)}</span
      >
    </th>
    <td class="a-state">${glyph(group)} ${stateText(view, group, nowMs)}</td>
    <td class="num a-began">${renderTime(beganMs(alert), nowMs)}</td>
    <td class="num a-lasted">${formatLength((endsAtMs ?? nowMs) - beganMs(alert))}</td>
    <td class="num a-peak">${formatCompactCount(alert.peak.currentCount)}</td>
    <td class="num a-ratio${isHot ? ` ${severity}` : ""}">
      ${formatRatioCell({ count: alert.peak.currentCount, expected: view.expected, ratio: view.ratio })}
    </td>
    <td class="num a-undone${isMuchUndone(view) ? " much" : ""}">${undone === null ? none : formatShare(undone)}</td>
    <td class="a-judged">
      ${
        alert.judgement !== undefined
          ? alert.judgement.verdict
          : isMuchUndone(view)
            ? html`<a href="/alerts/${encodeURIComponent(id)}?judge=checker">checker?</a>`
            : html`<span class="detail">not judged</span>`
      }
    </td>
    <td class="a-who">${withPeople ? (whoOf(alert) ?? none) : none}</td>
  </tr>`;
}

function stateText({ alert, endsAtMs, silencedUntilMs, firesAtMs }: PageAlert, group: AlertGroup, nowMs: number): Html {
  if (endsAtMs !== null) return html`ended ${renderTime(endsAtMs, nowMs)}`;
  if (group === "silenced")
    return silencedUntilMs === null ? html`silenced` : html`silenced until ${renderTime(silencedUntilMs, nowMs)}`;
  if (group === "pending")
    return html`pending${firesAtMs === null ? nothing : html` <span class="detail">fires in ${formatWait(firesAtMs - nowMs)}</span>`}`;
  const runs =
    alert.unknownRuns > 0
      ? html` <span class="detail">no result, ${countOf(alert.unknownRuns, "run")}</span>`
      : nothing;
  return html`<span class="state ${group}">${group}</span>${runs}`;
}
