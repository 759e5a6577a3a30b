import type { HeadlineFacts } from "../alerting/headline-facts.ts";
import { breakAddresses } from "../base/broken-address.ts";
import { formatCount, formatExpected } from "../base/numbers.ts";
import { deathWords } from "../contract/death-counts.ts";
import { judgementVerdicts, type JudgementVerdict } from "../contract/judgement.ts";
import { answerWords } from "../contract/second-opinion.ts";
import { countOf, dueText, durationText, onHoldBy, shareText, timeText, withinText } from "./numbers.ts";

export const judgementSentences: Readonly<Record<JudgementVerdict, string>> = {
  checker: "The checker was wrong",
  real: "They did die",
  expected: "It was expected",
};

/** Returns the headline of an incident (CONTRACT 19). The first sentence can stand alone. */
export function headline(facts: HeadlineFacts, nowMs: number): readonly [string, ...string[]] {
  if (facts.platform !== null) return platformSentences(facts, facts.platform, nowMs);
  const first = firstSentence(facts, nowMs);
  const said = facts.judgement === null ? [] : [judgementSentence(facts.judgement)];
  const gates = gateSentences(facts);
  if (facts.endedAtMs !== null) return [first, ...endSentences(facts), ...said, ...gates];
  if (facts.family !== "deaths") return [first, ...said, ...gates];
  const all =
    facts.alone !== null && facts.whole.organizations > 1 ? [manySentence({ ...facts, part: null }, nowMs)] : [];
  const over = overSentence(facts, nowMs);
  return [first, ...all, ...(said.length > 0 ? said : causeSentences(facts)), ...gates, ...(over === "" ? [] : [over])];
}

function firstSentence(facts: HeadlineFacts, nowMs: number): string {
  const { family, endedAtMs, lastedMs, alone } = facts;
  if (family !== "deaths") return otherSentence(facts, nowMs);
  if (endedAtMs !== null) {
    const lasted = durationText(lastedMs);
    if (alone !== null) return `${alone.slug} spiked for ${lasted}.`;
    return `${countOf((facts.part ?? facts.whole).organizations, "organization")} spiked together for ${lasted}.`;
  }
  return alone === null ? manySentence(facts, nowMs) : aloneSentence(alone);
}

function aloneSentence({ slug, check, deaths, windowHours }: NonNullable<HeadlineFacts["alone"]>): string {
  if (check === "sentinel") return `${slug}: an asset that is known to live was called dead.`;
  return `${slug}: ${deathWords(deaths, windowHours) ?? "it spikes"}.`;
}

/** "118 of 300 organizations began to spike within 1 minute, from one cause." */
function manySentence({ whole, part, isOneCause, withinMs, beganAtMs }: HeadlineFacts, nowMs: number): string {
  const count = ({ organizations, firing }: HeadlineFacts["whole"]): number =>
    isOneCause || firing === 0 ? organizations : firing;
  const of = `${formatCount(count(whole))} of ${formatCount(whole.watched)}`;
  const many =
    part === null
      ? `${of} organizations`
      : `${formatCount(count(part))} of your ${formatCount(part.watched)} organizations`;
  const all = part === null ? "" : ` (${of} in all)`;
  const verb = count(part ?? whole) === 1 ? "spikes" : "spike";
  return isOneCause
    ? `${many} began to spike within ${withinText(withinMs)}${all}, from one cause.`
    : `${many} ${verb} since ${timeText(beganAtMs, nowMs)}${all}.`;
}

/** Says the likely cause, and why it is likely; empty: nothing is known. */
export function causeSentences({
  secondOpinion,
  likelyCause,
  carrier,
  foundAlive,
  isSeen,
  isOneCause,
}: Pick<
  HeadlineFacts,
  "secondOpinion" | "likelyCause" | "carrier" | "foundAlive" | "isSeen" | "isOneCause"
>): string[] {
  if (secondOpinion !== null && secondOpinion.verdict !== "undecided")
    return [`The second opinion: ${answerWords(secondOpinion)}.`];
  if (likelyCause === "assets") return ["These assets may really have died."];
  if (likelyCause === "checker" && foundAlive > 0)
    return [
      "The liveness checker is suspected: " +
        `${countOf(foundAlive, "of these deaths was", "of these deaths were")} found alive.`,
    ];
  if (likelyCause === "checker" && carrier !== null)
    return [`The liveness checker is suspected: ${sharedWords(carrier)}.`];
  if (likelyCause === "checker") return ["The liveness checker is suspected."];
  return isSeen && isOneCause ? ["No cause stands out."] : [];
}

/** "92 % of these deaths share reason=captcha_page, usually none" */
export function sharedWords({ key, value, share, usualShare }: NonNullable<HeadlineFacts["carrier"]>): string {
  const usually = usualShare === 0 ? "none" : shareText(usualShare);
  return `${shareText(share)} of these deaths share ${breakAddresses(`${key}=${value}`)}, usually ${usually}`;
}

/** Returns whether the deaths go on, or until when they count; empty: unknown. */
export function overSentence({ excess }: Pick<HeadlineFacts, "excess">, nowMs: number): string {
  if (excess === null) return "";
  const { state, quietSinceMs, expectedEndAtMs, deathsLastHour, usualPerHour } = excess;
  if (state === "ongoing")
    return (
      "It is still going on: " +
      `${countOf(deathsLastHour, "death")} in the last hour, usually ${formatExpected(usualPerHour)}.`
    );
  if (quietSinceMs === null) return "";
  const since = timeText(quietSinceMs, nowMs);
  if (state === "unclear") return `It may be over: nothing unusual since ${since}.`;
  const ends = expectedEndAtMs === null ? "" : `; it ends by ${dueText(expectedEndAtMs, nowMs)}`;
  return `Nothing unusual since ${since}${ends}.`;
}

/** "The checker was wrong, says dana: «captcha page»." */
export function judgementSentence({
  verdict,
  by,
  comment,
}: Omit<NonNullable<HeadlineFacts["judgement"]>, "atMs">): string {
  const why = comment === null ? "" : `: «${breakAddresses(comment)}»`;
  return `${judgementSentences[verdict]}${by === "" ? "" : `, says ${by}`}${why}.`;
}

/** "1 of 9 is judged real, says dana.": judgements of a part of the incident; empty: none. */
export function judgedInPart({ judged, judges, judgeable, judgement }: HeadlineFacts): string {
  if (judgement !== null) return "";
  const parts = judgementVerdicts.flatMap((verdict) => {
    const count = judged[verdict];
    return count === 0
      ? []
      : [`${formatCount(count)} of ${formatCount(judgeable)} ${count === 1 ? "is" : "are"} judged ${verdict}`];
  });
  const by = judges.length === 1 ? `says ${judges[0]}` : `say ${judges.length} people`;
  return parts.length === 0 ? "" : `${[...parts, ...(judges.length === 0 ? [] : [by])].join(", ")}.`;
}

/** "Takedowns of 9 organizations are on hold until somebody judges it.", or until an end or a release. */
export function gateSentences(facts: HeadlineFacts): string[] {
  const { held, heldToEnd, heldToRelease, opened } = facts;
  const elsewhere = heldElsewhereSentence(facts);
  const others = elsewhere === "" ? [] : [elsewhere];
  if (held === 0) return opened > 0 ? [`${takedowns(facts, opened)} allowed again.`, ...others] : others;
  const untils = (
    [
      [held - heldToEnd - heldToRelease, "somebody judges it"],
      [heldToEnd, `${heldToEnd === 1 ? "its" : "their"} alerts end`],
      [heldToRelease, "they are released"],
    ] as const
  ).filter(([count]) => count > 0);
  const said = untils.map(
    ([count, until]) => `${untils.length === 1 ? "" : `of ${formatCount(count)} `}until ${until}`,
  );
  return [`${takedowns(facts, held)} on hold${untils.length === 1 ? "" : ":"} ${said.join(", ")}.`, ...others];
}

/** "Takedowns of 2 organizations are on hold by incident 1, too.": what other incidents hold of it; empty: nothing. */
export function heldElsewhereSentence(facts: HeadlineFacts): string {
  if (facts.heldElsewhere === undefined) return "";
  const { organizations, incidents } = facts.heldElsewhere;
  return `${takedowns(facts, organizations)} ${onHoldBy(incidents)}${facts.held > 0 ? ", too" : ""}.`;
}

function takedowns({ alone, whole }: HeadlineFacts, count: number): string {
  return `Takedowns of ${alone !== null && whole.organizations === 1 ? alone.slug : countOf(count, "organization")} are`;
}

/** Returns what is left to do about the gates, and how; empty: nothing. */
export function gateActs({ held, heldToEnd, heldToRelease, endedAtMs }: HeadlineFacts, number: number): string[] {
  const judge = `Judge incident ${number} on its page or with \`flatline incidents judge ${number} VERDICT\``;
  const then =
    endedAtMs === null
      ? "The verdict real (they did die) or expected allows the takedowns now; " +
        "checker (it was wrong) allows them when the alerts have ended."
      : "Each verdict allows the takedowns: checker (it was wrong), real (they did die) or expected.";
  return [
    ...(held > heldToEnd + heldToRelease ? [`${judge}. ${then}`] : []),
    ...(held > 0 && heldToRelease > 0
      ? [`Release the takedowns on the page or with \`flatline incidents release ${number} --comment WHY\`.`]
      : []),
  ];
}

function endSentences({ family, isBack, alone }: HeadlineFacts): string[] {
  if (!isBack) return ["What ended it is a change of the configuration."];
  if (family !== "deaths") return [];
  return [alone === null ? "All rates are back under their thresholds." : "Its rate is back under the threshold."];
}

/** "security.example.com has answered 503 since 02:10: none of the 300 organizations is checked.", and what follows. */
function platformSentences(
  { startedAtMs, endedAtMs, whole: { watched } }: HeadlineFacts,
  { host, status, isSilent, unwatched, onHold, checks }: NonNullable<HeadlineFacts["platform"]>,
  nowMs: number,
): readonly [string, string] {
  const who = host === "embedded" ? "The store of events" : host;
  const answered = status === null ? null : `answered ${status}`;
  if (endedAtMs !== null)
    return [
      `${who} ${answered ?? (isSilent ? "did not answer" : "gave no result")} for ` +
        `${durationText(endedAtMs - startedAtMs)}.`,
      "Nothing is known of the time between.",
    ];
  const since = timeText(startedAtMs, nowMs);
  const first = `${who} has ${answered ?? (isSilent ? "not answered" : "given no result")} since ${since}`;
  if (unwatched === 0) return [`${first}.`, `Only ${checks.join(", ")}: deaths are watched.`];
  const whose = onHold === 0 || onHold === unwatched ? "Takedowns" : `Takedowns of ${countOf(onHold, "organization")}`;
  return [
    `${first}: ${unwatchedClause(unwatched, watched)} checked.`,
    `${whose} ${onHold === 0 ? "go on" : "are on hold"}, as \`whenUnknown\` says.`,
  ];
}

function unwatchedClause(unwatched: number, watched: number): string {
  if (watched === 1) return "the one organization is not";
  if (unwatched >= watched) return `none of the ${formatCount(watched)} organizations is`;
  return `${formatCount(unwatched)} of the ${formatCount(watched)} organizations ${unwatched === 1 ? "is" : "are"} not`;
}

function otherSentence(
  { family, hasNoEvents, alone, whole, part, endedAtMs, startedAtMs }: HeadlineFacts,
  nowMs: number,
): string {
  const who = alone?.slug ?? countOf((part ?? whole).organizations, "organization");
  if (hasNoEvents && endedAtMs === null) return `No event of ${who} has come yet.`;
  const what = family === "no-events" ? "The flow of events" : `The check ${family}`;
  return endedAtMs === null
    ? `${what} of ${who} is not ok since ${timeText(startedAtMs, nowMs)}.`
    : `${what} of ${who} was not ok for ${durationText(endedAtMs - startedAtMs)}.`;
}
