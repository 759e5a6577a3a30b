import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount, formatExpected, formatNumber } from "../../../base/numbers.ts";
import { minuteMs } from "../../../base/time.ts";
import type { HealthcheckMap } from "../../../contract/healthcheck.ts";
import { isOwnCheck, type CheckErrorReason } from "../../../contract/report.ts";
import { countText } from "../../../contract/death-counts.ts";
import { withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { severityWord } from "../marks.ts";
import { renderSection, renderTable, type Column } from "../table.ts";
import { countOf, durationText, nbsp } from "../../../words/numbers.ts";

const columns: readonly Column[] = [
  { name: "Severity", kind: "sev" },
  { name: "Healthcheck" },
  { name: "About", kind: "wide" },
  { name: "Says", kind: "says" },
  { name: "Last run", kind: "n" },
  { name: "Next run", kind: "n wide" },
];

/** Renders everything that is checked of an organization: what each saw, and what is wrong with it. */
export function renderHealthchecks(facts: OrganizationFacts): Html {
  const { checks } = facts;
  const ok = checks.filter(({ severity }) => severity === "ok").length;
  const beside = html`<p>
    ${ok === checks.length ? `${checks.length === 1 ? "one" : `all ${checks.length}`} ok` : `${ok} of ${checks.length} ok`}
  </p>`;
  const rows = checks.map((check) => renderCheck(check, facts));
  return renderSection("Healthchecks", renderTable("", columns, rows), { beside, id: "healthchecks" });
}

function renderCheck(check: OrganizationCheck, facts: OrganizationFacts): Html {
  const { nowMs } = facts;
  const { severity, result, isLate } = check;
  const { lastRunAtMs, nextDueAtMs, isRunning } = check.state;
  const late = isLate ? html` <span class="nowrap">late</span>` : nothing;
  return html`<tr>
    <td class="sev">${severityWord(severity ?? "unknown")}</td>
    <th scope="row">${result?.title ?? check.state.check}</th>
    <td class="second wide">${result?.category ?? nothing}</td>
    <td class="says">
      ${saysOf(check, facts)}${messagesOf(check, facts).map((one) => html`<span class="under">${one}</span>`)}
    </td>
    <td class="n second" data-name="last">${lastRunAtMs === null ? "not run yet" : renderTime(lastRunAtMs, nowMs)}</td>
    <td class="n second wide" data-name="next">
      ${isRunning ? "running" : html`${renderTime(nextDueAtMs, nowMs)}${late}`}
    </td>
  </tr>`;
}

/** What it saw, in short; of one without a result, why. */
function saysOf(check: OrganizationCheck, { nowMs, windowHours, isThin }: OrganizationFacts): Html {
  const { state, counts, result, isStale } = check;
  const { lastReport, lastResultReport } = state;
  if (lastReport?.kind === "error") {
    const last = lastResultReport === null ? "" : `; the last result was ${lastResultReport.severity}`;
    return html`${errorText(lastReport.error, nowMs)}${last}`;
  }
  if (isStale) return html`its last result is too old to hold`;
  if (result === null) return html`waits for its first run`;
  if (state.check === "dead-asset-spike") {
    if (counts?.currentCount === null || counts === null) return nothing;
    const expected =
      isThin || counts.expectedCount === null ? "" : `, ${formatExpected(counts.expectedCount)} expected`;
    return html`${countText(counts.currentCount, result)} in ${windowHours}${nbsp}h${expected}`;
  }
  return isOwnCheck(state.check) ? sawOf(result.observed) : html`${valuesOf(result.observed)}`;
}

/** Returns why a run gave no result, as the page writes it. */
export function errorText(
  { message, reason }: { readonly message: string; readonly reason: CheckErrorReason },
  nowMs: number,
): string {
  return `${withPageTimes(breakAddresses(message), nowMs)} (${reason})`;
}

// As many as stand in a line of the table.
const shownValues = 6;

/** The values of a healthcheck that nothing is known of, under its own names. */
function valuesOf(observed: HealthcheckMap): string {
  const entries = Object.entries(observed);
  const shown = entries
    .slice(0, shownValues)
    .map(([name, value]) => `${name} ${typeof value === "number" ? formatNumber(value) : String(value ?? "none")}`);
  const more = entries.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${formatCount(more)} more`])].join(", ");
}

function sawOf(observed: Readonly<Record<string, unknown>>): Html {
  const { sentinels, dead, checkedAssets, usualCheckedAssets, queued, oldestAgeSeconds } = observed;
  if (typeof sentinels === "number" && typeof dead === "number")
    return html`${formatCount(dead)} of ${formatCount(sentinels)} called dead`;
  if (typeof checkedAssets === "number") {
    const usual = typeof usualCheckedAssets === "number" ? `, usually ${formatCount(usualCheckedAssets)}` : "";
    return html`${formatCount(checkedAssets)} assets checked in 24${nbsp}h${usual}`;
  }
  const { longDeaths, longRevived } = observed;
  if (typeof longDeaths === "number" && typeof longRevived === "number")
    return html`${formatCount(longRevived)} of ${formatCount(longDeaths)} dead were found alive`;
  if (typeof queued !== "number") return nothing;
  const oldest =
    typeof oldestAgeSeconds === "number" && queued > 0
      ? `, the oldest for ${durationText(Math.max(minuteMs, oldestAgeSeconds * 1_000))}`
      : "";
  return html`${countOf(queued, "report")} ${queued === 1 ? "waits" : "wait"}${oldest}`;
}

/** Findings, and what to do first; not the finding that repeats the counts, which stand above. */
function messagesOf(
  { result, counts }: OrganizationCheck,
  { nowMs, windowHours, isThin }: OrganizationFacts,
): readonly string[] {
  if (result === null) return [];
  const { findings, suggestedAction, findingsOmitted = 0 } = result;
  const count = counts?.currentCount ?? null;
  const said = count === null ? null : `${countText(count, result)} in ${windowHours} h`;
  return [
    ...findings
      .filter(({ message }) => said === null || !message.startsWith(`${said},`))
      // Where little is known, nothing is said of what is usual.
      .filter(({ message }) => !isThin || !message.includes(" expected"))
      .map(({ message }) => withPageTimes(breakAddresses(message), nowMs)),
    ...(findingsOmitted > 0 ? [`and ${formatCount(findingsOmitted)} more`] : []),
    ...(suggestedAction === null ? [] : [`Do this first: ${breakAddresses(suggestedAction)}`]),
  ];
}
