import { slugsOf } from "../../../alerting/incident-summary.ts";
import { breakAddresses } from "../../../base/broken-address.ts";
import { formatCount } from "../../../base/numbers.ts";
import { minuteMs } from "../../../base/time.ts";
import { markerBefore } from "../../../evidence/onset.ts";
import { describeAuthor } from "../../../contract/actor.ts";
import { answerWords, controlWords, opinionWords } from "../../../contract/second-opinion.ts";
import {
  heldElsewhereSentence,
  judgedInPart,
  judgementSentences,
  overSentence,
  sharedWords,
} from "../../../words/headline.ts";
import { countOf, durationText, nbsp, timeText } from "../../../words/numbers.ts";
import { html, nothing, type Html } from "../html.ts";
import type { IncidentDetail, ReadIncident } from "../../read/incidents.ts";
import { dialogButton } from "../dialog.ts";
import { sentenceOf } from "../site.ts";
import type { DialogAct } from "./dialogs.ts";
import { excessOf, memberFactsOf, stoppedMsOf } from "./member-facts.ts";

/** A question with its answer, the reason, and the act that changes the answer; plain text. */
export type Question = ReturnType<typeof ask>;

export interface ActWords {
  readonly act: DialogAct;
  readonly words: string;
  readonly isFirst?: boolean;
}

/** An incident; of its page, also with the deployments before it and its comments. */
type Asked = ReadIncident & Partial<Pick<IncidentDetail, "markers" | "comments">>;

type Answer = readonly [answer: string, why: string, act?: ActWords | null];

function ask(question: string, [answer, why, act = null]: Answer) {
  return { question, answer, why, act };
}

/** Renders the button of an act on an incident, or on one of its organizations. */
export function actButton(number: number, { act, words, isFirst = false }: ActWords, slug?: string): Html {
  const href = `/incidents/${number}/${act}${slug === undefined ? "" : `?slug=${encodeURIComponent(slug)}`}`;
  return dialogButton(href, words, isFirst);
}

/** Renders questions in three columns; `kind` is `known`, or `acts` for those that people decide. */
export function renderQuestions(
  questions: readonly Question[],
  button: (act: ActWords) => Html = () => nothing,
  kind = "known",
): Html {
  return html`<div class="${kind}">
    ${questions.map(({ question, answer, why, act }) => {
      const shown = act === null ? nothing : button(act);
      return html`<section>
        <h2>${question}</h2>
        <p class="answer">${answer}</p>
        <p class="why">${why}</p>
        ${shown.html === "" ? nothing : html`<p class="row">${shown}</p>`}
      </section>`;
    })}
  </div>`;
}

/** Returns the questions that flatline answers. */
export function knownQuestions(facts: Asked): readonly Question[] {
  const { incident, headline, summary, canLook } = facts;
  const over = ask("Is it over?", overAnswer(facts));
  if (incident.family === "unreachable") {
    const last = `The last results, from before ${timeText(incident.startedAtMs, facts.nowMs)}`;
    return [
      ask("What does it say?", platformAnswer(facts)),
      ask("What is still known?", [last, "What was found then is shown as unknown since."]),
      over,
    ];
  }
  if (incident.family !== "deaths") return [over];
  return [
    ask("Likely cause", causeAnswer(facts)),
    ...(canLook || summary.secondOpinion !== null || headline.isSeen
      ? [ask("Second opinion", opinionAnswer(facts))]
      : []),
    ...(incident.endedAtMs !== null || headline.isSeen ? [over] : []),
  ];
}

/** Returns the questions that people decide. */
export function decidedQuestions(facts: Asked): readonly Question[] {
  const { incident, heldSince } = facts;
  const isOfPlatform = incident.family === "unreachable";
  const whose = ask("Who has acknowledged it?", acknowledgedAnswer(facts));
  if (!isOfPlatform && incident.family !== "deaths" && heldSince.size === 0) return [whose];
  const judged: Answer = isOfPlatform ? ["There is nothing to judge", "It questions no deaths."] : judgedAnswer(facts);
  return [
    whose,
    ask("What was it?", judged),
    ask("May the deaths be acted on?", isOfPlatform ? platformGatesAnswer(facts) : gatesAnswer(facts)),
  ];
}

const causeAnswers = {
  checker: "The liveness checker",
  assets: "The assets may have died",
  unclear: "No cause stands out",
} as const;

function causeAnswer(facts: Asked): Answer {
  const { likelyCause, carriers } = facts.summary;
  // A source that only counts shows no single deaths: their cause is unknown, not absent.
  const isUnknown = !facts.headline.isSeen && likelyCause === "unclear";
  const [shared = "Its deaths share no attribute"] = isUnknown
    ? ["The platform counts; single deaths are not known here"]
    : carriers.map(sharedWords);
  const why = `${shared}. ${deploymentSentence(facts)}`.trimEnd();
  return [isUnknown ? "Not known" : causeAnswers[likelyCause], why];
}

function deploymentSentence({ members, headline: { beganAtMs, isSeen }, markers }: Asked): string {
  const own = members.map(({ onset }) => onset).find((onset) => onset?.marker);
  const marker = own?.marker ?? markerBefore(markers ?? [], beganAtMs);
  // Where single deaths are not seen, only the incident's page knows its deployments.
  if (marker === null) return isSeen || markers !== undefined ? `No deployment within 24${nbsp}h before.` : "";
  const laterMs = (own?.atMs ?? beganAtMs) - marker.atMs;
  const later = laterMs < minuteMs ? "right" : durationText(laterMs);
  return `It began ${later} after the deployment «${breakAddresses(marker.text)}».`;
}

function opinionAnswer({ summary, incident, isLooking, canLook, nowMs }: ReadIncident): Answer {
  const { secondOpinion: opinion } = summary;
  const words = opinion === null ? "Look…" : "Look again…";
  const act = canLook && !isLooking ? ({ act: "look", words } as const) : null;
  if (opinion === null) {
    if (isLooking) return ["Looking", "The verifier has not answered yet."];
    const isOpen = incident.endedAtMs === null;
    const why = canLook
      ? `The verifier was not asked${isOpen ? " yet, or none of its dead assets may be sent" : ""}.`
      : "No verifier is configured: secondOpinion.";
    return ["None", why, act];
  }
  const { verdict, atMs, isRecorded } = opinion;
  const isUndecided = verdict === "undecided";
  const found = isUndecided ? opinionWords({ ...opinion, isRecorded: false }) : controlWords(opinion);
  const why = [
    ...(found === null ? [] : [sentenceOf(found)]),
    ...(isRecorded === true ? ["By recorded answers, nobody looked."] : []),
    `${timeText(atMs, nowMs)}.`,
    ...(isLooking ? ["Looking again."] : []),
  ];
  return [isUndecided ? "Undecided" : answerWords(opinion), why.join(" "), act];
}

function overAnswer(facts: ReadIncident): Answer {
  const { incident, headline, nowMs } = facts;
  const { excess } = headline;
  const isOfPlatform = incident.family === "unreachable";
  if (incident.endedAtMs !== null) {
    const stoppedMs = stoppedMsOf(facts);
    const ended = isOfPlatform ? "The service gives results again." : "Nothing of it fires any more.";
    const why = stoppedMs === null ? ended : `Nothing unusual since ${timeText(stoppedMs, nowMs)}.`;
    return [`Yes, since ${timeText(incident.endedAtMs, nowMs)}`, why];
  }
  if (isOfPlatform) return ["No", "It ends with the first good result of each."];
  if (incident.family !== "deaths") return ["No", "It ends when its checks are ok again."];
  const why = overSentence(headline, nowMs);
  if (excess === null || why === "") return ["Not known", "Too few deaths stand out from the usual to say it."];
  return [{ ongoing: "No", unclear: "It may be", stopped: "It has stopped" }[excess.state], why];
}

function acknowledgedAnswer({ incident, summary, members, escalation, nowMs }: ReadIncident): Answer {
  const { acknowledgedBy } = summary;
  const firing = members.filter(({ end }) => end === null);
  const [taken] = members.flatMap(({ acknowledgement }) => acknowledgement ?? []);
  const name = taken === undefined ? "Nobody" : describeAuthor(taken.by, taken.note) || "Somebody";
  if (incident.endedAtMs !== null) return [name, "It has ended: nobody is reminded of it."];
  if (acknowledgedBy !== null && taken !== undefined) {
    const why = `Since ${timeText(taken.atMs, nowMs)}: no reminders.`;
    return [acknowledgedBy, why, { act: "unacknowledge", words: "Take it back…" }];
  }
  const left = firing.filter(({ acknowledgement }) => acknowledgement === null);
  const open = slugsOf(left).size;
  const isInPart = firing.length > 0 && open < slugsOf(firing).size;
  const isJudged = left.length > 0 && left.every(({ judgement }) => judgement !== undefined);
  const called = isJudged
    ? `${isInPart ? "They are" : "It is"} judged: nobody is reminded any more.`
    : escalation === null
      ? "An acknowledgement stops the reminders."
      : `${escalation.receiver} is called at ${timeText(escalation.atMs, nowMs)}. ` +
        "An acknowledgement stops that, and the reminders.";
  return [
    isInPart ? `${name}, some of it` : "Nobody",
    isInPart ? `${countOf(open, "organization")} of it nobody has acknowledged. ${called}` : called,
    { act: "acknowledge", words: open > 1 ? `Acknowledge ${formatCount(open)}…` : "Acknowledge…", isFirst: true },
  ];
}

const evidenceWords = {
  checker: "The evidence speaks for the checker.",
  assets: "The evidence speaks for deaths that are real.",
  unclear: "The evidence decides nothing yet.",
} as const;

function judgedAnswer({ incident, summary, headline, nowMs }: ReadIncident): Answer {
  const { judgement, judgeable, unjudged } = headline;
  if (judgement !== null) {
    const { by, verdict, comment, atMs } = judgement;
    const said = comment === null ? "" : `: «${breakAddresses(comment)}»`;
    const at = timeText(atMs, nowMs);
    const why = by === "" ? `Judged ${at}.` : `${by}, ${at}${said}.`;
    return [judgementSentences[verdict], why, { act: "judge", words: "Judge again…" }];
  }
  if (judgeable > 0 && unjudged === 0)
    return ["Judged in parts", judgedInPart(headline), { act: "judge", words: "Judge again…" }];
  return [
    unjudged < judgeable ? "Not judged as a whole" : "Nobody has judged it",
    unjudged < judgeable ? judgedInPart(headline) : evidenceWords[summary.likelyCause],
    {
      act: "judge",
      words: judgeable > 1 ? `Judge ${formatCount(unjudged)}…` : "Judge…",
      isFirst: incident.endedAtMs !== null,
    },
  ];
}

function gatesAnswer(facts: Asked): Answer {
  const { heldSince, members, headline, incident, nowMs, comments = [] } = facts;
  const others = heldElsewhereSentence(headline);
  if (heldSince.size > 0) {
    const held = Math.round(excessOf(memberFactsOf(facts).filter(({ heldSinceMs }) => heldSinceMs !== null)));
    const [slug = ""] = heldSince.keys();
    const whose = heldSince.size === 1 ? slug : countOf(heldSince.size, "organization");
    const areAllKnown = headline.heldToEnd + headline.heldToRelease >= heldSince.size;
    const waits = areAllKnown ? "stay on hold" : "wait for a judgement";
    return [
      `No: takedowns of ${whose} are on hold`,
      [held === 0 ? "" : `${countOf(held, "death")} more than usual ${waits}.`, others].join(" ").trim(),
      { act: "release", words: heldSince.size === 1 ? "Release…" : `Release ${formatCount(heldSince.size)}…` },
    ];
  }
  if (members.every(({ peak }) => peak.severity !== "fail"))
    return ["Yes: nothing was on hold", "Nothing of it has failed."];
  if (others !== "" && headline.opened === 0) return ["No: another incident holds them", others];
  const { judged, judges, beganAtMs } = headline;
  const released = comments.findLast(({ act }) => act === "release");
  const untilMs = stoppedMsOf(facts) ?? incident.endedAtMs ?? nowMs;
  const wrong = slugsOf(members.filter(({ judgement }) => judgement?.verdict === "checker"));
  const wrongOf = wrong.size === 1 ? [...wrong].join("") : countOf(wrong.size, "organization");
  const ofThese = wrong.size === slugsOf(members).size ? "" : ` of ${wrongOf}`;
  const why = [
    ...(others === "" ? [] : [others]),
    ...(released === undefined
      ? []
      : [`${describeAuthor(released.by, released.note)} has released them: «${breakAddresses(released.text)}».`]),
    ...(judges.length === 0 ? [] : [`${judges.join(" and ")} ${judges.length === 1 ? "has" : "have"} judged it.`]),
    ...(judged.checker === 0
      ? []
      : [
          `Do not act on the deaths${ofThese} from ${timeText(beganAtMs, nowMs)} to ${timeText(untilMs, nowMs)}: ` +
            "the checker was wrong.",
        ]),
  ];
  return ["Yes: takedowns are allowed again", why.join(" ")];
}

/** Returns the platform's most frequent answer. */
function platformAnswer({ members, headline }: ReadIncident): Answer {
  const runs = Math.max(0, ...members.map(({ unknownRuns }) => unknownRuns));
  const messages = Map.groupBy(
    members.flatMap(({ found }) => found?.error?.message ?? []),
    (one) => one,
  );
  const [message = "Nothing"] = [...messages.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
  const status = headline.platform?.status ?? null;
  const times = runs > 1 ? `${formatCount(runs)} times in a row.` : "";
  if (status === null) return [breakAddresses(message), times];
  return [String(status), `${sentenceOf(breakAddresses(message))} ${times}`];
}

/** Says which takedowns go on while the platform gives no results, and by which setting. */
function platformGatesAnswer({ headline: { platform }, incident }: ReadIncident): Answer {
  if (platform === null || platform.unwatched === 0)
    return ["As before", "The checks that give no result hold nothing."];
  const { unwatched, onHold } = platform;
  if (incident.endedAtMs !== null) {
    const why = `${countOf(unwatched, "organization")} ${unwatched === 1 ? "is" : "are"} checked again.`;
    return ["As before", why];
  }
  if (onHold === 0) return ["Yes: takedowns go on", "gate.whenUnknown is allow: nobody checks these deaths."];
  const of = onHold === unwatched ? "" : ` of ${countOf(onHold, "organization")}`;
  return [`No: takedowns${of} are on hold`, "gate.whenUnknown is hold."];
}
