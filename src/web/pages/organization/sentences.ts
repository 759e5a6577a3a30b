import { hourMs, minuteMs } from "../../../base/time.ts";
import { countingOf, deathWords } from "../../../contract/death-counts.ts";
import { worstSeverity, type Severity } from "../../../contract/severity.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OpenPart, OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { headline } from "../../../words/headline.ts";
import { countOf, durationText } from "../../../words/numbers.ts";
import { errorText } from "./healthchecks.ts";

/** Returns the headline of an organization: how it stands, then why, or since when; whole sentences. */
export function organizationSentences(facts: OrganizationFacts): readonly Html[] {
  const { slug, nowMs, checks, open, silencedUntilMs } = facts;
  const [first] = checks;
  if (first === undefined || first.severity === null)
    return [
      first === undefined || first.state.isRunning
        ? html`${slug} is checked for the first time just now.`
        : html`${slug} waits for its first run, due at ${renderTime(first.state.nextDueAtMs, nowMs)}.`,
    ];
  const silenced = silencedUntilMs === null ? [] : [html`It is silenced until ${renderTime(silencedUntilMs, nowMs)}.`];
  if (first.severity === "unknown") return [...unknownSentences(facts, first), ...silenced];
  if (open !== null && open.own.incident.family === "deaths") return [...spikingSentences(facts, open), ...silenced];
  const bad = checks.find(({ severity }) => severity !== null && severity !== "ok");
  const how = bad === undefined ? "is ok" : bad === first ? "spikes" : "does not spike";
  const more = [...pendingSentence(facts, bad), ...badSentence(facts, bad), ...gateSentence(facts), ...silenced];
  const deaths = deathsOf(facts, first);
  return [
    html`${slug} ${how}${deaths === null ? "" : `: ${deaths}`}.`,
    ...(bad === undefined && more.length === 0 ? wellSentence(facts) : more),
  ];
}

/** The worst that its healthchecks found; null: none has run. */
export function worstOf({ checks }: Pick<OrganizationFacts, "checks">): Severity | null {
  const found = checks.flatMap(({ severity }) => severity ?? []);
  return found.length === 0 ? null : worstSeverity(found);
}

/** "61 deaths in 24 h, 58.3 expected (1.0×)", as much of it as is known. */
function deathsOf({ windowHours, isThin }: OrganizationFacts, { counts, result }: OrganizationCheck): string | null {
  if (counts === null) return null;
  const known = isThin ? { currentCount: counts.currentCount, expectedCount: null } : counts;
  return deathWords({ ...known, counting: countingOf(result) }, windowHours);
}

/** About a check that gave no result, or none for too long. */
function unknownSentences({ slug, nowMs, open }: OrganizationFacts, check: OrganizationCheck): Html[] {
  const { lastReport, lastResultReport, nextDueAtMs } = check.state;
  const since = renderTime(check.sinceMs ?? nowMs, nowMs);
  const first =
    lastReport?.kind === "error"
      ? html`${slug} could not be checked since ${since}: ${errorText(lastReport.error, nowMs)}.`
      : html`${slug} was last checked at ${since}; the run of ${renderTime(nextDueAtMs, nowMs)} is missing.`;
  const last =
    lastResultReport === null
      ? html`It has never had a result.`
      : html`The last result, ${lastResultReport.severity}, is from ${renderTime(lastResultReport.finishedAtMs, nowMs)}.`;
  return [first, open === null ? last : html`${last} ${incidentSentence(open, nothing)}`];
}

function spikingSentences(facts: OrganizationFacts, open: OpenPart): Html[] {
  const { slug, nowMs, isThin, windowHours, firstEventMs } = facts;
  const began = incidentSentence(open, html` at ${renderTime(Math.min(...open.own.members.map(beganMsOf)), nowMs)}`);
  const deaths = open.own.members.flatMap((alert) => alert.found?.deaths ?? [])[0];
  if (!isThin || deaths === undefined)
    return [html`${headline(open.own.headline, { nowMs, withPeople: false })[0]}`, began];
  const knownMs = nowMs - windowHours * hourMs - (firstEventMs ?? nowMs);
  const known = knownMs < minuteMs ? "Nothing before them is" : `Only ${durationText(knownMs)} before them is`;
  return [
    html`${slug}: ${deathWords({ currentCount: deaths.count, expectedCount: null }, windowHours) ?? ""}.`,
    html`${known} known, so what is usual cannot be said.`,
    began,
  ];
}

/** "It began with 119 others at 21:37.", or with which incident. */
function incidentSentence({ own, organizations }: OpenPart, when: Html): Html {
  const { number } = own.incident;
  const words = organizations === 1 ? `incident ${number}` : countOf(organizations - 1, "other");
  return html`It began with <a href="/incidents/${number}">${words}</a>${when}.`;
}

function pendingSentence({ nowMs, pending }: OrganizationFacts, bad: OrganizationCheck | undefined): Html[] {
  if (pending === null || bad?.state.check !== "dead-asset-spike") return [];
  return [
    pending.firesAtMs === null
      ? html`Its alert is pending: too little of its past is known to say more.`
      : html`Its alert is pending, and fires at ${renderTime(pending.firesAtMs, nowMs)} if it goes on.`,
  ];
}

/** About another check than that of its deaths. */
function badSentence({ nowMs, open }: OrganizationFacts, bad: OrganizationCheck | undefined): Html[] {
  if (bad === undefined || bad.state.check === "dead-asset-spike") return [];
  const { state, severity, sinceMs } = bad;
  const verb = severity === "fail" ? "fails" : severity === "warn" ? "warns" : "could not be run";
  const since = sinceMs === null ? nothing : html` since ${renderTime(sinceMs, nowMs)}`;
  const which = open === null ? nothing : html`: ${incidentLink(open.own.incident.number)}`;
  return [html`The check ${state.check} ${verb}${since}${which}.`];
}

function gateSentence({ gate, nowMs }: OrganizationFacts): Html[] {
  if (gate === null) return [];
  const { incident, judgement } = gate;
  const which = incident === undefined ? html`its alert` : incidentLink(incident.number);
  const why =
    judgement === undefined ? html`nobody has judged ${which}` : html`${which} was judged, and nobody has released it`;
  return [html`Its takedowns are on hold since ${renderTime(gate.failure.atMs, nowMs)}: ${why}.`];
}

/** For how long all of its healthchecks have been ok. */
function wellSentence({ checks, nowMs }: OrganizationFacts): Html[] {
  const since = checks.flatMap(({ severity, sinceMs }) => (severity === null ? [] : (sinceMs ?? nowMs)));
  const lastedMs = nowMs - Math.max(...since);
  return lastedMs < minuteMs ? [] : [html`Nothing has been wrong for ${durationText(lastedMs)}.`];
}

function incidentLink(number: number): Html {
  return html`<a href="/incidents/${number}">incident ${number}</a>`;
}
