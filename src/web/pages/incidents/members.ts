import { formatCount, formatExpected, formatPercent } from "../../../base/numbers.ts";
import { formatRatioCell } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { severityWord } from "../marks.ts";
import { pageOf, renderPager, renderSection, renderSwitch, renderTable, withParams, type Column } from "../table.ts";
import { excessOf, memberFactsOf, sharesCause, type MemberFacts } from "./member-facts.ts";

const columns: readonly Column[] = [
  { name: "Tick", kind: "check", isHidden: true },
  { name: "Severity", kind: "sev" },
  { name: "Organization", kind: "name" },
  { name: "Began", kind: "n began" },
  { name: "Deaths", kind: "n count" },
  { name: "Expected", kind: "n expected" },
  { name: "More than usual", kind: "n excess" },
  { name: "Ratio", kind: "n ratio" },
  { name: "Shares the cause", kind: "n share" },
  { name: "Found alive", kind: "n alive" },
  { name: "Takedowns", kind: "gate" },
];

const shownAtFirst = 10;
const shownOnAPage = 100;
const filters = ["all", "fail", "warn", "going"] as const;
type Filter = (typeof filters)[number];

export interface MembersOptions {
  readonly params: URLSearchParams;
  /** Organizations that are listed in any case. */
  readonly ticked: ReadonlySet<string>;
  readonly path: string;
}

/** Renders the organizations of an incident: those that do not share its cause on top, then by excess, and all that are `ticked`. */
export function renderMembers(page: IncidentDetail, { params, ticked, path }: MembersOptions): Html {
  const all = memberFactsOf(page);
  const filter = filters.find((one) => one === params.get("members")) ?? "all";
  const wanted = all.filter((one) => isOf(one, filter) || ticked.has(one.slug));
  const odd = wanted.filter((one) => !sharesCause(one));
  const isSplit = odd.length > 0 && odd.length < wanted.length;
  const ordered = isSplit ? [...odd, ...wanted.filter(sharesCause)] : wanted;
  const isAll = params.has("page") || params.get("show") === "all";
  const shown = pageOf(ordered, params.get("page"), isAll ? shownOnAPage : shownAtFirst);
  const [carrier] = page.summary.carriers;
  const listed = ordered.filter((one) => shown.items.includes(one) || ticked.has(one.slug));
  const rows = listed.flatMap((one, index) => {
    const before = listed[index - 1];
    const group =
      isSplit && (before === undefined || sharesCause(before) !== sharesCause(one))
        ? [sharesCause(one) ? shareGroup(ordered.filter(sharesCause)) : oddGroup(odd)]
        : [];
    return [...group, renderMember(one, page.nowMs)];
  });
  const count = (one: Filter): string => formatCount(all.filter((member) => isOf(member, one)).length);
  const words: Readonly<Record<Filter, string>> = {
    all: `All ${count("all")}`,
    fail: `fail ${count("fail")}`,
    warn: `warn ${count("warn")}`,
    going: `still going on ${count("going")}`,
  };
  const beside = renderSwitch(
    filters.map((one) => ({
      words: words[one],
      href: withParams(path, params, { members: one === "all" ? null : one, page: null }),
      isChosen: one === filter,
    })),
    "Organizations by state",
  );
  const note =
    carrier === undefined
      ? html`deaths of the window`
      : html`shares the cause: deaths with <span class="attr">${carrier.key}=${carrier.value}</span>`;
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
  return renderSection("Organizations", html`${table}${more}`, { beside, id: "organizations" });
}

function isOf({ member }: MemberFacts, filter: Filter): boolean {
  const { alert, end } = member;
  if (filter === "all") return true;
  if (filter === "going") return end === null && alert.found?.excess?.state === "ongoing";
  return alert.severity === filter;
}

function oddGroup(odd: readonly MemberFacts[]): Html {
  return renderGroup(
    odd,
    html`<b>${odd.length} ${odd.length === 1 ? "does" : "do"} not share the cause</b>: look at
      ${odd.length === 1 ? "it" : "them"} apart`,
  );
}

function shareGroup(sharing: readonly MemberFacts[]): Html {
  return renderGroup(sharing, html`<b>${formatCount(sharing.length)} share it</b>, the worst first`);
}

function renderGroup(some: readonly MemberFacts[], words: Html): Html {
  const sum = (value: (one: MemberFacts) => number | null): number =>
    some.reduce((total, one) => total + (value(one) ?? 0), 0);
  const shut = some.filter(({ heldSinceMs }) => heldSinceMs !== null).length;
  return html`<tr class="group">
    <td class="check">
      <input type="checkbox" data-group aria-label="Tick these ${some.length}" hidden />
    </td>
    <td class="sev" colspan="2">${words}</td>
    <td class="began"></td>
    <td class="n count"><b>${formatCount(sum(({ count }) => count))}</b></td>
    <td class="n expected">${formatExpected(sum(({ expected }) => expected))}</td>
    <td class="n excess">${formatCount(excessOf(some))}</td>
    <td class="n ratio"></td>
    <td class="n share"></td>
    <td class="n alive">${formatCount(sum(({ revived }) => revived))}</td>
    <td class="gate">${shut === 0 ? "allowed" : `${formatCount(shut)} on hold`}</td>
  </tr>`;
}

function renderMember(one: MemberFacts, nowMs: number): Html {
  const { member, slug, beganMs, count, expected, excess, share, revived, heldSinceMs } = one;
  const { alert, end } = member;
  const isOver = end !== null;
  const path = `/o/${encodeURIComponent(slug.toWellFormed())}`;
  return html`<tr id="member-${alert.id}" ${isOver ? nothing : html` class="bad"`}>
    <td class="check"><input type="checkbox" name="slug" value="${slug}" aria-label="Tick ${slug}" /></td>
    <td class="sev">${severityWord(alert.severity, isOver)}</td>
    <th scope="row"><a href="${path}">${slug}</a></th>
    <td class="n began second">${renderTime(beganMs, nowMs)}</td>
    <td class="n count"><b>${formatCount(count)}</b></td>
    <td class="n expected second">${formatExpected(expected)}</td>
    <td class="n excess">${count === null ? "–" : formatCount(excess)}</td>
    <td class="n ratio ${isOver ? "" : alert.severity}">${formatRatioCell(one)}</td>
    <td class="n share">${share === null ? "–" : formatPercent(share)}</td>
    <td class="n alive second">${formatCount(revived)}</td>
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
