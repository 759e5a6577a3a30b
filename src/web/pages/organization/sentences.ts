import { formatExpected } from "../../../base/numbers.ts";
import { hourMs, minuteMs } from "../../../base/time.ts";
import { countingOf, countText, deathWords } from "../../../contract/death-counts.ts";
import { worstSeverity, type Severity } from "../../../contract/severity.ts";
import { withPageTimes } from "../../parts/figures.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { OpenPart, OrganizationCheck, OrganizationFacts } from "../../read/organization.ts";
import { beganMsOf } from "../incidents/member-facts.ts";
import { headline } from "../../../words/headline.ts";
import { countOf, durationText } from "../../../words/numbers.ts";

/** Returns the headline of an organization: how it stands, then why, or since when; whole sentences. */
export function organizationSentences(facts: OrganizationFacts): readonly Html[] {
  const [first] = facts.checks;
  if (first === undefined) return [html`Nothing of ${facts.slug} is checked.`];
  if (first.severity === null) return [waitingSentence(facts, first)];
  if (first.severity === "unknown") return [...unknownSentences(facts, first), ...silencedSentence(facts)];
  const { open, pending } = facts;
  if (open !== null && open.own.incident.family === "deaths")
    return [...spikingSentences(facts, open), ...silencedSentence(facts)];
  const deaths = deathsText(facts, first);
  if (pending !== null && first.severity !== "ok")
    return [html`${facts.slug} spikes${deaths}.`, pendingSentence(facts, pending), ...silencedSentence(facts)];
  if (first.severity !== "ok") return [html`${facts.slug} spikes${deaths}.`, ...silencedSentence(facts)];
  const bad = facts.checks.find(({ severity }) => severity !== null && severity !== "ok");
  if (bad !== undefined)
    return [html`${facts.slug} does not spike${deaths}.`, badSentence(facts, bad), ...silencedSentence(facts)];
  const shut = gateSentence(facts);
  const more = [...(shut === null ? [] : [shut]), ...silencedSentence(facts)];
  return [html`${facts.slug} is ok${deaths}.`, ...(more.length > 0 ? more : wellSentence(facts))];
}

/** The worst that its healthchecks found; null: none has run. */
export function worstOf({ checks }: Pick<OrganizationFacts, "checks">): Severity | null {
  const found = checks.flatMap(({ severity }) => severity ?? []);
  return found.length === 0 ? null : worstSeverity(found);
}

/** Returns the title of the document: "fail: globex". */
export function organizationTitle(facts: OrganizationFacts): string {
  return `${worstOf(facts) ?? "waiting"}: ${facts.slug}`;
}

function waitingSentence({ slug, nowMs }: OrganizationFacts, { isRunning, nextRunMs }: OrganizationCheck): Html {
  if (isRunning) return html`${slug} is checked for the first time just now.`;
  return html`${slug} waits for its first run, due at ${renderTime(nextRunMs, nowMs)}.`;
}

/** Returns the sentence about a check that gave no result, or none for too long. */
function unknownSentences({ slug, nowMs, open }: OrganizationFacts, check: OrganizationCheck): Html[] {
  const { error, sinceMs, lastGood, nextRunMs } = check;
  const since = renderTime(sinceMs ?? nowMs, nowMs);
  const first =
    error === null
      ? html`${slug} was last checked at ${since}; the run of ${renderTime(nextRunMs, nowMs)} is missing.`
      : html`${slug} could not be checked since ${since}: ${withPageTimes(error.message, nowMs)} (${error.reason}).`;
  const last =
    lastGood === null
      ? html`It has never had a result.`
      : html`The last result, ${lastGood.severity}, is from ${renderTime(lastGood.atMs, nowMs)}.`;
  if (open === null) return [first, last];
  const others = open.organizations - 1;
  const link = incidentLink(open, others === 0 ? null : countOf(others, "other"));
  return [first, others === 0 ? html`${last} That is ${link}.` : html`${last} It began with ${link}.`];
}

function spikingSentences(facts: OrganizationFacts, open: OpenPart): Html[] {
  const { slug, nowMs, isThin } = facts;
  const began = renderTime(Math.min(...open.own.members.map(beganMsOf)), nowMs);
  const others = open.organizations - 1;
  const since =
    others === 0
      ? html`It began at ${began}: ${incidentLink(open, null)}.`
      : html`It began with ${incidentLink(open, countOf(others, "other"))} at ${began}.`;
  const deaths = open.own.members.flatMap(({ alert }) => alert.found?.deaths ?? [])[0];
  if (!isThin || deaths === undefined)
    return [html`${headline(open.own.headline, { nowMs, withPeople: false })[0]}`, since];
  const first = html`${slug}:
  ${deathWords({ ...deaths, currentCount: deaths.count, expectedCount: null }, facts.windowHours) ?? ""}.`;
  return [first, html`${thinSentence(facts)}`, since];
}

/** "Only 1 h before them is known, so what is usual cannot be said." */
export function thinSentence({ nowMs, windowHours, firstEventMs }: OrganizationFacts): string {
  const knownMs = nowMs - windowHours * hourMs - (firstEventMs ?? nowMs);
  const known = knownMs < minuteMs ? "Nothing before them is" : `Only ${durationText(knownMs)} before them is`;
  return `${known} known, so what is usual cannot be said.`;
}

function pendingSentence({ nowMs }: OrganizationFacts, { firesAtMs }: NonNullable<OrganizationFacts["pending"]>): Html {
  return firesAtMs === null
    ? html`Its alert is pending: too little of its past is known to say more.`
    : html`Its alert is pending, and fires at ${renderTime(firesAtMs, nowMs)} if it goes on.`;
}

function badSentence({ nowMs, open }: OrganizationFacts, { check, severity, sinceMs }: OrganizationCheck): Html {
  const verb = severity === "fail" ? "fails" : severity === "warn" ? "warns" : "could not be run";
  const since = sinceMs === null ? nothing : html` since ${renderTime(sinceMs, nowMs)}`;
  return html`The check ${check} ${verb}${since}${open === null ? nothing : html`: ${incidentLink(open, null)}`}.`;
}

function gateSentence({ gate, nowMs }: OrganizationFacts): Html | null {
  if (gate === null) return null;
  const { sinceMs, incident, judgement } = gate;
  const which = incident === null ? html`its alert` : html`<a href="/incidents/${incident}">incident ${incident}</a>`;
  const why =
    judgement === null ? html`nobody has judged ${which}` : html`${which} was judged, and nobody has released it`;
  return html`Its takedowns are on hold since ${renderTime(sinceMs, nowMs)}: ${why}.`;
}

function silencedSentence({ silencedUntilMs, nowMs }: OrganizationFacts): Html[] {
  return silencedUntilMs === null ? [] : [html`It is silenced until ${renderTime(silencedUntilMs, nowMs)}.`];
}

/** For how long all of its healthchecks have been ok. */
function wellSentence({ checks, nowMs }: OrganizationFacts): Html[] {
  const since = checks.flatMap(({ severity, sinceMs }) => (severity === null ? [] : (sinceMs ?? nowMs)));
  const lastedMs = nowMs - Math.max(...since);
  return lastedMs < minuteMs ? [] : [html`Nothing has been wrong for ${durationText(lastedMs)}.`];
}

function incidentLink({ own }: OpenPart, words: string | null): Html {
  return html`<a href="/incidents/${own.incident.number}">${words ?? `incident ${own.incident.number}`}</a>`;
}

/** ": 61 deaths in 24 h, 58.3 expected", as much of it as is known. */
function deathsText(
  { windowHours, isThin }: OrganizationFacts,
  { counts, severity, result }: OrganizationCheck,
): string {
  if (counts?.currentCount === null || counts === null) return "";
  const { currentCount, expectedCount } = counts;
  const expected = isThin ? null : expectedCount;
  if (severity !== "ok")
    return `: ${deathWords({ currentCount, expectedCount: expected, counting: countingOf(result) }, windowHours) ?? ""}`;
  const usual =
    expected === null ? "" : `, ${expected === 0 ? "none expected" : `${formatExpected(expected)} expected`}`;
  return `: ${countText(currentCount, result)} in ${windowHours} h${usual}`;
}
