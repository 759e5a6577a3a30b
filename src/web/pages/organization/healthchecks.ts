import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount, formatNumber } from "../../../base/numbers.ts";
import { checkKind } from "../../../checks/checks.ts";
import { countingOf, deathWords } from "../../../contract/death-counts.ts";
import type { HealthcheckMap } from "../../../contract/healthcheck.ts";
import { isOwnCheck, type CheckErrorReason } from "../../../contract/report.ts";
import { durationText } from "../../../words/numbers.ts";
import { withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { severityWord } from "../marks.ts";
import { renderSection, renderTable, type Column } from "../table.ts";

/** Renders the healthchecks of an organization with their results. */
export function renderHealthchecks(facts: OrganizationFacts): Html {
  const { checks, nowMs } = facts;
  const ok = checks.filter(({ severity }) => severity === "ok").length;
  const columns: readonly Column<OrganizationCheck>[] = [
    ["Severity", "sev", ({ severity }) => severityWord(severity ?? "unknown")],
    ["Healthcheck", "name", ({ result, state }) => result?.title ?? state.check],
    ["About", "second wide", ({ result }) => result?.category ?? ""],
    ["Says", "says", (check) => renderLines(linesOf(check, facts))],
    [
      "Last run",
      "n second named",
      ({ state }) => (state.last ? renderTime(state.last.lastRunAtMs, nowMs) : "not run yet"),
    ],
    ["Next run", "n second wide", (check) => renderNext(check, nowMs)],
  ];
  const beside = html`<p>${ok} of ${checks.length} ok</p>`;
  return renderSection("Healthchecks", renderTable(columns, checks), { beside, id: "healthchecks" });
}

function renderLines([first = "", ...more]: readonly string[]): Html {
  return html`${first}${more.map((line) => html`<span class="under">${line}</span>`)}`;
}

function renderNext({ state, isLate }: OrganizationCheck, nowMs: number): Html {
  if (state.isRunning) return html`running`;
  return html`${renderTime(state.nextDueAtMs, nowMs)}${isLate ? html` <span class="nowrap">late</span>` : nothing}`;
}

/** Returns the error, or the findings and the suggested action, or the observed values. */
function linesOf(check: OrganizationCheck, { nowMs, windowHours }: OrganizationFacts): readonly string[] {
  const { state, counts, result, isStale } = check;
  const { lastReport = null, lastResultReport = null } = state.last ?? {};
  if (lastReport?.kind === "error") {
    const last = lastResultReport === null ? "" : `; the last result was ${lastResultReport.severity}`;
    return [`${errorText(lastReport.error, nowMs)}${last}`];
  }
  if (isStale) return ["its last result is too old to hold"];
  if (result === null) return ["waits for its first run"];
  const { findings, findingsOmitted = 0, suggestedAction, observed } = result;
  const deaths = counts === null ? null : deathWords({ ...counts, counting: countingOf(result) }, windowHours);
  const values = withPageTimes(valuesOf(observed), nowMs);
  if (findings.length === 0) return [deaths ?? checkKind(state.check).summaryOf?.({ result }, durationText) ?? values];
  return [
    ...findings.map(({ message }) => withPageTimes(breakAddresses(message), nowMs)),
    ...(findingsOmitted > 0 ? [`and ${formatCount(findingsOmitted)} more`] : []),
    // A healthcheck of the platform is shown completely (CONTRACT 17).
    ...(isOwnCheck(state.check) ? [] : [values]),
    ...(suggestedAction === null ? [] : [`Do this first: ${breakAddresses(suggestedAction)}`]),
  ];
}

/** Returns the error of a run for the page. */
export function errorText(
  { message, reason }: { readonly message: string; readonly reason: CheckErrorReason },
  nowMs: number,
): string {
  return `${withPageTimes(breakAddresses(message), nowMs)} (${reason})`;
}

// One line of the table has room for this many.
const shownValues = 6;

/** Returns the observed values under their own names. */
function valuesOf(observed: HealthcheckMap): string {
  const entries = Object.entries(observed);
  const shown = entries
    .slice(0, shownValues)
    .map(([name, value]) => `${name} ${typeof value === "number" ? formatNumber(value) : String(value ?? "none")}`);
  const more = entries.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${formatCount(more)} more`])].join(", ");
}
