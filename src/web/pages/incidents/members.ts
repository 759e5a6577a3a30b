import { formatCount, formatExpected, formatPercent } from "../../../base/numbers.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { severityWord } from "../marks.ts";
import { pageOf, renderPager, renderSection, renderTable, withParams, type Column } from "../table.ts";
import { excessOf, memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

const columns: readonly Column[] = [
  { name: "Tick", kind: "check wide", isHidden: true },
  { name: "Severity", kind: "sev" },
  { name: "Organization", kind: "name" },
  { name: "Began", kind: "n wide" },
  { name: "Deaths", kind: "n" },
  { name: "Expected", kind: "n" },
  { name: "More than usual", kind: "n wide" },
  { name: "Ratio", kind: "n" },
  { name: "Share this", kind: "n" },
  { name: "Found alive", kind: "n wide" },
  { name: "Takedowns", kind: "gate" },
];

const shownAtFirst = 10;
const shownOnAPage = 100;

export interface MembersOptions {
  readonly params: URLSearchParams;
  /** Organizations that are listed in any case. */
  readonly ticked: ReadonlySet<string>;
  readonly path: string;
}

/** Renders the organizations of an incident: those that do not share its cause on top, then by excess, and all that are `ticked`. */
export function renderMembers(page: IncidentDetail, { params, ticked, path }: MembersOptions): Html {
  const all = memberFactsOf(page);
  const [odd, sharing] = [all.filter((one) => !sharesCause(one)), all.filter(sharesCause)];
  const ordered = [...odd, ...sharing];
  const isAll = params.has("page") || params.get("show") === "all";
  const shown = pageOf(ordered, params.get("page"), isAll ? shownOnAPage : shownAtFirst);
  const isShown = (one: MemberFacts): boolean => shown.items.includes(one) || ticked.has(one.slug);
  const groupOf = (some: readonly MemberFacts[], words: Html): Html[] => {
    const rows = some.filter(isShown).map((one) => renderMember(one, page.nowMs));
    const hasHead = rows.length > 0 && some.length < all.length;
    return hasHead ? [renderGroup(some, words), ...rows] : rows;
  };
  const many = odd.length > 1;
  const rows = [
    ...groupOf(
      odd,
      html`<b>${odd.length} ${many ? "do" : "does"} not share this</b>: look at ${many ? "them" : "it"} apart`,
    ),
    ...groupOf(sharing, html`<b>${formatCount(sharing.length)} share this</b>, the worst first`),
  ];
  const [carrier] = page.summary.carriers;
  const note =
    carrier === undefined
      ? html`deaths of the window`
      : html`share this: deaths with <span class="nowrap">${carrier.key}=${carrier.value}</span>`;
  const more =
    isAll || shown.pages === 1
      ? renderPager(shown, (number) => withParams(path, params, { page: String(number) }), note)
      : html`<p class="pager">
          <span>${note}</span
          ><span
            >1&ndash;${shown.items.length} of ${formatCount(shown.total)}
            <a href="${withParams(path, params, { show: "all" })}">All ${formatCount(shown.total)}</a></span
          >
        </p>`;
  const number = page.incident.number;
  const table = html`<form class="picks" action="/incidents/${number}" method="get">
    ${renderTable("members", columns, rows)}${renderBulk(number, all.length)}
  </form>`;
  return renderSection("Organizations", html`${table}${more}`, { id: "organizations" });
}

function renderGroup(some: readonly MemberFacts[], words: Html): Html {
  const sum = (value: (one: MemberFacts) => number | null): number =>
    some.reduce((total, one) => total + (value(one) ?? 0), 0);
  const shut = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  return html`<tr class="group">
    <td class="check wide">
      <input type="checkbox" data-group aria-label="Tick these ${some.length}" hidden />
    </td>
    <td class="sev" colspan="2">${words}</td>
    <td class="wide"></td>
    <td class="n"><b>${formatCount(sum(({ count }) => count))}</b></td>
    <td class="n" data-name="of">${formatExpected(sum(({ expected }) => expected))}</td>
    <td class="n wide">${formatCount(excessOf(some))}</td>
    <td class="n ratio"></td>
    <td class="n"></td>
    <td class="n wide">${formatCount(sum(({ revived }) => revived))}</td>
    <td class="gate">${shut === 0 ? "allowed" : `${formatCount(shut)} on hold`}</td>
  </tr>`;
}

function renderMember(one: MemberFacts, nowMs: number): Html {
  const { member, slug, beganMs, count, expected, excess, share, revived, heldSinceMs } = one;
  const isOver = member.end !== null;
  const path = `/o/${encodeURIComponent(slug.toWellFormed())}`;
  return html`<tr id="member-${member.id}" ${isOver ? nothing : html` class="bad"`}>
    <td class="check wide"><input type="checkbox" name="slug" value="${slug}" aria-label="Tick ${slug}" /></td>
    <td class="sev">${severityWord(member.severity, isOver)}</td>
    <th scope="row"><a href="${path}">${slug}</a></th>
    <td class="n wide second">${renderTime(beganMs, nowMs)}</td>
    <td class="n"><b>${formatCount(count)}</b></td>
    <td class="n second" data-name="of">${formatExpected(expected)}</td>
    <td class="n wide">${count === null ? "–" : formatCount(excess)}</td>
    <td class="n ratio ${isOver ? "" : member.severity}">${formatRatioCell(one)}</td>
    <td class="n" data-name="share this">${share === null ? "–" : formatPercent(share)}</td>
    <td class="n wide second">${formatCount(revived)}</td>
    <td class="gate">
      ${heldSinceMs === null ? html`<span class="second">allowed</span>` : html`on hold since ${renderTime(heldSinceMs, nowMs)}`}
    </td>
  </tr>`;
}

/** The acts on what is ticked: without scripts each is a page that asks. */
function renderBulk(number: number, total: number): Html {
  const act = (name: string, words: string): Html =>
    html`<button
      formaction="/incidents/${number}/${name}"
      hx-get="/incidents/${number}/${name}"
      hx-include="closest form"
      hx-target="#dialog-place"
      hx-swap="innerHTML"
    >
      ${words}
    </button> `;
  return html`<div class="bulk">
    <p><b data-picked data-total="${total}">Ticked</b> <a href="#organizations" data-clear hidden>Clear</a></p>
    <p class="row">
      ${act("acknowledge", "Acknowledge…")}${act("judge", "Judge…")}${act("silence", "Silence…")}${act("release", "Release…")}
    </p>
  </div>`;
}
