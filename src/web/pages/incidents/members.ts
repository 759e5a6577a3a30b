import { formatCount, formatExpected, formatPercent, none } from "../../../base/numbers.ts";
import { countOf } from "../../../words/numbers.ts";
import { html, nothing, renderTime, severityWord, type Html } from "../html.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { overPage } from "../dialog.ts";
import {
  organizationLink,
  pageOf,
  renderGate,
  renderGroups,
  renderPager,
  renderRatio,
  renderSection,
  withParams,
  type Column,
} from "../table.ts";
import { memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

const shownAtFirst = 10;
const shownOnAPage = 100;

/** Renders an incident's organizations: first those with another cause, then the most excess first. */
export function renderMembers(page: IncidentDetail, params: URLSearchParams, ticked: ReadonlySet<string>): Html {
  const { number } = page.incident;
  const path = `/incidents/${number}`;
  const all = memberFactsOf(page);
  const [odd, sharing] = [all.filter((one) => !sharesCause(one)), all.filter(sharesCause)];
  const isAll = params.has("page") || params.get("show") === "all";
  const shown = pageOf([...odd, ...sharing], params, isAll ? shownOnAPage : shownAtFirst);
  // A ticked row is always shown, so that it stays ticked.
  const isShown = (one: MemberFacts): boolean => shown.items.includes(one) || ticked.has(one.slug);
  const isCounted = all.some(({ count }) => count !== null);
  const many = odd.length > 1;
  const oddHead = html`<b>${odd.length} ${many ? "do" : "does"} not share this</b>, look at ${many ? "them" : "it"}
    apart: ${sumWords(odd)}`;
  const sharingHead = html`<b>${formatCount(sharing.length)} share this</b>, the worst first: ${sumWords(sharing)}`;
  const hasHeads = odd.length > 0 && sharing.length > 0;
  const groups = [
    { rows: odd.filter(isShown), head: hasHeads ? oddHead : undefined },
    { rows: sharing.filter(isShown), head: hasHeads ? sharingHead : undefined },
  ];
  const [carrier] = page.summary.carriers;
  const note =
    carrier === undefined
      ? html`${isCounted ? "deaths of the window" : nothing}`
      : html`share this: deaths with <span class="nowrap">${carrier.key}=${carrier.value}</span>`;
  const total = formatCount(shown.total);
  const more =
    isAll || shown.pages === 1
      ? renderPager(shown, path, params, note)
      : html`<p class="pager">
          <span>${note}</span
          ><span
            >1&ndash;${shown.items.length} of ${total}
            <a href="${withParams(path, params, { show: "all" })}">All ${total}</a></span
          >
        </p>`;
  const table = renderGroups(
    columnsOf(page, isCounted),
    groups,
    "members",
    ({ member }) => html`id="member-${member.id}" ${member.end === null ? html` class="bad"` : nothing}`,
  );
  const form = html`<form class="picks" action="${path}" method="get">${table}${renderBulk(path, all.length)}</form>`;
  return renderSection("Organizations", html`${form}${more}`, { id: "organizations" });
}

/** Returns words such as "2,657 deaths, 125 expected, 1,904 found alive, 81 on hold". */
function sumWords(some: readonly MemberFacts[]): string {
  const sum = (value: (one: MemberFacts) => number | null): number =>
    some.reduce((total, one) => total + (value(one) ?? 0), 0);
  const deaths = sum(({ count }) => count);
  const expected = formatExpected(sum(({ expected: own }) => own));
  const held = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  const alive = formatCount(sum(({ revived }) => revived));
  return `${countOf(deaths, "death")}, ${expected} expected, ${alive} found alive, ${formatCount(held)} on hold`;
}

/** Leaves out a column of unknown values: a zero or an "allowed" would look like an answer. */
function columnsOf({ nowMs, summary, headline }: IncidentDetail, isCounted: boolean): readonly Column<MemberFacts>[] {
  const columns: readonly Column<MemberFacts>[] = [
    [
      "Tick",
      "check wide",
      ({ slug }) => html`<input type="checkbox" name="slug" value="${slug}" aria-label="Tick ${slug}" />`,
    ],
    ["Severity", "sev", ({ member }) => severityWord(member.severity, member.end !== null)],
    ["Organization", "name", ({ slug }) => organizationLink(slug)],
    ["Began", "n wide second", ({ beganMs }) => renderTime(beganMs, nowMs)],
    ["Deaths", "n", ({ count }) => html`<b>${formatCount(count)}</b>`],
    ["Expected", "n second named", ({ expected }) => formatExpected(expected)],
    ["More than usual", "n wide", ({ count, excess }) => (count === null ? none : formatCount(excess))],
    ["Ratio", "n ratio", (one) => renderRatio(one, one.member.end === null ? one.member.severity : "")],
    ["Share this", "n named", ({ share }) => (share === null ? none : formatPercent(share))],
    ["Found alive", "n wide second", ({ revived }) => formatCount(revived)],
    ["Takedowns", "gate", ({ heldSinceMs }) => renderGate(heldSinceMs, nowMs)],
  ];
  const unknown: readonly string[] = [
    ...(isCounted ? [] : ["Deaths", "Expected", "More than usual", "Ratio"]),
    ...(summary.carriers.length > 0 ? [] : ["Share this"]),
    ...(headline.isSeen ? [] : ["Found alive"]),
    ...(headline.judgeable > 0 ? [] : ["Takedowns"]),
  ];
  return columns.filter(([name]) => !unknown.includes(name));
}

/** Renders the acts on ticked rows. */
function renderBulk(incident: string, total: number): Html {
  const acts = ["acknowledge", "judge", "silence", "release"].map((act) => {
    const path = `${incident}/${act}`;
    const words = `${act.charAt(0).toUpperCase()}${act.slice(1)}…`;
    return html`<button formaction="${path}" hx-get="${path}" hx-include="closest form" ${overPage}>${words}</button> `;
  });
  return html`<div class="bulk">
    <p><b data-picked data-total="${total}">Ticked</b> <a href="#organizations" data-clear hidden>Clear</a></p>
    <p class="row">${acts}</p>
  </div>`;
}
