import type { PageQueue, PageQueuedReport } from "../ports.ts";
import { none } from "../../../base/numbers.ts";
import { countOf, formatClock, formatDay, formatLength, formatLengthInProse, nbsp } from "../parts/figures.ts";
import { html, nothing, type Html } from "../parts/html.ts";
import { mark, type RowSeverity } from "../parts/marks.ts";
import { organizationPath } from "../overview/row.ts";

/** What waits for the customer, the oldest first. */
export function renderQueue(
  { reports, failures, isWatched, warnAfterMs, failAfterMs }: PageQueue,
  nowMs: number,
): Html {
  const oldest = reports.find(({ createdAtMs }) => createdAtMs !== null);
  const sentence = !isWatched
    ? "No review queue is watched."
    : reports.length === 0
      ? failures.length === 0
        ? "No report waits for the customer."
        : "The review queues could not be read."
      : html`${countOf(reports.length, "report")} ${reports.length === 1 ? "waits" : "wait"} for the
        customer.${(oldest?.createdAtMs ?? null) === null || oldest === undefined || oldest.createdAtMs === null ? "" : html` The oldest, <span class="whole">${oldest.slug}</span> ${oldest.reportId}, since ${formatDay(oldest.createdAtMs)} ${formatClock(oldest.createdAtMs)}: ${formatLengthInProse(nowMs - oldest.createdAtMs)} (fails from ${Math.round(failAfterMs / 3_600_000)}${nbsp}h).`}`;
  const rows = reports.map((one) => {
    const ageMs = one.createdAtMs === null ? null : nowMs - one.createdAtMs;
    const severity: RowSeverity =
      ageMs === null ? "unknown" : ageMs >= failAfterMs ? "fail" : ageMs >= warnAfterMs ? "warn" : "ok";
    return html`<tr>
      <td>
        <span class="sevcell ${severity}"
          >${mark(severity)} <span class="sr">${severity}, </span>${ageMs === null ? none : formatLength(ageMs)}</span
        >
      </td>
      <th scope="row"><a href="${organizationPath(one.slug)}">${one.slug}</a></th>
      <td data-name="report">${one.reportId}</td>
      <td class="title whole">${one.title ?? none}</td>
      <td class="asset whole">
        ${one.assets.slice(0, 3).map(({ type, content }, index) => html`${index > 0 ? html`<br />` : nothing}${type} <span class="mono">${breakable(content)}</span>`)}
      </td>
      <td class="sla" data-name="proposal">
        ${one.proposals.map(({ id, decision }) => `${id} ${decision ?? "undecided"}`).join(", ") || none}
      </td>
      <td class="sla" data-name="SLA">${slaText(one, nowMs)}</td>
    </tr>`;
  });
  const first = reports.find(({ proposals }) => proposals.length > 0);
  const command = `flatline proposals review ${first?.proposals[0]?.id ?? ""} --slug ${first?.slug ?? ""}`;
  return html`<h1 class="sentence">${sentence}</h1>
    ${isWatched ? nothing : html`<p class="why">Set <code>defaults: { reviewQueue: { enabled: true } }</code> in flatline.yaml, then reload.</p>`}
    ${failures.map(({ slug, message }) => html`<p class="problem">${mark("unknown")} ${slug} could not be read: <code>${message}</code></p>`)}
    ${
      reports.length === 0
        ? nothing
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Review queue">
            <table class="plain wide stack">
              <thead>
                <tr>
                  <th scope="col">Age ↓</th>
                  <th scope="col">Organization</th>
                  <th scope="col">Report</th>
                  <th scope="col">Title</th>
                  <th scope="col">Asset</th>
                  <th scope="col">Proposal</th>
                  <th scope="col">SLA</th>
                </tr>
              </thead>
              <tbody>
                ${rows}
              </tbody>
            </table>
          </div>`
    }
    ${first === undefined ? nothing : html`<p class="how">Review one: <code id="copied">${command}</code> <button type="button" data-copy="copied">Copy</button></p>`}`;
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
