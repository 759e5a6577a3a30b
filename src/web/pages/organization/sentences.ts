import { countingOf, deathWords } from "../../../contract/death-counts.ts";
import { worstSeverity, type Severity } from "../../../contract/severity.ts";
import { headline } from "../../../words/headline.ts";
import { countOf } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { isWithoutEvents } from "../../read/running.ts";
import { beganMsOf } from "../incidents/member-facts.ts";

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
