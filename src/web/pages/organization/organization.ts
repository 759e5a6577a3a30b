import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount, formatNumber } from "../../../base/numbers.ts";
import { checkKind } from "../../../checks/checks.ts";
import { countingOf, deathWords } from "../../../contract/death-counts.ts";
import type { HealthcheckMap } from "../../../contract/healthcheck.ts";
import { isOwnCheck, type CheckErrorReason } from "../../../contract/report.ts";
import { worstSeverity, type Severity } from "../../../contract/severity.ts";
import { headline } from "../../../words/headline.ts";
import { countOf, durationText, timeText } from "../../../words/numbers.ts";
import { html, nothing, renderTime, severityWord, type Html } from "../html.ts";
import type { OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { isWithoutEvents } from "../../read/running.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { renderSection, renderTable, type Column } from "../table.ts";

/** Returns the headline of an organization: its state, then the reasons. */
export function organizationSentences(facts: OrganizationFacts): readonly Html[] {
  const { nowMs, checks, open, silencedUntilMs, isThin, isPending } = facts;
  const [first, ...others] = checks;
  const other = others.find(({ severity, state }) => severity !== null && severity !== "ok" && !isWithoutEvents(state));
  const isKnown = first?.counts !== undefined && first.counts !== null;
  const sentences = [
    stateSentence(facts, first),
    isThin && isKnown ? html`What is usual cannot be said: too little of its past is known.` : null,
    other === undefined ? null : otherSentence(other, nowMs),
    open === null ? null : incidentSentence(open, nowMs),
    isPending ? html`Its alert is pending.` : null,
    gateSentence(facts),
    silencedUntilMs === null ? null : html`It is silenced until ${renderTime(silencedUntilMs, nowMs)}.`,
  ];
  return sentences.filter((one) => one !== null);
}

/** Returns the worst severity of its healthchecks; null: none has run. */
export function worstOf({ checks }: Pick<OrganizationFacts, "checks">): Severity | null {
  const found = checks.flatMap(({ severity }) => severity ?? []);
  return found.length === 0 ? null : worstSeverity(found);
}

/** Returns the sentence about its first check, the spike check. */
function stateSentence({ slug, nowMs, open, checks, windowHours }: OrganizationFacts, first?: OrganizationCheck): Html {
  if (first === undefined || first.severity === null)
    return first === undefined || first.state.isRunning
      ? html`${slug} is checked for the first time just now.`
      : html`${slug} waits for its first run, due at ${renderTime(first.state.nextDueAtMs, nowMs)}.`;
  const { severity, sinceMs, state, counts, result } = first;
  if (severity === "unknown") {
    if (isWithoutEvents(state)) return html`No event of ${slug} has come yet.`;
    const since = renderTime(sinceMs ?? nowMs, nowMs);
    const report = state.last?.lastReport;
    return report?.kind === "error"
      ? html`${slug} could not be checked since ${since}.`
      : html`${slug} was last checked at ${since}; the run of ${renderTime(state.nextDueAtMs, nowMs)} is missing.`;
  }
  if (open?.own.incident.family === "deaths") return html`${headline(open.own.headline, nowMs)[0]}`;
  const isOk = checks.every((one) => one.severity === null || one.severity === "ok");
  const how = isOk ? "is ok" : severity === "ok" ? "does not spike" : "spikes";
  const deaths = counts === null ? null : deathWords({ ...counts, counting: countingOf(result) }, windowHours);
  return html`${slug} ${how}${deaths === null ? "" : `: ${deaths}`}.`;
}

/** Returns a sentence such as "It began with 119 others at 21:37." */
function incidentSentence({ own, organizations }: NonNullable<OrganizationFacts["open"]>, nowMs: number): Html {
  const { number } = own.incident;
  const words = organizations === 1 ? `incident ${number}` : countOf(organizations - 1, "other");
  const began = renderTime(Math.min(...own.members.map(beganMsOf)), nowMs);
  return html`It began with <a href="/incidents/${number}">${words}</a> at ${began}.`;
}

function otherSentence({ state, severity, sinceMs }: OrganizationCheck, nowMs: number): Html {
  const verb = severity === "fail" ? "fails" : severity === "warn" ? "warns" : "could not be run";
  return html`The check ${state.check}
  ${verb}${sinceMs === null ? nothing : html` since ${renderTime(sinceMs, nowMs)}`}.`;
}

/** Says what holds its takedowns besides the open incident, which says it itself. */
function gateSentence({ holding, open, nowMs }: OrganizationFacts): Html | null {
  const others = holding.filter(({ incident }) => open === null || incident?.number !== open.own.incident.number);
  const [oldest] = others;
  if (oldest === undefined) return null;
  const reasons = others.map(({ incident, judgement }, index) => {
    const which =
      incident === undefined
        ? html`its alert`
        : html`<a href="/incidents/${incident.number}">incident ${incident.number}</a>`;
    const why =
      judgement === undefined
        ? html`nobody has judged ${which}`
        : html`${which} was judged, and nobody has released it`;
    return html`${index === 0 ? "" : "; "}${why}`;
  });
  return html`Its takedowns are on hold since ${renderTime(oldest.failure.atMs, nowMs)}: ${reasons}.`;
}

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

/** Returns a text with its ISO 8601 instants in the page's format. */
function withPageTimes(text: string, nowMs: number): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g, (instant) =>
    timeText(Date.parse(instant), nowMs),
  );
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

/** Renders the facts of an organization, on its page and on an incident that has no other member. */
export function renderAbout(facts: OrganizationFacts): Html {
  const { slug, nowMs, firstEventMs, labels, discoveredBy, expecting, receivers } = facts;
  const names = Object.entries(labels).map(([name, value]) => `${name} ${value}`);
  const told = receivers?.map(({ name, afterMs }) => (afterMs === 0 ? name : `${name} after ${durationText(afterMs)}`));
  const first = firstEventMs !== null && `${timeText(firstEventMs, nowMs)}, ${durationText(nowMs - firstEventMs)} ago`;
  const all: readonly (readonly [name: string, text: Html | string | false])[] = [
    ["First event", first],
    ["Labels", names.join(" · ") || "none"],
    ["Discovered by", discoveredBy !== null && html`<code>${discoveredBy}</code>`],
    // A mean counts an incident's deaths as usual ones (docs/detection.md).
    [
      "Baseline",
      expecting !== null &&
        html`has the deaths of incident <a href="/incidents/${expecting.incident}">${expecting.incident}</a> until
          ${timeText(expecting.untilMs, nowMs)}; <code>baseline: median</code> forgets them`,
    ],
    ["Told", told !== undefined && (told.join(", ") || "nobody")],
  ];
  const list = all.map(([name, text]) =>
    text === false
      ? null
      : html`<dt>${name}</dt>
          <dd>${text}</dd>`,
  );
  return renderSection(`About ${slug}`, html`<dl class="facts">${list}</dl>`, { id: "about" });
}
