import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount } from "../../../base/numbers.ts";
import { minuteMs } from "../../../base/time.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { deathWords } from "../../../contract/death-counts.ts";
import { spanMs } from "../../../contract/fleet/verdict-words.ts";
import type { JudgementVerdict } from "../../../contract/judgement.ts";
import type { AlertJudgement } from "../../../store/alerts/alerts.ts";
import { countOf, durationText, shareText, timeText, withinText } from "../../../words/numbers.ts";
import type { IncidentFacts } from "../../read/incident-page.ts";
import { stoppedMsOf } from "./member-facts.ts";

/** What each verdict says as a sentence of its own. */
export const verdictSentences: Readonly<Record<JudgementVerdict, string>> = {
  checker: "The checker was wrong",
  real: "They did die",
  expected: "It was expected",
};

const causeSentences = {
  checker: "Suspect the liveness checker.",
  assets: "The assets may really be gone.",
  unclear: "One cause is behind it.",
} as const;

/**
 * Returns the headline of an incident: whole sentences, the first of which also stands where only one line is. `withPeople`:
 * names and comments are for the reader.
 */
export function incidentSentences(facts: IncidentFacts, withPeople: boolean): readonly string[] {
  const { incident } = facts;
  const first = firstSentence(facts);
  if (incident.family === "unreachable") return [first, watchedSentence(facts)];
  if (incident.family !== "deaths" && incident.endedAtMs === null) return [first];
  if (incident.endedAtMs !== null)
    return [first, judgedSentence(facts, withPeople) ?? unfinishedSentence(facts)].filter((one) => one !== "");
  const judged = judgedSentence(facts, withPeople);
  if (judged !== null) return [first, judged];
  if (isAlone(facts)) return [first];
  const cause = causeSentence(facts);
  return cause === "" ? [first] : [first, cause];
}

/** Returns what an incident is, in one sentence. */
export function firstSentence(facts: IncidentFacts): string {
  const { incident, members } = facts;
  const isOver = incident.endedAtMs !== null;
  const slugs = slugsOf(members);
  if (incident.family === "unreachable") return unreachableSentence(facts);
  if (incident.family !== "deaths") {
    const who = slugs.size === 1 ? [...slugs].join("") : countOf(slugs.size, "organization");
    const verb = isOver ? "was" : "is";
    return `${familyWords(incident.family)} of ${who} ${verb} not ok${isOver ? "" : ` since ${timeText(incident.startedAtMs, facts.nowMs)}`}.`;
  }
  if (isAlone(facts)) return aloneSentence(facts);
  const count = slugs.size;
  const lasted = lastedWords(facts);
  if (isOver) return `${countOf(count, "organization")} spiked together for ${lasted}.${unjudgedEnd(facts)}`;
  return manySentence(facts, count);
}

/** Returns what an incident is, as a list of open and ended ones says it: without the full stop. */
export function listSentence(facts: IncidentFacts): string {
  const slugs = slugsOf(facts.members);
  const [slug = ""] = slugs;
  const sentence =
    facts.incident.family !== "deaths"
      ? firstSentence(facts)
      : isAlone(facts)
        ? aloneSentence(facts).replace(`${slug}:`, `${slug} alone:`)
        : manySentence(facts, slugs.size);
  return sentence.replace(/\.$/, "");
}

/** How many began, and within how long: that is what makes them one incident. */
function manySentence({ members, fleet }: IncidentFacts, count: number): string {
  const many = `${formatCount(count)} of ${countOf(Math.max(fleet, count), "organization")}`;
  return `${many} began to spike within ${withinText(spanMs(members.map(({ alert }) => alert.startsAtMs)))}.`;
}

/** Returns whether it is of one organization. */
export function isAlone({ members }: Pick<IncidentFacts, "members">): boolean {
  return slugsOf(members).size <= 1;
}

function aloneSentence({ members }: IncidentFacts): string {
  const [member] = members;
  if (member === undefined) return "Nothing of it is left.";
  const { slug, found, windowHours = 24, peak, check } = member.alert;
  if (check === "sentinel") return `${slug}: a sentinel is dead.`;
  const { count, expected, ...rest } = found?.deaths ?? { count: peak.currentCount, expected: null };
  const words = deathWords({ ...rest, currentCount: count, expectedCount: expected }, windowHours);
  return `${slug}: ${words === null ? "it spikes" : words}.`;
}

function causeSentence({ incident, summary }: IncidentFacts): string {
  const { secondOpinion: opinion } = summary;
  if (opinion?.verdict === "confirmed")
    return `They did die: ${formatCount(opinion.gone)} of ${formatCount(opinion.asked)} are gone.`;
  if (opinion?.verdict === "refuted")
    return `Suspect the liveness checker: ${formatCount(opinion.alive)} of ${formatCount(opinion.asked)} still answer.`;
  const byChance = incident.verdict !== null ? "By chance that does not happen. " : "";
  // Without a verdict nothing says that there is one cause.
  if (summary.likelyCause === "unclear" && incident.verdict === null) return "";
  return `${byChance}${causeSentences[summary.likelyCause]}`;
}

function unjudgedEnd({ members }: IncidentFacts): string {
  return members.some(({ alert }) => alert.judgement !== undefined) ? "" : " The alerts have ended.";
}

/** What somebody said that it was; null: nobody has. Of several the one that most members have, and of those the last. */
export function judgementOf({ members }: Pick<IncidentFacts, "members">): AlertJudgement | null {
  const given = members.flatMap(({ alert }) => alert.judgement ?? []);
  const byVerdict = [...Map.groupBy(given, ({ verdict }) => verdict).values()];
  const [most] = byVerdict.toSorted((left, right) => right.length - left.length);
  return most?.toSorted((left, right) => right.atMs - left.atMs)[0] ?? null;
}

function judgedSentence(facts: IncidentFacts, withPeople: boolean): string | null {
  const judgement = judgementOf(facts);
  if (judgement === null) return null;
  const left = facts.heldSince.size;
  const gates = left === 0 ? "" : ` ${countOf(left, "gate")} ${left === 1 ? "is" : "are"} still shut.`;
  if (!withPeople) return `${verdictSentences[judgement.verdict]}.${gates}`;
  const comment =
    judgement.comment === null ? "." : `: «${breakAddresses(judgement.comment)}»${gates === "" ? "" : "."}`;
  return `${verdictSentences[judgement.verdict]}, says ${nameOf(judgement)}${comment}${gates}`;
}

function unfinishedSentence({ heldSince }: IncidentFacts): string {
  const count = heldSince.size;
  return count === 0 ? "" : `${countOf(count, "gate")} ${count === 1 ? "is" : "are"} still shut: nobody has judged it.`;
}

/** Who did something, as others read it: "dana (ops)", with the name that a session or a request gave first. */
export function nameOf({ by, note }: { readonly by: string | null; readonly note?: string | null }): string {
  return describeAuthor(by, note) || "somebody";
}

/** For how long the excess lasted, or else the alerts. */
export function lastedWords(facts: IncidentFacts): string {
  const { incident, summary, nowMs } = facts;
  const fromMs = summary.onsetAtMs ?? incident.startedAtMs;
  const toMs = stoppedMsOf(facts) ?? incident.endedAtMs ?? nowMs;
  return durationText(Math.max(minuteMs, toMs - fromMs));
}

/** "security.example.com has answered 503 since 02:10." */
function unreachableSentence({ incident, members, source, nowMs }: IncidentFacts): string {
  const isOver = incident.endedAtMs !== null;
  const code = answerOf(members);
  const since = timeText(incident.startedAtMs, nowMs);
  const lasted = durationText((incident.endedAtMs ?? nowMs) - incident.startedAtMs);
  const who = source === "embedded" ? "flatline's own source" : source;
  if (code === null)
    return isOver ? `${who} gave no result for ${lasted}.` : `${who} has given no result since ${since}.`;
  return isOver ? `${who} ${code.past} for ${lasted}.` : `${who} has ${code.perfect} since ${since}.`;
}

interface AnswerWords {
  readonly past: string;
  readonly perfect: string;
}

/** What the service says in place of a result, by most of the members; null: it has no word for it. */
export function answerOf(members: IncidentFacts["members"]): AnswerWords | null {
  const words = members.flatMap(({ alert }) => {
    const error = alert.found?.error;
    if (error === undefined || error === null) return [];
    // As the client writes it (client/refusals.ts); any other number is no status: "Authentication failed (code 516)".
    const status = /^the service answered ([45]\d\d)\b/.exec(error.message)?.[1];
    if (status !== undefined) return [`answered ${status}`];
    return error.reason === "timeout" || error.reason === "network" ? ["not answered"] : [];
  });
  const counted = [...Map.groupBy(words, (one) => one)].toSorted(([, left], [, right]) => right.length - left.length);
  const most = counted[0]?.[0];
  if (most === undefined) return null;
  return { perfect: most, past: most === "not answered" ? "did not answer" : most };
}

/** Returns the organizations whose deaths are not watched: other checks say nothing of these. */
export function unwatchedOf(members: IncidentFacts["members"]): ReadonlySet<string> {
  return slugsOf(members.filter(({ alert }) => alert.check === "dead-asset-spike"));
}

function watchedSentence({ incident, members, fleet }: IncidentFacts): string {
  const count = unwatchedOf(members).size;
  if (count === 0) {
    const checks = [...new Set(members.map(({ alert }) => alert.check))].join(", ");
    return `Only ${checks}: deaths ${incident.endedAtMs === null ? "are" : "were"} watched.`;
  }
  if (incident.endedAtMs !== null)
    return `${countOf(count, "organization")} ${count === 1 ? "was" : "were"} not watched.`;
  if (count >= fleet) return `None of the ${countOf(fleet, "organization")} is watched.`;
  return `${formatCount(count)} of the ${countOf(fleet, "organization")} ${count === 1 ? "is" : "are"} not watched.`;
}

function familyWords(family: string): string {
  return family === "no-events" ? "The flow of events" : `The check ${family}`;
}

/** What is known of the cause, in one line under a first sentence: "Likely the liveness checker: 85 % has reason=captcha_page." */
export function causeLine(facts: IncidentFacts, withPeople: boolean): string {
  const { summary, incident } = facts;
  const judgement = judgementOf(facts);
  if (withPeople && judgement?.comment !== null && judgement?.comment !== undefined)
    return `«${breakAddresses(judgement.comment)}»`;
  if (incident.family === "unreachable") return watchedSentence(facts);
  if (incident.family !== "deaths") return "";
  const [carrier] = summary.carriers;
  const shared = carrier === undefined ? "" : `${shareText(carrier.share)} has ${carrier.key}=${carrier.value}`;
  if (summary.likelyCause === "unclear")
    return shared === "" ? "No cause stands out." : `No cause stands out; ${shared}.`;
  const who = summary.likelyCause === "checker" ? "Likely the liveness checker" : "Likely real";
  return shared === "" ? `${who}.` : `${who}: ${shared}.`;
}
