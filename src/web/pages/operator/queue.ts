import { breakAddress, breakAddresses } from "../../../base/broken-address.ts";
import { none } from "../../../base/numbers.ts";
import { hourMs } from "../../../base/time.ts";
import type { PageProposal, PageQueue, PageQueuedReport } from "../../read/queue.ts";
import { countOf, formatLength, formatLengthInProse, nbsp, withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import { renderHead } from "../frame.ts";
import { severityWord, shownSeverities } from "../marks.ts";
import {
  filterByWords,
  pageOf,
  renderFilter,
  renderNoMatch,
  renderPager,
  renderSwitch,
  renderTable,
  withParams,
  type Column,
} from "../table.ts";
import { groupQueue, rankQueue, type QueueRow } from "./rank.ts";

export const path = "/queue";
const pageSize = 100;
const columns: readonly Column[] = [
  { name: "Severity", kind: "sev" },
  { name: "Organization" },
  { name: "Age", kind: "n" },
  { name: "Report", kind: "report" },
  { name: "Proposal", kind: "address" },
  { name: "SLA", kind: "sla" },
];

/** Renders what waits for the customer, the worst first: a row for each proposal, with its report. */
export function renderQueue(queue: PageQueue, params: URLSearchParams, nowMs: number): Html {
  const { failures, isWatched } = queue;
  const rows = rankQueue(queue.reports, nowMs);
  return html`${renderHead(sentencesOf(queue, nowMs))}
  ${
    isWatched
      ? nothing
      : html`<p class="lede">
            Reports that wait for the customer are watched where <code>flatline.yaml</code> says so, after a reload:
          </p>
          <p class="copy"><code>defaults: { reviewQueue: { enabled: true } }</code></p>`
  }
  ${failures.map(({ slug, message }) => html`<p class="note">${slug} could not be read: <code>${message}</code></p>`)}
  ${rows.length === 0 ? nothing : renderRows(rows, params, nowMs)}`;
}

function sentencesOf({ reports, failures, isWatched }: PageQueue, nowMs: number): readonly Html[] {
  if (!isWatched) return [html`No review queue is watched.`];
  if (reports.length === 0)
    return [
      failures.length === 0 ? html`No report waits for the customer.` : html`The review queues could not be read.`,
    ];
  const waits = html`${countOf(reports.length, "report")} ${reports.length === 1 ? "waits" : "wait"} for the customer.`;
  const [oldest] = reports
    .flatMap((report) => (report.createdAtMs === null ? [] : [{ ...report, createdAtMs: report.createdAtMs }]))
    .toSorted((left, right) => left.createdAtMs - right.createdAtMs);
  if (oldest === undefined) return [waits];
  const { slug, reportId, createdAtMs, failAfterMs } = oldest;
  return [
    waits,
    html`The oldest, ${slug} ${reportId}, since ${renderTime(createdAtMs, nowMs)}:
    ${formatLengthInProse(nowMs - createdAtMs)} (fails from ${Math.round(failAfterMs / hourMs)}${nbsp}h).`,
  ];
}

function renderRows(rows: readonly QueueRow[], params: URLSearchParams, nowMs: number): Html {
  const isGrouped = params.get("by") === "organization";
  const wanted = filterByWords(rows, params, wordsOf);
  const sorted = isGrouped ? groupQueue(wanted).flatMap(({ rows: own }) => own) : wanted;
  const counts = shownSeverities.flatMap((severity) => {
    const count = wanted.filter((row) => row.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  const page = pageOf(sorted, params.get("page"), pageSize);
  const body = page.items.flatMap((row, index) => {
    const { slug } = row.report;
    const isFirst = isGrouped && page.items[index - 1]?.report.slug !== slug;
    const own = sorted.filter(({ report }) => report.slug === slug).length;
    const head = html`<tr class="group">
      <td colspan="${columns.length}"><b>${slug}</b> ${countOf(own, "proposal")}</td>
    </tr>`;
    return [...(isFirst ? [head] : []), renderRow(row, page.start + index, nowMs)];
  });
  const order = (by: string | null, words: string) => ({
    words,
    href: withParams(path, params, { by, page: null }),
    isChosen: isGrouped === (by !== null),
  });
  return html`<p class="lede">
      Reviewing is a command, because it cannot be undone. It stands in each row: you add the decision.
    </p>
    ${renderFilter({
      path,
      params,
      placeholder: "Filter: acme fail url login",
      kept: ["by"],
      beside: html`<p>${countOf(wanted.length, "proposal")}${counts.length === 0 ? "" : `: ${counts.join(", ")}`}</p>
        ${renderSwitch([order(null, "worst first"), order("organization", "by organization")], "Order")}`,
    })}
    ${
      wanted.length === 0
        ? renderNoMatch("proposal", path, params)
        : html`${renderTable("flow queue", columns, body, "Review queue")}${renderPager(page, (number) => withParams(path, params, { page: String(number) }))}`
    }`;
}

/** What the filter looks at. */
function wordsOf({ report, proposal, severity }: QueueRow): string {
  const { slug, reportId, title, labels, sla } = report;
  return [
    severity,
    slug,
    ...Object.entries(labels).flatMap(([name, value]) => [value, `${name}=${value}`]),
    reportId,
    title ?? "",
    ...(proposal === null
      ? []
      : [proposal.id, proposal.decision ?? "undecided", proposal.assetType, breakAddress(proposal.content)]),
    sla?.breached === true ? "breached" : "",
  ].join(" ");
}

function renderRow({ report, proposal, severity, ageMs }: QueueRow, index: number, nowMs: number): Html {
  const { slug, reportId, title } = report;
  return html`<tr>
    <td class="sev">${severityWord(severity)}</td>
    <th scope="row"><a href="/o/${encodeURIComponent(slug)}">${slug}</a></th>
    <td class="n">${ageMs === null ? none : formatLength(ageMs)}</td>
    <td class="report">
      <details id="report-${index}">
        <summary>
          ${title === null ? "without a title" : breakAddresses(title)} <span class="quiet">${reportId}</span>
        </summary>
        ${renderReport(report, proposal, nowMs)}
      </details>
    </td>
    <td class="address">${proposal === null ? none : renderProposal(proposal)}</td>
    <td class="sla" data-name="SLA">${slaText(report, nowMs)}</td>
  </tr>`;
}

function renderProposal({ id, decision, assetType, content }: PageProposal): Html {
  return html`${id} ${decision ?? "undecided"}<span class="under">${assetType} ${breakAddress(content)}</span>`;
}

/** All that the service says of the report, its other proposals, and the command that reviews this one. */
function renderReport(report: PageQueuedReport, proposal: PageProposal | null, nowMs: number): Html {
  const { createdAtMs, facts, proposals } = report;
  const others = proposals.filter((one) => one !== proposal);
  return html`<dl class="facts">
      <dt>created</dt>
      <dd>${createdAtMs === null ? none : renderTime(createdAtMs, nowMs)}</dd>
      ${facts.map(
        ({ name, value }) =>
          html`<dt>${name}</dt>
            <dd>${withPageTimes(breakAddresses(value), nowMs)}</dd>`,
      )}
      ${
        others.length === 0
          ? nothing
          : html`<dt>also waits</dt>
              <dd class="address">${others.map((one) => html`<span class="under">${renderProposal(one)}</span>`)}</dd>`
      }
    </dl>
    ${
      proposal === null
        ? nothing
        : html`<p class="copy">
            <code>${commandOf(report.slug, proposal)}</code>
            <button type="button" data-copy hidden>Copy</button>
          </p>`
    }`;
}

/** The command without its decision, which is for a person to add. */
function commandOf(slug: string, { id, assetId }: PageProposal): string {
  return `flatline proposals review ${shellWord(id)} --slug ${shellWord(slug)} --asset-id ${shellWord(assetId)} --decision `;
}

/** Ids and slugs come from the service: none of them may be more than one word of a shell. */
function shellWord(text: string): string {
  return /^[\w.@%+-][\w.@%+:/-]*$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function slaText({ sla }: PageQueuedReport, nowMs: number): string {
  if (sla === null) return none;
  const length = sla.dueAtMs === null ? "" : ` ${formatLength(Math.abs(nowMs - sla.dueAtMs))}`;
  if (sla.breached) return `breached${length}`;
  return sla.dueAtMs === null ? none : sla.dueAtMs < nowMs ? `due${length} ago` : `due in${length}`;
}
