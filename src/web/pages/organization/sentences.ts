import { countingOf, deathWords } from "../../../contract/death-counts.ts";
import { worstSeverity, type Severity } from "../../../contract/severity.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OpenPart, OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { headline } from "../../../words/headline.ts";
import { countOf } from "../../../words/numbers.ts";
import { errorText } from "./healthchecks.ts";

/** Returns the headline of an organization: how it stands, then why; whole sentences. */
export function organizationSentences(facts: OrganizationFacts): readonly Html[] {
  const { slug, nowMs, checks, open, silencedUntilMs } = facts;
  const [first] = checks;
  if (first === undefined || first.severity === null)
    return [
      first === undefined || first.state.isRunning
        ? html`${slug} is checked for the first time just now.`
        : html`${slug} waits for its first run, due at ${renderTime(first.state.nextDueAtMs, nowMs)}.`,
    ];
  const thin = facts.isThin ? [html`What is usual cannot be said: too little of its past is known.`] : [];
  const silenced = silencedUntilMs === null ? [] : [html`It is silenced until ${renderTime(silencedUntilMs, nowMs)}.`];
  if (first.severity === "unknown") return [...unknownSentences(facts, first), ...silenced];
  if (open !== null && open.own.incident.family === "deaths") {
    const began = html` at ${renderTime(Math.min(...open.own.members.map(beganMsOf)), nowMs)}`;
    const what = headline(open.own.headline, nowMs)[0];
    return [html`${what}`, ...thin, incidentSentence(open, began), ...silenced];
  }
  const bad = checks.find(({ severity }) => severity !== null && severity !== "ok");
  const how = bad === undefined ? "is ok" : bad === first ? "spikes" : "does not spike";
  const { counts, result } = first;
  const deaths = counts === null ? null : deathWords({ ...counts, counting: countingOf(result) }, facts.windowHours);
  return [
    html`${slug} ${how}${deaths === null ? "" : `: ${deaths}`}.`,
    ...(deaths === null ? [] : thin),
    ...(bad === undefined ? [] : bad === first ? pendingSentence(facts) : [otherSentence(facts, bad)]),
    ...gateSentence(facts),
    ...silenced,
  ];
}

/** The worst that its healthchecks found; null: none has run. */
export function worstOf({ checks }: Pick<OrganizationFacts, "checks">): Severity | null {
  const found = checks.flatMap(({ severity }) => severity ?? []);
  return found.length === 0 ? null : worstSeverity(found);
}

/** About a check that gave no result, or none for too long. */
function unknownSentences({ slug, nowMs, open }: OrganizationFacts, check: OrganizationCheck): Html[] {
  const { last, nextDueAtMs } = check.state;
  const { lastReport = null, lastResultReport = null } = last ?? {};
  const since = renderTime(check.sinceMs ?? nowMs, nowMs);
  return [
    lastReport?.kind === "error"
      ? html`${slug} could not be checked since ${since}: ${errorText(lastReport.error, nowMs)}.`
      : html`${slug} was last checked at ${since}; the run of ${renderTime(nextDueAtMs, nowMs)} is missing.`,
    lastResultReport === null
      ? html`It has never had a result.`
      : html`The last result, ${lastResultReport.severity}, is from ${renderTime(lastResultReport.finishedAtMs, nowMs)}.`,
    ...(open === null ? [] : [incidentSentence(open, nothing)]),
  ];
}

/** "It began with 119 others at 21:37.", or with which incident. */
function incidentSentence({ own, organizations }: OpenPart, when: Html): Html {
  const { number } = own.incident;
  const words = organizations === 1 ? `incident ${number}` : countOf(organizations - 1, "other");
  return html`It began with <a href="/incidents/${number}">${words}</a>${when}.`;
}

function pendingSentence({ nowMs, pending }: OrganizationFacts): Html[] {
  if (pending === null) return [];
  return [
    pending.firesAtMs === null
      ? html`Its alert is pending.`
      : html`Its alert is pending, and fires at ${renderTime(pending.firesAtMs, nowMs)} if it goes on.`,
  ];
}

/** About another check than that of its deaths. */
function otherSentence({ nowMs, open }: OrganizationFacts, { state, severity, sinceMs }: OrganizationCheck): Html {
  const verb = severity === "fail" ? "fails" : severity === "warn" ? "warns" : "could not be run";
  const since = sinceMs === null ? nothing : html` since ${renderTime(sinceMs, nowMs)}`;
  const which = open === null ? nothing : html`: ${incidentLink(open.own.incident.number)}`;
  return html`The check ${state.check} ${verb}${since}${which}.`;
}

function gateSentence({ gate, nowMs }: OrganizationFacts): Html[] {
  if (gate === null) return [];
  const { incident, judgement } = gate;
  const which = incident === undefined ? html`its alert` : incidentLink(incident.number);
  const why =
    judgement === undefined ? html`nobody has judged ${which}` : html`${which} was judged, and nobody has released it`;
  return [html`Its takedowns are on hold since ${renderTime(gate.failure.atMs, nowMs)}: ${why}.`];
}

function incidentLink(number: number): Html {
  return html`<a href="/incidents/${number}">incident ${number}</a>`;
}
