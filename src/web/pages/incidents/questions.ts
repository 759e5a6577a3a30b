import { slugsOf } from "../../../alerting/incident-summary.ts";
import { formatCount } from "../../../base/numbers.ts";
import { minuteMs } from "../../../base/time.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { speaksForChecker } from "../../../contract/judgement.ts";
import { controlWords, failureWords } from "../../../contract/second-opinion.ts";
import { countOf, durationText, nbsp, shareText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import { renderTime } from "../../parts/time.ts";
import type { ReadIncident } from "../../read/incidents.ts";
import { excessOf, memberFactsOf, stoppedMsOf, type MemberFacts } from "./member-facts.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { judgedInPart, judgementSentences, overSentence } from "../../../words/headline.ts";

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
export function knownQuestions(facts: ReadIncident, lookButton: Html = nothing): readonly Question[] {
  const { incident, headline, summary, canLook } = facts;
  if (incident.family === "unreachable") return platformQuestions(facts);
  if (incident.family !== "deaths") return [overQuestion(facts)];
  const isAsked = canLook || summary.secondOpinion !== null;
  const isOver = incident.endedAtMs !== null;
  return [
    causeQuestion(facts),
    ...(isAsked || headline.isSeen ? [opinionQuestion(facts, canLook ? lookButton : nothing)] : []),
    ...(isOver || headline.isSeen ? [overQuestion(facts)] : []),
  ];
}

/** What people decide. */
export function decidedQuestions(facts: ReadIncident, options: QuestionOptions): readonly Question[] {
  const onIt = onItQuestion(facts, options);
  if (facts.incident.family === "unreachable") return [onIt, platformJudgement, platformGates(facts)];
  if (facts.incident.family !== "deaths" && facts.heldSince.size === 0) return [onIt];
  return [onIt, judgedQuestion(facts, options), gatesQuestion(facts, options)];
}

const causeAnswers = {
  checker: "The liveness checker",
  assets: "The assets may have died",
  unclear: "No cause stands out",
} as const;

function causeQuestion({ summary, members, headline }: ReadIncident): Question {
  const question = "Likely cause";
  const [carrier] = summary.carriers;
  // A source that only counts shows no single deaths: what is not known is not denied.
  if (!headline.isSeen && summary.likelyCause === "unclear")
    return { question, answer: "Not known", why: "The platform counts; single deaths are not known here." };
  const shared =
    carrier === undefined
      ? "Its deaths share no attribute."
      : html`<b>${shareText(carrier.share)}</b> of these deaths share
          <span class="nowrap">${carrier.key}=${carrier.value}</span>, usually ${shareText(carrier.usualShare)}.`;
  const marked = members.flatMap((alert) => (alert.onset?.marker ? [alert.onset] : []))[0];
  const marker =
    marked === undefined || marked.marker === null
      ? html`No deployment within 24${nbsp}h before.`
      : html`It began ${durationText(Math.max(minuteMs, marked.atMs - marked.marker.atMs))} after the deployment
        «${breakAddresses(marked.marker.text)}».`;
  return { question, answer: causeAnswers[summary.likelyCause], why: html`${shared} ${marker}` };
}

function opinionQuestion({ summary, incident, isLooking, canLook, nowMs }: ReadIncident, act: Html): Question {
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

function overQuestion(facts: ReadIncident): Question {
  const { incident, headline, nowMs } = facts;
  const question = "Is it over?";
  const stoppedMs = stoppedMsOf(facts);
  if (incident.endedAtMs !== null)
    return {
      question,
      answer: html`Yes, since ${renderTime(incident.endedAtMs, nowMs)}`,
      why:
        stoppedMs === null
          ? "Nothing of it fires any more."
          : html`Nothing unusual since ${renderTime(stoppedMs, nowMs)}.`,
    };
  const { excess } = headline;
  const why = overSentence(headline, nowMs);
  if (excess === null || why === "")
    return { question, answer: "Not known", why: "Too few deaths stand out from the usual to say it." };
  const answers = { ongoing: "No", unclear: "It may be", stopped: "It has stopped" };
  return { question, answer: answers[excess.state], why };
}

function onItQuestion(facts: ReadIncident, { withPeople, button }: QuestionOptions): Question {
  const { incident, summary, members, escalation, nowMs } = facts;
  const question = "Who has acknowledged it?";
  const firing = members.filter(({ end }) => end === null);
  const taken = members.flatMap((alert) => alert.acknowledgement ?? []);
  const acknowledgement = taken[0] ?? null;
  const name =
    acknowledgement === null
      ? null
      : withPeople
        ? describeAuthor(acknowledgement.by, acknowledgement.note) || "Somebody"
        : "Somebody";
  if (incident.endedAtMs !== null)
    return {
      question,
      answer: name ?? "Nobody",
      why: "It has ended: nobody is reminded of it.",
    };
  if (summary.acknowledgedBy !== null && acknowledgement !== null)
    return {
      question,
      answer: withPeople ? summary.acknowledgedBy : "Somebody",
      why: html`Since ${renderTime(acknowledgement.atMs, nowMs)}: no reminders.`,
      act: button("unacknowledge", "Take it back…", false),
    };
  const open = new Set(firing.filter((alert) => alert.acknowledgement === null).map((alert) => alert.slug)).size;
  const some = firing.length > 0 && open < slugsOf(firing).size;
  const called =
    escalation === null
      ? "An acknowledgement stops the reminders."
      : html`${escalation.receiver} is called at ${renderTime(escalation.atMs, nowMs)}. An acknowledgement stops that,
        and the reminders.`;
  return {
    question,
    answer: some ? `${name ?? "Somebody"}, some of it` : "Nobody",
    why: some ? html`${countOf(open, "organization")} of it nobody has acknowledged. ${called}` : called,
    act: button("acknowledge", open > 1 ? `Acknowledge ${formatCount(open)}…` : "Acknowledge…", true),
  };
}

function judgedQuestion(facts: ReadIncident, { withPeople, button }: QuestionOptions): Question {
  const { members, headline, nowMs } = facts;
  const { judgement, judgeable, judged } = headline;
  const question = "What was it?";
  const open = judgeable - judged.checker - judged.real - judged.expected;
  const words = judgeable > 1 ? `Judge ${formatCount(open === 0 ? judgeable : open)}…` : "Judge…";
  if (judgement !== null)
    return {
      question,
      answer: judgementSentences[judgement.verdict],
      why: withPeople
        ? html`${judgement.by},
          ${renderTime(judgement.atMs, nowMs)}${judgement.comment === null ? "" : `: «${breakAddresses(judgement.comment)}»`}.`
        : html`Judged ${renderTime(judgement.atMs, nowMs)}.`,
      act: button("judge", "Judge again…", false),
    };
  const supporting = members.filter((alert) => evidenceOf(alert) === "checker").length;
  const evidence =
    supporting > 0
      ? `The evidence speaks for the checker${judgeable > 1 ? `, in ${formatCount(supporting)} of ${formatCount(judgeable)}` : ""}.`
      : facts.summary.likelyCause === "assets"
        ? "The evidence speaks for deaths that are real."
        : "The evidence decides nothing yet.";
  return {
    question,
    answer: open < judgeable ? "Not judged as a whole" : "Nobody has judged it",
    why: open < judgeable ? judgedInPart(headline) : evidence,
    act: button("judge", words, facts.incident.endedAtMs !== null),
  };
}

/** What the evidence of one alert speaks for. */
function evidenceOf({ found }: MemberFacts["member"]): string | null {
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

function gatesQuestion(facts: ReadIncident, { withPeople, button }: QuestionOptions): Question {
  const { heldSince, members, headline } = facts;
  const { judgement } = headline;
  const question = "May the deaths be acted on?";
  if (heldSince.size > 0) {
    const all = memberFactsOf(facts);
    const held = Math.round(excessOf(all.filter(({ heldSinceMs }) => heldSinceMs !== null)));
    const [slug] = heldSince.keys();
    const whose = heldSince.size === 1 && slug !== undefined ? slug : countOf(heldSince.size, "organization");
    return {
      question,
      answer: html`No: takedowns of ${whose} are on hold`,
      why:
        held === 0
          ? nothing
          : `${countOf(held, "death")} more than usual ${judgement === null ? "wait for a judgement" : "stay on hold"}.`,
      act: button("release", heldSince.size === 1 ? "Release…" : `Release ${formatCount(heldSince.size)}…`, false),
    };
  }
  const hasFailed = members.some((alert) => alert.peak.severity === "fail");
  if (!hasFailed) return { question, answer: "Yes: nothing was on hold", why: "Nothing of it has failed." };
  return {
    question,
    answer: "Yes: takedowns are allowed again",
    why: judgement === null || !withPeople ? nothing : html`${judgement.by} has judged it.`,
  };
}

function platformQuestions({ members, nowMs, incident }: ReadIncident): readonly Question[] {
  const runs = Math.max(0, ...members.map((alert) => alert.unknownRuns));
  const messages = members.flatMap((alert) => alert.found?.error?.message ?? []);
  const [message] = [...Map.groupBy(messages, (one) => one)].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return [
    {
      question: "What does it say?",
      answer: message === undefined ? "Nothing" : html`${breakAddresses(message)}`,
      why: runs > 1 ? `${formatCount(runs)} times in a row.` : nothing,
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

/** Which takedowns go on while nothing is known, and by which setting. */
function platformGates({ headline: { platform }, incident }: ReadIncident): Question {
  const question = "May the deaths be acted on?";
  if (platform === null || platform.unwatched === 0)
    return { question, answer: "As before", why: "The checks that give no result hold nothing." };
  const { unwatched, onHold } = platform;
  const setting = html`<code>gate.whenUnknown</code>`;
  if (incident.endedAtMs !== null)
    return {
      question,
      answer: "As before",
      why: `${countOf(unwatched, "organization")} ${unwatched === 1 ? "is" : "are"} checked again.`,
    };
  if (onHold === 0)
    return {
      question,
      answer: "Yes: takedowns go on",
      why: html`${setting} is <code>allow</code>: nobody checks these deaths.`,
    };
  const of = onHold === unwatched ? "" : ` of ${countOf(onHold, "organization")}`;
  return { question, answer: `No: takedowns${of} are on hold`, why: html`${setting} is <code>hold</code>.` };
}
