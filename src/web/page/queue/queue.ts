import { breakAddress, breakAddresses } from "../../../base/broken-address.ts";
import { hourMs } from "../../../base/time.ts";
import { none } from "../../../base/numbers.ts";
import { organizationPath } from "../overview/row.ts";
import { countOf, formatLength, formatLengthInProse, nbsp, withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { mark, rowSeverities } from "../parts/marks.ts";
import { renderTime } from "../../parts/time.ts";
import type { PageProposal, PageQueue, PageQueuedReport } from "../ports.ts";
import { groupQueue, rankQueue, type QueueRow } from "./rank.ts";

/** How the rows are ordered: the worst first, or those of each organization together. */
export type QueueOrder = "age" | "organization";

const columns = 6;

/** Renders what waits for the customer, the worst first: a row for each proposal, with its report. */
export function renderQueue({ reports, failures, isWatched }: PageQueue, order: QueueOrder, nowMs: number): Html {
  const rows = rankQueue(reports, nowMs);
  return html`<h1 class="sentence">${sentenceOf({ reports, failures, isWatched }, nowMs)}</h1>
    ${isWatched ? nothing : html`<p class="why">Set <code>defaults: { reviewQueue: { enabled: true } }</code> in flatline.yaml, then reload.</p>`}
    ${failures.map(({ slug, message }) => html`<p class="problem">${mark("unknown")} ${slug} could not be read: <code>${message}</code></p>`)}
    ${
      rows.length === 0
        ? nothing
        : html`<p class="why">
              Reviewing is a command, because it cannot be undone: <i>Review</i> copies it, and you add the decision.
            </p>
            ${renderTools(rows, order)}
            <div class="scroll" tabindex="0" role="region" aria-label="Review queue">
              <table class="plain wide stack queue" id="queue">
                <thead>
                  <tr>
                    <th scope="col">Age</th>
                    <th scope="col">Organization</th>
                    <th scope="col">Report</th>
                    <th scope="col">Proposal</th>
                    <th scope="col">SLA</th>
                    <th scope="col"><span class="sr">Review</span></th>
                  </tr>
                </thead>
                ${renderBodies(rows, order, nowMs)}
              </table>
            </div>
            <p class="away" data-away="queue" hidden></p>`
    }`;
}

function sentenceOf({ reports, failures, isWatched }: PageQueue, nowMs: number): Html | string {
  if (!isWatched) return "No review queue is watched.";
  if (reports.length === 0)
    return failures.length === 0 ? "No report waits for the customer." : "The review queues could not be read.";
  const waits = `${countOf(reports.length, "report")} ${reports.length === 1 ? "waits" : "wait"} for the customer.`;
  const [oldest] = reports
    .flatMap((report) => (report.createdAtMs === null ? [] : [{ ...report, createdAtMs: report.createdAtMs }]))
    .toSorted((left, right) => left.createdAtMs - right.createdAtMs);
  if (oldest === undefined) return waits;
  const { slug, reportId, createdAtMs, failAfterMs } = oldest;
  return html`${waits} The oldest, <span class="whole">${slug}</span> ${reportId}, since
    ${renderTime(createdAtMs, nowMs)}: ${formatLengthInProse(nowMs - createdAtMs)} (fails from
    ${Math.round(failAfterMs / hourMs)}${nbsp}h).`;
}

function renderTools(rows: readonly QueueRow[], order: QueueOrder): Html {
  const counts = rowSeverities.flatMap((severity) => {
    const count = rows.filter((row) => row.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  const link = (to: QueueOrder, href: string, name: string): Html =>
    html`<a href="${href}" data-swap${order === to ? html` aria-current="true"` : nothing}>${name}</a>`;
  return html`<div class="tools">
    <form class="filter" role="search" data-filter="queue">
      <label class="sr" for="q">Filter by organization, label, title, asset or severity</label
      ><input
        id="q"
        type="search"
        placeholder="Filter: acme fail url login"
        autocomplete="off"
        spellcheck="false"
      /><kbd aria-hidden="true">/</kbd>
    </form>
    <nav class="switch" aria-label="Order">
      ${link("age", "/queue", "worst first")}${link("organization", "/queue?by=organization", "by organization")}
    </nav>
    <p class="note">${countOf(rows.length, "proposal")}: ${counts.join(", ")}</p>
  </div>`;
}

function renderBodies(rows: readonly QueueRow[], order: QueueOrder, nowMs: number): Html {
  const numbers = new Map(rows.map((row, index) => [row, index + 1]));
  const rowsOf = (some: readonly QueueRow[]): Html =>
    html`${some.map((row) => renderRow(row, numbers.get(row) ?? 0, nowMs))}`;
  if (order === "age")
    return html`<tbody>
      ${rowsOf(rows)}
    </tbody>`;
  return html`${groupQueue(rows).map(
    ({ slug, rows: own }) =>
      html`<tbody>
        <tr class="group">
          <th scope="rowgroup" colspan="${columns}">${slug} <span>${countOf(own.length, "proposal")}</span></th>
        </tr>
        ${rowsOf(own)}
      </tbody>`,
  )}`;
}

function renderRow({ report, proposal, severity, ageMs }: QueueRow, number: number, nowMs: number): Html {
  const { slug, reportId, title, labels, sla } = report;
  const words = [
    severity,
    slug,
    ...Object.entries(labels).flatMap(([name, value]) => [value, `${name}=${value}`]),
    reportId,
    title ?? "",
    ...(proposal === null
      ? []
      : [proposal.id, proposal.decision ?? "undecided", proposal.assetType, breakAddress(proposal.content)]),
    sla?.breached === true ? "breached" : "",
  ];
  return html`<tr data-words="${words.join(" ").toLowerCase()}">
    <td>
      <span class="sevcell ${severity}"
        >${mark(severity)} <span class="sr">${severity}, </span>${ageMs === null ? none : formatLength(ageMs)}</span
      >
    </td>
    <th scope="row"><a href="${organizationPath(slug)}">${slug}</a></th>
    <td class="title whole">
      <details>
        <summary>
          ${title === null ? "without a title" : breakAddresses(title)} <span class="detail">${reportId}</span>
        </summary>
        ${renderReport(report, proposal, number, nowMs)}
      </details>
    </td>
    <td class="asset whole" data-name="proposal">${proposal === null ? none : renderProposal(proposal)}</td>
    <td class="sla" data-name="SLA">${slaText(report, nowMs)}</td>
    <td class="button-cell">
      ${
        proposal === null
          ? nothing
          : html`<button type="button" data-copy="review-${number}">
              Review<span class="sr"> proposal ${proposal.id}: copies its command</span>
            </button>`
      }
    </td>
  </tr>`;
}

function renderProposal({ id, decision, assetType, content }: PageProposal): Html {
  return html`${id} ${decision ?? "undecided"}<br /><span class="detail"
      >${assetType} <span class="mono">${breakable(breakAddress(content))}</span></span
    >`;
}

/** All that the service says of the report, its other proposals, and the command that reviews this one. */
function renderReport(report: PageQueuedReport, proposal: PageProposal | null, number: number, nowMs: number): Html {
  const { createdAtMs, facts, proposals } = report;
  const others = proposals.filter((one) => one !== proposal);
  return html`<dl class="facts report">
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
            <dd>${others.map((one, index) => html`${index > 0 ? html`<br />` : nothing}${renderProposal(one)}`)}</dd>`
    }
    ${
      proposal === null
        ? nothing
        : html`<dt>review</dt>
            <dd><code id="review-${number}">${commandOf(report.slug, proposal)}</code></dd>`
    }
  </dl>`;
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

/** Broken at 40 characters; text, never a link: these addresses are phishing. */
function breakable(content: string): Html {
  const parts = content.match(/[^]{1,40}/gu) ?? [];
  return html`${parts.map((part, index) => html`${index > 0 ? html`<wbr />` : nothing}${part}`)}`;
}
