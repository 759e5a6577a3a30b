import type { AlertNotice } from "../../alerting/notify/notification.ts";
import { checkKind } from "../../checks/checks.ts";
import { minuteMs } from "../../base/time.ts";
import { actSentence, actTitle, isActNotice } from "./acts.ts";
import { evidenceSentences } from "./evidence.ts";
import { formatExpected } from "../../base/numbers.ts";
import { countText, ratioWords, timesWords } from "../../contract/death-counts.ts";
import { durationText, hoursText, instantText } from "../../words/numbers.ts";
import { capitalized, plainText } from "./text.ts";

/** Returns whether it is sent because no person took the alert. */
export function isEscalation({ reason }: AlertNotice): boolean {
  return reason === "escalation";
}

/** `fail: acme, 5,119 deaths (459×)`: what one would read on a phone's lock screen; `word` is what happened. */
export function noticeTitle(notice: AlertNotice, word = eventWord(notice)): string {
  if (notice.event === "test") return "[TEST] test notification";
  const { subject: ofKind = ` ${notice.check}` } = checkKind(notice.check);
  const subject = `${plainText(notice.slug)}${ofKind}`;
  if (isActNotice(notice)) return `${marker(notice)}${actTitle(notice, subject)}`;
  const ended = isRemoved(notice) ? "no longer configured" : lastedText(notice);
  const numbers = notice.status === "firing" ? shortNumbers(notice) : ended;
  return `${marker(notice)}${word}: ${subject}${numbers === null ? "" : `, ${numbers}`}`;
}

/** Returns the second line: what the title has no room for; `nowMs` is when the notification was made. */
export function noticeSentence(notice: AlertNotice, nowMs: number): string {
  if (notice.event === "test") return "This is a test of flatline's notifications. Nothing is wrong.";
  const prefix = notice.isTest ? `${testSentence} ` : "";
  if (isActNotice(notice)) return prefix + actSentence(notice);
  return prefix + (notice.status === "resolved" ? endedSentence(notice, nowMs) : firingSentence(notice, nowMs));
}

const testSentence = "This is a test: its numbers are made up.";

/** Returns what changed with the spike of an incident of one organization, and what this reader has to do: its headline has the rest. */
export function changeSentences(
  notice: AlertNotice,
  { number }: { readonly number: number },
  nowMs: number,
): readonly string[] {
  const { event, status, severity, previousSeverity, startsAtMs } = notice;
  const test = notice.isTest === true ? [testSentence] : [];
  if (status === "resolved") return [...test, peakSentence(notice, nowMs).trim()].filter((sentence) => sentence !== "");
  const lastedMs = nowMs - startsAtMs;
  const lasted = durationText(lastedMs);
  return [
    ...test,
    ...(event === "escalated" ? [`It got worse: ${severity}, before ${previousSeverity}.`] : []),
    ...(event === "deescalated" ? [`It got better: ${severity}, before ${previousSeverity}.`] : []),
    ...(event === "reminder" && lastedMs >= minuteMs ? [`It has been open for ${lasted}.`] : []),
    ...(isEscalation(notice) ? [`Nobody has acknowledged incident ${number} for ${lasted}.`] : []),
    ...(event === "firing" ? [`Detected ${instantText(startsAtMs, nowMs)}.`] : []),
  ];
}

/** Returns what else is known, for those who read on; null when nothing is. */
export function noticeDetails(notice: AlertNotice): string | null {
  if (notice.event === "test" || isActNotice(notice)) return null;
  const parts = notice.status === "resolved" ? endedDetails(notice) : firingDetails(notice);
  return parts.length === 0 ? null : parts.join(" ");
}

/** "5,119 deaths in 24 h, 11.1 expected: 459 times as many."; null where the result has no counts. */
function countsSentence(notice: AlertNotice): string | null {
  const text = countsText(notice);
  const currentCount = notice.counts?.currentCount ?? null;
  const expectedCount = notice.counts?.expectedCount ?? null;
  if (text === null || currentCount === null || expectedCount === null || expectedCount === 0) {
    return text === null ? null : `${text}.`;
  }
  return `${text}: ${timesWords(currentCount / expectedCount)}.`;
}

/** "5,119 deaths in 24 h, 11.1 expected", as much of it as is known. */
function countsText({ counts, result }: AlertNotice): string | null {
  if (counts === null || counts.currentCount === null) return null;
  const { currentCount, expectedCount } = counts;
  const windowHours = result?.threshold["windowHours"];
  const window = typeof windowHours === "number" ? ` in ${hoursText(windowHours)}` : "";
  const deaths = `${countText(currentCount, result)}${window}`;
  if (expectedCount === null) return deaths;
  return `${deaths}, ${expectedCount === 0 ? "none" : formatExpected(expectedCount)} expected`;
}

function firingSentence(notice: AlertNotice, nowMs: number): string {
  const since = instantText(notice.startsAtMs, nowMs);
  const alone = isEscalation(notice) ? ` Nobody has acknowledged it since ${since}.` : "";
  const forMs = nowMs - notice.startsAtMs;
  const lasts = forMs < minuteMs ? "" : ` for ${durationText(forMs)}`;
  if (notice.kind === "unknown") {
    const error = notice.error === null ? "" : `: ${notice.error.reason} (${plainText(notice.error.message)})`;
    return `No result${lasts}${error}.${alone}`;
  }
  const what = stateSentence(notice);
  const state = lasts === "" ? "" : ` ${notice.severity === "fail" ? "Fail" : "Warn"}${lasts}.`;
  return `${what ?? ""}${state}${alone}`.trim();
}

function firingDetails(notice: AlertNotice): string[] {
  return notice.kind === "unknown"
    ? [
        notice.check === "dead-asset-spike"
          ? "Nothing is known of this organization until there is a result."
          : `What ${notice.check} looks at is not known until there is a result.`,
      ]
    : evidenceSentences(notice);
}

function endedSentence(notice: AlertNotice, nowMs: number): string {
  const lasted = lastedText(notice);
  const after = lasted === null ? "" : ` ${lasted}`;
  if (isRemoved(notice)) {
    const what = notice.reason === "organization_removed" ? "The organization is" : "The check is";
    return `${what} no longer configured, so nothing is known of it any more.${firedText(notice)}`;
  }
  if (notice.kind === "unknown") {
    const severity = notice.result === null ? "" : ` The last one is ${notice.result.severity}.`;
    return `There are results again${after} without one.${severity}`;
  }
  const { back, ended = back } = checkKind(notice.check);
  return `${capitalized(ended)}${after}.${notice.check === "dead-asset-spike" ? peakSentence(notice, nowMs) : ""}`;
}

function endedDetails(notice: AlertNotice): string[] {
  const now = notice.check === "dead-asset-spike" && notice.kind === "verdict" ? countsText(notice) : null;
  return now === null || isRemoved(notice) ? [] : [`Now ${now}.`];
}

function stateSentence(notice: AlertNotice): string | null {
  const kind = checkKind(notice.check);
  if (kind.isSaidByFinding) return firstFinding(notice);
  return kind.sentenceOf === undefined ? countsSentence(notice) : kind.sentenceOf(notice, durationText);
}

/** The finding that says it all, as a sentence; what follows it names the single ones. */
function firstFinding({ result, check }: AlertNotice): string {
  const sentence = capitalized(plainText(result?.findings[0]?.message ?? `${check} found something`));
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Returns whether a reload ended it. */
export function isRemoved({ reason }: AlertNotice): boolean {
  return reason === "organization_removed" || reason === "check_removed";
}

function firedText({ startsAtMs, endsAtMs }: AlertNotice): string {
  return endsAtMs === null ? "" : ` The alert had lasted for ${durationText(endsAtMs - startsAtMs)}.`;
}

function peakSentence({ peak, result }: AlertNotice, nowMs: number): string {
  if (peak === null) return "";
  const deaths = peak.currentCount === null ? "" : ` with ${countText(peak.currentCount, result)}`;
  return ` Its peak was ${peak.severity}${deaths}, ${instantText(peak.atMs, nowMs)}.`;
}

function shortNumbers(notice: AlertNotice): string | null {
  if (notice.kind === "unknown") return notice.error === null ? "no result" : `no result (${notice.error.reason})`;
  const kind = checkKind(notice.check);
  if (kind.numberOf !== undefined) return kind.numberOf(notice, durationText);
  const currentCount = notice.counts?.currentCount ?? null;
  if (currentCount === null) return null;
  const ratio = notice.counts === null ? null : ratioWords(notice.counts);
  return `${countText(currentCount, notice.result)}${ratio === null ? "" : ` (${ratio})`}`;
}

function lastedText({ startsAtMs, endsAtMs }: AlertNotice): string | null {
  return endsAtMs === null ? null : `after ${durationText(endsAtMs - startsAtMs)}`;
}

function marker(notice: AlertNotice): string {
  return notice.isTest ? "[TEST] " : "";
}

function eventWord({ event, severity }: AlertNotice): string {
  switch (event) {
    case "escalated":
      return `escalated to ${severity}`;
    case "deescalated":
      return `down to ${severity}`;
    case "reminder":
      return `still ${severity}`;
    case "resolved":
    case "recovered":
    case "acknowledged":
    case "unacknowledged":
    case "judged":
    case "released":
    case "commented":
    case "test":
      return event;
    case "firing":
    case "unknown":
      return severity;
    default:
      return event satisfies never;
  }
}
