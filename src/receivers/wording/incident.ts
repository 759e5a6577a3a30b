import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../../alerting/notify/notification.ts";
import { minuteMs } from "../../base/time.ts";
import { formatCount, formatExpected, formatPercent } from "../../base/numbers.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import { ratioWords } from "../../contract/death-counts.ts";
import { judgementMeanings } from "../../contract/judgement.ts";
import { verdictWords } from "../../contract/fleet/verdict-words.ts";
import { sampleLines } from "./broken.ts";
import { beganText } from "./evidence.ts";
import type { Message } from "./message.ts";
import { isEscalation, noticeTitle } from "./notice.ts";
import { durationText, instantText, shareText } from "../../words/numbers.ts";
import { capitalized, plainText } from "./text.ts";

/**
 * Returns what is said of an incident of several organizations (CONTRACT 15, Parts): one sentence, the likely cause, the worst
 * five by excess, and how many more there are; with `isState` nothing of what is new. Numbers are totals; names are those of the
 * receiver's part only.
 */
export function incidentMessage(
  notification: Notification,
  incident: IncidentNotice,
  notices: readonly AlertNotice[],
  isState: boolean,
): Pick<Message, "title" | "intro" | "facts" | "sections" | "lines" | "sample"> {
  const { status, fleet, generatedAtMs } = notification;
  const isOver = status === "resolved";
  const title = isOver ? endedTitle(incident, notices) : firingTitle(notification, incident, notices);
  return {
    title,
    intro: isOver ? endedIntro(incident) : firingIntro(notification, incident, notices, isState),
    facts: [...incidentFacts(incident, fleet, generatedAtMs), ...(fleet === null ? [] : typeFacts(fleet))],
    sections: [],
    lines: isOver ? [] : worstLines(incident, notices),
    sample: isOver || fleet === null ? [] : sampleLines(fleet.sample, generatedAtMs),
  };
}

const organizations = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? "organization" : "organizations"}`;

function firingTitle({ fleet }: Notification, incident: IncidentNotice, notices: readonly AlertNotice[]): string {
  const { number, family } = incident;
  const { firing } = incident.own;
  if (notices.some(isEscalation)) return `Escalated to you: nobody has taken incident ${number}`;
  // No number counts silenced members (CONTRACT 15).
  if (firing === 0) return `Incident ${number}: all that fires is silenced`;
  if (fleet !== null) return verdictWords(fleet);
  const one = firing === 1;
  if (family === "unreachable")
    return `Incident ${number}: ${organizations(firing)} ${one ? "gives" : "give"} no result`;
  if (family === "deaths") return `Incident ${number}: ${organizations(firing)} ${one ? "spikes" : "spike"}`;
  return `Incident ${number}: ${family} of ${organizations(firing)}`;
}

function endedTitle(incident: IncidentNotice, notices: readonly AlertNotice[]): string {
  const { number, family, startedAtMs, lastedMs } = incident;
  const held = incident.saysGates ? incident.held : 0;
  const { organizations: all } = incident.own;
  const endsAtMs = Math.max(startedAtMs, ...notices.map((notice) => notice.endsAtMs ?? startedAtMs));
  const after = `after ${durationText(endsAtMs - startedAtMs)}`;
  if (family === "unreachable")
    return `Incident ${number}: ${organizations(all)} ${all === 1 ? "gives" : "give"} results again ${after}`;
  // A title names the gates that are still shut: they wait for a person.
  const gates = held === 0 ? "" : `${formatCount(held)} ${held === 1 ? "gate is" : "gates are"} still shut`;
  if (family !== "deaths" || all < 2)
    return `Incident ${number} is over ${after}: ${gates === "" ? organizations(all) : gates}`;
  const spiked = `${organizations(all)} spiked together for ${durationText(Math.max(minuteMs, lastedMs))}`;
  return gates === "" ? spiked : `${spiked}: ${gates}`;
}

/** Returns the second opinion as a sentence; empty where there is none. */
export function opinionSentence({ secondOpinion }: Pick<IncidentNotice, "secondOpinion">): string {
  if (secondOpinion === null) return "";
  const words = opinionWords(secondOpinion);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** The same as a fact. */
export function opinionFacts(incident: Pick<IncidentNotice, "secondOpinion">): Message["facts"] {
  const value = opinionSentence(incident).replace(/\.$/, "");
  return value === "" ? [] : [{ name: "Second opinion", value }];
}

const causeSentences = {
  checker: "Likely cause: the liveness checker.",
  assets: "Likely cause: the assets did die.",
  unclear: "No cause stands out.",
} as const;

function firingIntro(
  { fleet, generatedAtMs }: Notification,
  incident: IncidentNotice,
  notices: readonly AlertNotice[],
  isState: boolean,
): string {
  const { carriers, likelyCause, family, acknowledgedBy, startedAtMs } = incident;
  const { firing } = incident.own;
  const [carrier] = carriers;
  const shared =
    carrier === undefined
      ? ""
      : `${formatPercent(carrier.share)} of the excess has ${plainText(`${carrier.key}=${carrier.value}`)}, usually ${formatPercent(carrier.usualShare)}.`;
  const joined = isState ? 0 : notices.filter(({ event }) => event === "firing" || event === "unknown").length;
  const sentences = [
    notices.some(isEscalation) ? `${organizations(firing)} for ${durationText(generatedAtMs - startedAtMs)}.` : "",
    fleet !== null ? "By chance that does not happen." : "",
    ...(family === "deaths" ? [causeSentences[likelyCause], opinionSentence(incident)] : []),
    shared,
    family === "unreachable" ? unreachableIntro(incident, notices, generatedAtMs) : "",
    judgementSentence(incident),
    joined > 0 && joined < firing ? `${formatCount(joined)} new here.` : "",
    ...(isState ? [] : changeSentences(notices, generatedAtMs - startedAtMs)),
    acknowledgedBy === null ? "" : `Acknowledged by ${plainText(acknowledgedBy)}.`,
  ].filter((sentence) => sentence !== "");
  return sentences.length === 0
    ? `${organizations(firing)} since ${instantText(startedAtMs, generatedAtMs)}.`
    : sentences.join(" ");
}

/** What else has changed: the title says the same as before. */
function changeSentences(notices: readonly AlertNotice[], lastedMs: number): string[] {
  const worse = notices.filter(({ event }) => event === "escalated").length;
  const isReminder = notices.length > 0 && notices.every(({ reason }) => reason === "repeat_interval");
  return [
    ...(worse === 0 ? [] : [`${formatCount(worse)} got worse.`]),
    ...(isReminder ? [`It still fires, after ${durationText(lastedMs)}.`] : []),
  ];
}

/** Returns since when it is unreachable, the codes with their counts, and the last error (CONTRACT 15, Notifications). */
function unreachableIntro(
  { own: { firing, errors, lastError }, startedAtMs }: IncidentNotice,
  notices: readonly AlertNotice[],
  nowMs: number,
): string {
  const codes = errors.map(({ reason, organizations: count }) => `${reason} ${formatCount(count)}`);
  const what = codes.length === 0 ? "" : `: ${codes.join(", ")}`;
  const said = lastError === null ? "" : ` The last error: ${plainText(lastError)}.`;
  const they = firing === 1 ? "It has" : "They have";
  // If only other checks got no answer, deaths are still watched.
  const isWatched = notices.length > 0 && notices.every(({ check }) => check !== "dead-asset-spike");
  return `${they} ${isWatched ? "given no result" : "not been watched"} since ${instantText(startedAtMs, nowMs)}${what}.${said}`;
}

/** Says that the rates are back, never that something was mended: no person has looked (CONTRACT 7). */
function endedIntro(incident: IncidentNotice): string {
  const { family, held } = incident;
  const unjudged = incident.saysGates ? incident.unjudged : 0;
  if (family === "unreachable") return "Nothing is known of the time between.";
  const left = unjudged === 0 ? "" : ` Nobody has judged ${formatCount(unjudged)} of its alerts.`;
  const judge = `${left}${held === 0 || !incident.saysGates ? "" : " Judge it, so that its deaths are acted on or undone."}`;
  if (family !== "deaths") return `Nothing of it fires any more.${judge}`;
  const judged = unjudged === 0 ? judgementSentence(incident) : "";
  const over = judged === "" ? "That does not clear the deaths that were counted." : judged;
  return `All rates are back under their thresholds. ${over}${judge}`;
}

/** What people judged; empty where they did not, or not alike. */
function judgementSentence({ own: { judgement } }: IncidentNotice): string {
  if (judgement === null) return "";
  return `${capitalized(judgementMeanings[judgement.verdict])}, says ${plainText(judgement.by ?? "a person")}.`;
}

function incidentFacts(incident: IncidentNotice, fleet: FleetNotice | null, nowMs: number): Message["facts"] {
  const { deaths, onsetAtMs, organizations: all, firing, held, saysGates } = incident;
  const marker = fleet?.evidence?.markers.findLast(({ atMs }) => onsetAtMs !== null && atMs <= onsetAtMs) ?? null;
  const counted = deaths === null ? null : { currentCount: deaths.count, expectedCount: deaths.expected };
  const ratio = counted === null ? null : ratioWords(counted);
  return [
    { name: "Firing", value: `${formatCount(firing)} of ${organizations(all)}` },
    ...(deaths === null
      ? []
      : [
          {
            name: "Deaths",
            value: `${formatCount(deaths.count)}, ${formatExpected(deaths.expected)} expected${ratio === null ? "" : ` (${ratio})`}`,
          },
        ]),
    ...(onsetAtMs === null
      ? []
      : [{ name: "Began", value: `${beganText({ atMs: onsetAtMs, marker }, nowMs)}, by the median`, atMs: onsetAtMs }]),
    ...overFacts(incident, nowMs),
    ...(held === 0 || !saysGates ? [] : [{ name: "Gates", value: `${formatCount(held)} shut` }]),
  ];
}

/** Returns when the excess of an incident stopped, as a fact; none while it goes on, or where nobody knows. */
function stoppedFacts({ excessStoppedAtMs: atMs }: IncidentNotice, nowMs: number): Message["facts"] {
  return atMs === null ? [] : [{ name: "Excess stopped", value: instantText(atMs, nowMs), atMs }];
}

/** Returns whether it is over, as facts (CONTRACT 15, Is it over?): while it goes on by how much; once it has stopped until when it shows. */
export function overFacts(incident: IncidentNotice, nowMs: number): Message["facts"] {
  const { excess, excessStoppedAtMs } = incident;
  if (excess === null) return stoppedFacts(incident, nowMs);
  const { deathsLastHour, usualPerHour, expectedEndAtMs: atMs } = excess;
  if (excessStoppedAtMs === null) {
    const deaths = `${formatCount(deathsLastHour)} ${deathsLastHour === 1 ? "death" : "deaths"}`;
    return [{ name: "In the last hour", value: `${deaths}, usually ${formatExpected(usualPerHour)}` }];
  }
  const leaves =
    atMs === null ? [] : [{ name: "Its deaths leave the window by", value: instantText(atMs, nowMs), atMs }];
  return [...stoppedFacts(incident, nowMs), ...leaves];
}

// As many as the evaluation names per organization (CONTRACT 2): the others are the tail.
const shownTypes = 5;

/** The asset types that carry the excess: all that a service says of what the deaths share. */
function typeFacts({ assetTypes }: FleetNotice): Message["facts"] {
  if (assetTypes.length === 0) return [];
  const shown = assetTypes
    .slice(0, shownTypes)
    .map(({ assetType, share, count }) => `${plainText(assetType)} ${shareText(share)} (${formatCount(count)})`);
  const missing = assetTypes.length - shown.length;
  return [{ name: "Carried by", value: [...shown, ...(missing === 0 ? [] : [`+${missing} more`])].join(", ") }];
}

// A message is read on a phone: more is behind the link.
const shownLines = 5;

/** The worst by excess; where none is counted, the worst by severity, and none where many would all say what the sentence does. */
function worstLines(
  { family, worst, own: { organizations: all } }: IncidentNotice,
  notices: readonly AlertNotice[],
): string[] {
  const isSaid = new Set(notices.map(({ error }) => error?.reason)).size === 1 && all > shownLines;
  if (family === "unreachable" && isSaid) return [];
  const lines =
    worst.length > 0
      ? worst.map(({ slug, excess, count, expected }) => {
          const ratio = ratioWords({ currentCount: count, expectedCount: expected });
          return `${plainText(slug)}: ${formatCount(excess)} more deaths than usual${ratio === null ? "" : ` (${ratio})`}`;
        })
      : notices.map((notice) => noticeTitle(notice));
  return firstLines(lines, Math.max(all, lines.length));
}

/** Returns the first lines of a list, and how many of `count` are missing. */
export function firstLines(lines: readonly string[], count: number): string[] {
  const shown = lines.slice(0, shownLines);
  const missing = count - shown.length;
  return [...shown, ...(missing > 0 ? [`+${formatCount(missing)} more`] : [])];
}
