import { formatCompactCount, formatCount, formatExpected, none } from "../../../base/numbers.ts";
import {
  formatClock,
  formatDay,
  formatLength,
  formatRatioCell,
  formatTime,
  formatWait,
  isSameDay,
} from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, type RowSeverity } from "../parts/marks.ts";
import { pickCell } from "../parts/picking.ts";
import { renderTime } from "../../parts/time.ts";
import { readWords, selectByWords, type Words, type WordSubject } from "../../parts/words.ts";
import { sparkline, type Spark } from "./spark.ts";

/** One organization in the table of the overview; the server and the browser draw it with the same code. Times are epoch ms. */
export interface RowData {
  readonly slug: string;
  /** As they are shown: "team trust". */
  readonly labels: readonly string[];
  /** Severity of the spike check; null before the first run. */
  readonly severity: RowSeverity | null;
  /** Its other checks that are not ok, the worst first. */
  readonly others: readonly RowCheck[];
  /** No run for longer than it may take: what is known is old. */
  readonly isLate: boolean;
  readonly count: number | null;
  readonly expected: number | null;
  readonly ratio: number | null;
  readonly sinceMs: number | null;
  /** It has been so for longer than the history that was looked at. */
  readonly isSinceLonger: boolean;
  readonly lastRunMs: number | null;
  readonly nextRunMs: number;
  /** Between two runs, by the schedule; null where it is uneven. */
  readonly intervalMs: number | null;
  readonly isRunning: boolean;
  readonly alert: RowAlert | null;
  readonly windowHours: number;
  /** The last seven days; null: still being read. */
  readonly spark: Spark | null;
}

/** Another check of an organization that is not ok: its sentinels, the flow of its events, its review queue. */
export interface RowCheck {
  readonly check: string;
  readonly severity: Exclude<RowSeverity, "ok">;
  readonly sinceMs: number | null;
}

export interface RowAlert {
  readonly state: "firing" | "pending" | "silenced";
  /** When it fires or is no longer silenced; null: unknown. */
  readonly untilMs: number | null;
  /** Runs without a result in a row. */
  readonly unknownRuns: number;
  readonly isAcknowledged: boolean;
  /** When its deaths began; where no run could find out, its first run that was not ok. */
  readonly beganMs: number;
}

/** What the table is filtered and sorted by: the query of the URL. */
export interface RowQuery {
  readonly severities: readonly RowSeverity[];
  readonly text: string;
  readonly sort: SortKey;
  readonly dir: "asc" | "desc";
  /** A label, or the severity; absent: rows are not grouped. */
  readonly group?: string;
  /** The groups that are open; absent: those that fail, at first. */
  readonly open?: readonly string[];
}

export const sortKeys = ["severity", "slug", "count", "expected", "ratio", "began", "next", "alert"] as const;
export type SortKey = (typeof sortKeys)[number];

const ranks: Readonly<Record<RowSeverity, number>> = { fail: 1, warn: 2, unknown: 3, ok: 4 };
const worstRanks: Readonly<Record<RowSeverity, number>> = { ok: 0, warn: 1, unknown: 2, fail: 3 };
const severityNames: readonly RowSeverity[] = ["fail", "warn", "unknown", "ok"];
// A late next run is one this much after it was due: a busy scheduler is not yet news.
export const lateAfterMs = 60_000;

/** Returns the severity as it is shown, the worst of all checks; unknown before the first run. */
export function shownSeverity({ severity, others }: Pick<RowData, "severity" | "others">): RowSeverity {
  const own = severity ?? "unknown";
  const other = others[0]?.severity ?? "ok";
  return compareWorst(other, own) > 0 ? other : own;
}

/** Positive when `left` is worse than `right`: fail > unknown > warn > ok, the order of severities everywhere. */
export function compareWorst(left: RowSeverity, right: RowSeverity): number {
  return worstRanks[left] - worstRanks[right];
}

/** Since when the severity holds that is shown. */
export function shownSince(row: RowData): Pick<RowData, "sinceMs" | "isSinceLonger"> {
  const shown = shownSeverity(row);
  if (shown === (row.severity ?? "unknown")) return row;
  const times = row.others.flatMap(({ severity, sinceMs }) => (severity === shown ? (sinceMs ?? []) : []));
  return { sinceMs: times.length === 0 ? null : Math.min(...times), isSinceLonger: false };
}

/** Returns the checks that make a row worse than its count: "sentinel", "sentinel +1"; empty where none does. */
export function otherChecksText({ others }: Pick<RowData, "others">): string {
  const [first, ...rest] = others;
  if (first === undefined) return "";
  return `${first.check} ${first.severity}${rest.length > 0 ? ` +${rest.length}` : ""}`;
}

/** Reads `?severity=&q=&sort=&dir=`; what it does not know, it leaves at the default. */
export function readQuery(params: URLSearchParams): RowQuery {
  const asked = (params.get("severity") ?? "").split(",");
  const sort = sortKeys.find((key) => key === params.get("sort")) ?? "severity";
  const dir = params.get("dir");
  return {
    severities: severityNames.filter((severity) => asked.includes(severity)),
    text: params.get("q") ?? "",
    sort,
    dir: dir === "asc" || dir === "desc" ? dir : defaultDir(sort),
    ...groupOf(params),
  };
}

function groupOf(params: URLSearchParams): Pick<RowQuery, "group" | "open"> {
  const group = params.get("group");
  if (group === null || group === "") return {};
  return params.has("open") ? { group, open: params.getAll("open").filter((one) => one !== "") } : { group };
}

/** Returns the query as the URL has it; what is the default is left out. */
export function writeQuery(query: RowQuery, page = 1): string {
  const params: string[] = [];
  if (query.severities.length > 0) params.push(`severity=${query.severities.join(",")}`);
  if (query.text !== "") params.push(`q=${encodeURIComponent(query.text.toWellFormed())}`);
  if (query.sort !== "severity") params.push(`sort=${query.sort}`);
  if (query.dir !== defaultDir(query.sort)) params.push(`dir=${query.dir}`);
  if (query.group !== undefined) params.push(`group=${encodeURIComponent(query.group.toWellFormed())}`);
  // An empty one says that none is open.
  if (query.group !== undefined && query.open !== undefined)
    for (const one of query.open.length === 0 ? [""] : query.open)
      params.push(`open=${encodeURIComponent(one.toWellFormed())}`);
  if (page > 1) params.push(`page=${page}`);
  return params.length === 0 ? "/" : `/?${params.join("&")}`;
}

/** Numbers and what is bad come first, names and times in their own order. */
export function defaultDir(sort: SortKey): "asc" | "desc" {
  return sort === "slug" || sort === "next" ? "asc" : "desc";
}

/** Returns what the text of the query asks for, in words. */
export function rowWords(rows: readonly RowData[], { text }: Pick<RowQuery, "text">): Words {
  if (text.trim() === "") return { tests: [], problems: [] };
  const labels = new Set(rows.flatMap((row) => row.labels.map((label) => label.slice(0, label.indexOf(" ")))));
  return readWords(text, { names: wordNames, labels: [...labels] });
}

const wordNames = [...severityNames, "firing", "pending", "silenced", "acknowledged"];

function rowSubject(row: RowData): WordSubject {
  const { alert } = row;
  return {
    slug: row.slug,
    labels: Object.fromEntries(
      row.labels.map((label) => [label.slice(0, label.indexOf(" ")), label.slice(label.indexOf(" ") + 1)]),
    ),
    names: [
      shownSeverity(row),
      ...(alert === null ? [] : [alert.state, ...(alert.isAcknowledged ? ["acknowledged"] : [])]),
      ...row.others.map(({ check }) => check),
    ],
    undone: null,
    who: null,
    judged: null,
    lastedMs: null,
  };
}

/** Returns the rows that the query asks for, in its order. */
export function selectRows(rows: readonly RowData[], query: RowQuery): RowData[] {
  const wanted = rows.filter((row) => query.severities.length === 0 || query.severities.includes(shownSeverity(row)));
  const words = rowWords(rows, query);
  const found = words.tests.length === 0 ? wanted : selectByWords(wanted, words, rowSubject);
  const sign = query.dir === "desc" ? -1 : 1;
  const value = sortValues[query.sort];
  return found.sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a !== b) {
      // What has no value stands last in either direction.
      if (a === null) return 1;
      if (b === null) return -1;
      return (a < b ? -1 : 1) * sign;
    }
    return bySeverity(left, right);
  });
}

/** Rank, then ratio descending, then slug. */
function bySeverity(left: RowData, right: RowData): number {
  const byRank = ranks[shownSeverity(left)] - ranks[shownSeverity(right)];
  if (byRank !== 0) return byRank;
  const [a, b] = [ratioOf(left) ?? -1, ratioOf(right) ?? -1];
  if (a !== b) return a > b ? -1 : 1;
  if (left.slug === right.slug) return 0;
  return left.slug < right.slug ? -1 : 1;
}

function ratioOf({ ratio, expected, count }: RowData): number | null {
  if (ratio !== null) return ratio;
  return expected === 0 && count !== null && count > 0 ? Number.POSITIVE_INFINITY : null;
}

const alertRanks = { firing: 3, silenced: 2, pending: 1 } as const;

const sortValues: Readonly<Record<SortKey, (row: RowData) => number | string | null>> = {
  severity: (row) => -ranks[shownSeverity(row)],
  slug: (row) => row.slug,
  count: (row) => row.count,
  expected: (row) => row.expected,
  ratio: ratioOf,
  began: beganMs,
  next: (row) => row.nextRunMs,
  alert: (row) => (row.alert === null ? null : alertRanks[row.alert.state]),
};

/** Returns the address of an organization's page. */
export function organizationPath(slug: string): string {
  return `/o/${encodeURIComponent(slug.toWellFormed())}`;
}

/** One row of the table. `index` counts from 1 over all rows that the query found. */
export function renderRow(row: RowData, nowMs: number, index: number): Html {
  const severity = shownSeverity(row);
  const isHot = row.severity === "fail" || row.severity === "warn";
  const checks = otherChecksText(row);
  const counts = `${formatCount(row.count)} vs ${formatExpected(row.expected)}`;
  return html`<tr class="row ${severity}" data-slug="${row.slug}" aria-rowindex="${index + 1}">
    ${pickCell("td", html`<input type="checkbox" name="pick" value="${row.slug}" data-severity="${severity}" aria-label="Select ${row.slug}" />`)}
    <td class="c-sev">${mark(severity)}<span class="word">${severity}</span></td>
    <th scope="row" class="c-org${checks === "" ? "" : " with"}">
      <span class="slugline"
        ><a href="${organizationPath(row.slug)}" title="${row.slug}">${row.slug}</a
        >${checks === "" ? nothing : html` <span class="checks ${row.others[0]?.severity ?? "ok"}">${checks}</span>`}${renderLabels(row.labels)}</span
      ><span class="vs">${checks === "" || isHot ? counts : checks}</span>
    </th>
    <td class="num c-count${isHot ? " hot" : ""}">${formatCompactCount(row.count)}</td>
    <td class="num c-exp">${formatExpected(row.expected)}</td>
    <td class="num c-ratio${isHot ? ` ${row.severity}` : ""}">${formatRatioCell(row)}</td>
    <td class="c-spark">
      ${row.spark === null ? html`<span class="reading">reading the past</span>` : sparkline(row.spark)}
    </td>
    <td class="num c-began">${beganText(row, nowMs)}</td>
    <td class="num c-next">${nextText(row, nowMs)}</td>
    <td class="c-alert">${alertText(row, nowMs)}</td>
  </tr>`;
}

/** Renders labels, each a part of its own: one that has no room is left out, none is cut. */
export function renderLabels(labels: readonly string[]): Html {
  if (labels.length === 0) return nothing;
  return html` <span class="labels" title="${labels.join(" · ")}"
    >${labels.map((label, index) => html`<span>${index === 0 ? "" : "· "}${label}</span> `)}</span
  >`;
}

/** When what is wrong began; null: all is ok, or nothing is known of it. */
function beganMs(row: RowData): number | null {
  if (row.alert !== null) return row.alert.beganMs;
  return shownSeverity(row) === "ok" || row.severity === null ? null : shownSince(row).sinceMs;
}

function beganText(row: RowData, nowMs: number): Html {
  const atMs = beganMs(row);
  return atMs === null ? html`<span class="detail">${none}</span>` : renderTime(atMs, nowMs);
}

/** Since when the severity holds, as a length. */
export function sinceText(row: RowData, nowMs: number): string {
  const { sinceMs, isSinceLonger } = shownSince(row);
  if (sinceMs === null) return none;
  return isSinceLonger ? "over 7d" : formatLength(nowMs - sinceMs);
}

/** Returns when it runs next; that it is late when it is. */
export function nextText(row: RowData, nowMs: number): Html {
  if (row.isRunning) return html`running`;
  if (row.isLate && row.lastRunMs !== null)
    return html`<span class="late"
      >${mark("warn", 12)}
      <span class="late-word"
        >last run ${formatLength(nowMs - row.lastRunMs)} ago, ${dueText(row, nowMs, formatLength)}</span
      ></span
    >`;
  const waitMs = row.nextRunMs - nowMs;
  if (waitMs < -lateAfterMs) return html`<span class="late">${mark("warn", 12)} late ${formatLength(-waitMs)}</span>`;
  return html`${waitMs < 60_000 ? formatWait(waitMs) : formatLength(waitMs)}`;
}

/** Returns when the runs are due: each so often, or where the schedule is uneven, at its next tick. */
export function dueText(row: RowData, nowMs: number, formatInterval: (ms: number) => string): string {
  return row.intervalMs === null
    ? `due ${formatTime(row.nextRunMs, nowMs)}`
    : `due every ${formatInterval(row.intervalMs)}`;
}

/** Returns the alert's state and what comes of it. */
export function alertText(row: RowData, nowMs: number): Html {
  const { alert } = row;
  if (row.severity === null)
    return html`<span class="detail">waiting for its first run, in ${formatWait(row.nextRunMs - nowMs)}</span>`;
  if (alert === null) return html`<span class="detail">${none}</span>`;
  const unknown = row.severity === "unknown" && alert.unknownRuns > 0;
  const runs = `no result, ${alert.unknownRuns} ${alert.unknownRuns === 1 ? "run" : "runs"}`;
  const detail = alertDetail(alert, nowMs) || (unknown ? runs : "");
  return html`<span class="state ${alert.state}">${alert.state}</span
    >${detail === "" ? nothing : html` <span class="detail">${detail}</span>`}`;
}

function alertDetail({ state, untilMs, isAcknowledged }: RowAlert, nowMs: number): string {
  if (state === "pending") return untilMs === null ? "" : `fires in ${formatWait(untilMs - nowMs)}`;
  if (state === "silenced" && untilMs !== null)
    return `until ${isSameDay(untilMs, nowMs) ? "" : `${formatDay(untilMs)} `}${formatClock(untilMs)}`;
  return isAcknowledged ? "acknowledged" : "";
}
