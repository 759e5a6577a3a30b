import { slugsOf } from "../../../alerting/incident-summary.ts";
import { formatCount, formatExpected } from "../../../base/numbers.ts";
import { minuteMs } from "../../../base/time.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { speaksForChecker } from "../../../contract/judgement.ts";
import { controlWords, failureWords } from "../../../contract/second-opinion.ts";
import { countOf, durationText, isSameDay, nbsp, shareText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { IncidentFacts } from "../../read/incident-page.ts";
import { excessOf, memberFactsOf, stoppedMsOf, type MemberFacts } from "./member-facts.ts";
import { answerOf, judgementOf, nameOf, unwatchedOf, verdictSentences } from "./sentences.ts";

/** A question with its answer, the reason after it, and the act that changes it. */
export interface Question {
  readonly question: string;
  readonly answer: Html | string;
  readonly why: Html | string;
  /** The button of the act [none]. */
  readonly act?: Html;
}

/** What an incident's page says, and what a reader may see of it. */
export interface QuestionOptions {
  readonly withPeople: boolean;
  /** Renders the button of an act on this incident, with what it is called. */
  readonly button: (
    act: "acknowledge" | "unacknowledge" | "judge" | "release",
    words: string,
    isFirst: boolean,
  ) => Html;
}

/** Renders questions in their three columns; `isActs`: they are what people decide. */
export function renderQuestions(questions: readonly Question[], isActs = false): Html {
  return html`<div${isActs ? html` class="acts"` : nothing}>
    ${questions.map(
      ({ question, answer, why, act = nothing }) =>
        html`<section>
          <h2>${question}</h2>
          <p class="answer">${answer}</p>
          <p class="why">${why}</p>
          ${act.html === "" ? nothing : html`<p class="row">${act}</p>`}
        </section>`,
    )}
  </div>`;
}

/** What flatline knows. `lookButton` asks for another look [none]. */
export function knownQuestions(facts: IncidentFacts, lookButton: Html = nothing): readonly Question[] {
  if (facts.incident.family === "unreachable") return platformQuestions(facts);
  return [
    ...(facts.incident.family === "deaths"
      ? [causeQuestion(facts), opinionQuestion(facts, facts.canLook ? lookButton : nothing)]
      : []),
    overQuestion(facts),
  ];
}

/** What people decide. */
export function decidedQuestions(facts: IncidentFacts, options: QuestionOptions): readonly Question[] {
  const onIt = onItQuestion(facts, options);
  if (facts.incident.family === "unreachable") return [onIt, platformJudgement, platformGates(facts)];
  if (facts.incident.family !== "deaths" && facts.heldSince.size === 0) return [onIt];
  return [onIt, judgedQuestion(facts, options), gatesQuestion(facts, options)];
}

const causeAnswers = {
  checker: "The liveness checker",
  assets: "The assets did die",
  unclear: "No cause stands out",
} as const;

function causeQuestion({ summary, members }: IncidentFacts): Question {
  const [carrier] = summary.carriers;
  const shared =
    carrier === undefined
      ? "Its deaths share no attribute."
      : html`<b>${shareText(carrier.share)}</b> of the excess has
          <span class="attr">${carrier.key}=${carrier.value}</span>, usually ${shareText(carrier.usualShare)}.`;
  const marked = members.flatMap(({ alert }) => (alert.onset?.marker ? [alert.onset] : []))[0];
  const marker =
    marked === undefined || marked.marker === null
      ? html`No marker within 24${nbsp}h before.`
      : html`It began ${durationText(Math.max(minuteMs, marked.atMs - marked.marker.atMs))} after the marker
        «${breakAddresses(marked.marker.text)}».`;
  return {
    question: "Likely cause",
    answer: causeAnswers[summary.likelyCause],
    why: html`${shared} ${marker}`,
  };
}

function opinionQuestion({ summary, incident, isLooking, canLook, nowMs }: IncidentFacts, act: Html): Question {
  const question = "Second opinion";
  const { secondOpinion: opinion } = summary;
  if (isLooking && opinion === null) return { question, answer: "Looking", why: "The verifier has not answered yet." };
  if (opinion === null) {
    const why = !canLook
      ? html`No verifier is configured: <code>secondOpinion</code>.`
      : incident.endedAtMs === null
        ? "The verifier was not asked yet, or none of its dead assets may be sent."
        : "The verifier was not asked.";
    return { question, answer: "None", why, act };
  }
  const { asked, alive, gone, verdict, atMs, isRecorded, failure } = opinion;
  const of = (count: number): string => `${formatCount(count)} of ${formatCount(asked)}`;
  const answers = {
    refuted: html`${of(alive)} still answer`,
    confirmed: html`${of(gone)} are gone`,
    undecided: "Undecided",
  };
  const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}. `;
  const words = controlWords(opinion);
  const found =
    failure === undefined
      ? verdict === "undecided"
        ? `${of(alive)} still answer, ${formatCount(gone)} are gone. `
        : ""
      : sentence(failureWords[failure]);
  const known = words === null || failure === "no_answer" ? "" : sentence(words);
  return {
    question,
    answer: answers[verdict],
    why: html`${found}${known}${isRecorded === true ? "By recorded answers, nobody looked. " : ""}${renderTime(atMs, nowMs)}.
    ${isLooking ? "Looking again." : ""}`,
    act: isLooking ? nothing : act,
  };
}

function overQuestion(facts: IncidentFacts): Question {
  const { incident, members, nowMs } = facts;
  const question = "Is it over?";
  const firing = members.filter(({ end }) => end === null);
  const stoppedMs = stoppedMsOf(facts);
  if (incident.endedAtMs !== null)
    return {
      question,
      answer: html`Yes, since ${renderTime(incident.endedAtMs, nowMs)}`,
      why:
        stoppedMs === null
          ? "Nothing of it fires any more."
          : html`The excess stopped at ${renderTime(stoppedMs, nowMs)}.`,
    };
  const excess = firing.flatMap(({ alert }) => alert.found?.excess ?? []);
  if (stoppedMs !== null) {
    const ends = excess.flatMap(({ expectedEndAtMs }) => expectedEndAtMs ?? []);
    const lastMs = ends.length === 0 ? null : Math.max(...ends);
    const hours = Math.max(...firing.map(({ alert }) => alert.windowHours ?? 24));
    const why =
      lastMs === null
        ? "Its deaths leave the window one by one. Until then the alerts go on."
        : html`Its deaths leave the ${hours}${nbsp}h window by
          ${renderTime(lastMs, nowMs)}${isSameDay(lastMs, nowMs) ? "" : " at the latest"}. Until then the alerts go on.`;
    return { question, answer: html`The excess stopped at ${renderTime(stoppedMs, nowMs)}`, why };
  }
  const ongoing = excess.filter(({ state }) => state === "ongoing");
  if (ongoing.length === 0)
    return {
      question,
      answer: "Not known",
      why: "Too few deaths stand out from the usual to say it.",
    };
  const lastHour = excess.reduce((sum, { deathsLastHour }) => sum + deathsLastHour, 0);
  const usual = excess.reduce((sum, { usualPerHour }) => sum + usualPerHour, 0);
  const why = html`${countOf(lastHour, "death")} in the last hour, usually ${formatExpected(usual)}.`;
  // The pause since the last death is not yet longer than pauses that are usual.
  return { question, answer: lastHour <= usual ? "It may have stopped" : "No, it is still going on", why };
}

function onItQuestion(facts: IncidentFacts, { withPeople, button }: QuestionOptions): Question {
  const { incident, summary, members, escalation, nowMs } = facts;
  const question = "Who is on it?";
  const firing = members.filter(({ end }) => end === null);
  const taken = members.flatMap(({ alert }) => alert.acknowledgement ?? []);
  const acknowledgement = taken[0] ?? null;
  const name = acknowledgement === null ? null : withPeople ? nameOf(acknowledgement) : "Somebody";
  if (incident.endedAtMs !== null)
    return {
      question,
      answer: `${name ?? "Nobody"} was`,
      why: "It has ended: nobody is reminded of it.",
    };
  if (summary.acknowledgedBy !== null && acknowledgement !== null)
    return {
      question,
      answer: withPeople ? summary.acknowledgedBy : "Somebody",
      why: html`Since ${renderTime(acknowledgement.atMs, nowMs)}: no reminders.`,
      act: button("unacknowledge", "Take it back…", false),
    };
  const open = new Set(firing.filter(({ alert }) => alert.acknowledgement === null).map(({ alert }) => alert.slug))
    .size;
  const some = firing.length > 0 && open < slugsOf(firing).size;
  const called =
    escalation === null
      ? "Whoever takes it stops the reminders."
      : html`${escalation.receiver} is called at ${renderTime(escalation.atMs, nowMs)}. Whoever takes it stops that, and
        the reminders.`;
  return {
    question,
    answer: some ? `${name ?? "Somebody"}, of some` : "Nobody",
    why: some ? html`${countOf(open, "organization")} of it nobody has taken. ${called}` : called,
    act: button("acknowledge", open > 1 ? `Acknowledge ${formatCount(open)}…` : "Acknowledge…", true),
  };
}

function judgedQuestion(facts: IncidentFacts, { withPeople, button }: QuestionOptions): Question {
  const { members, nowMs } = facts;
  const question = "What was it?";
  const judgement = judgementOf(facts);
  const judgeable = members.filter(({ alert }) => alert.kind === "verdict");
  const open = judgeable.filter(({ alert }) => alert.judgement === undefined).length;
  const words = judgeable.length > 1 ? `Judge ${formatCount(open === 0 ? judgeable.length : open)}…` : "Judge…";
  if (judgement === null) {
    const supporting = judgeable.filter(({ alert }) => evidenceOf(alert) === "checker").length;
    const why =
      supporting > 0
        ? html`The evidence speaks for the
          checker${judgeable.length > 1 ? `, in ${formatCount(supporting)} of ${formatCount(judgeable.length)}` : ""}.`
        : "The evidence decides nothing yet.";
    return {
      question,
      answer: "Nobody has judged it",
      why,
      act: button("judge", words, facts.incident.endedAtMs !== null),
    };
  }
  const who = withPeople
    ? html`${nameOf(judgement)},
      ${renderTime(judgement.atMs, nowMs)}${judgement.comment === null ? "" : `: «${breakAddresses(judgement.comment)}»`}`
    : html`Judged ${renderTime(judgement.atMs, nowMs)}`;
  const rest = open === 0 ? "." : `. ${countOf(open, "alert")} ${open === 1 ? "is" : "are"} not judged.`;
  return {
    question,
    answer: verdictSentences[judgement.verdict],
    why: html`${who}${rest}`,
    act: button("judge", open === 0 ? "Judge again…" : words, false),
  };
}

/** What the evidence of one alert speaks for. */
function evidenceOf({ found }: MemberFacts["member"]["alert"]): string | null {
  if (found === undefined) return null;
  const { revived, cause } = found;
  if (
    revived !== null &&
    revived.judged > 0 &&
    speaksForChecker({ revivedCount: revived.count, share: revived.count / revived.judged })
  )
    return "checker";
  return cause;
}

function gatesQuestion(facts: IncidentFacts, { withPeople, button }: QuestionOptions): Question {
  const { heldSince, members } = facts;
  const question = "May the deaths be acted on?";
  if (heldSince.size > 0) {
    const all = memberFactsOf(facts);
    const held = Math.round(excessOf(all.filter(({ heldSinceMs }) => heldSinceMs !== null)));
    const rest = slugsOf(members).size - heldSince.size;
    const deaths = held === 0 ? "Its deaths are held." : `${countOf(held, "death")} ${held === 1 ? "is" : "are"} held.`;
    const others = rest === 0 ? "" : ` The ${formatCount(rest)} that only ${rest === 1 ? "warns is" : "warn are"} not.`;
    const only = heldSince.size === 1;
    return {
      question,
      answer: html`No: ${only ? "its gate is" : `${formatCount(heldSince.size)} gates are`} shut`,
      why: html`${deaths}${others}`,
      act: button("release", only ? "Release…" : `Release ${formatCount(heldSince.size)}…`, false),
    };
  }
  const released = facts.members.some(({ alert }) => alert.peak.severity === "fail");
  const judgement = judgementOf(facts);
  if (!released) return { question, answer: "Yes: no gate was shut", why: "Nothing of it has failed." };
  if (judgement?.verdict === "checker")
    return {
      question,
      answer: "Yes: its gates are open",
      why: "Those of a wrong checker open when its alerts end, or by hand.",
    };
  return {
    question,
    answer: judgement === null ? "Yes: its gates are open" : "Yes: opened by the judgement",
    why: judgement === null || !withPeople ? nothing : html`${nameOf(judgement)} has judged it.`,
  };
}

function platformQuestions(facts: IncidentFacts): readonly Question[] {
  const { members, nowMs, incident } = facts;
  const words = answerOf(members)?.perfect ?? "given no result";
  const runs = Math.max(0, ...members.map(({ alert }) => alert.unknownRuns));
  const messages = members.flatMap(({ alert }) => alert.found?.error?.message ?? []);
  const [message] = [...Map.groupBy(messages, (one) => one)].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return [
    {
      question: "What does it say?",
      answer: html`${words.charAt(0).toUpperCase()}${words.slice(1)}${runs > 1 ? `, ${formatCount(runs)} times in a row` : ""}`,
      why: message === undefined ? nothing : html`${breakAddresses(message)}.`,
    },
    {
      question: "What is still known?",
      answer: html`The last results, from before ${renderTime(incident.startedAtMs, nowMs)}`,
      why: "What was found then is shown as unknown since.",
    },
    {
      question: "Is it over?",
      answer: incident.endedAtMs === null ? "No" : html`Yes, since ${renderTime(incident.endedAtMs, nowMs)}`,
      why:
        incident.endedAtMs === null
          ? "It ends with the first good result of each."
          : "The service gives results again.",
    },
  ];
}

const platformJudgement: Question = {
  question: "What was it?",
  answer: "There is nothing to judge",
  why: "It questions no deaths.",
};

function platformGates({ members, incident }: IncidentFacts): Question {
  const count = unwatchedOf(members).size;
  const question = "May the deaths be acted on?";
  if (count === 0) return { question, answer: "As before", why: "The checks that give no result hold no gate." };
  const why =
    incident.endedAtMs === null
      ? html`Where <code>gate.whenUnknown</code> is <code>allow</code>, takedowns of these
          ${countOf(count, "organization")} go on while nobody watches.`
      : "All of them are watched again.";
  return { question, answer: "As the policy says", why };
}
