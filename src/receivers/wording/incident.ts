import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../../alerting/notify/notification.ts";
import { formatCount, formatExpected } from "../../base/numbers.ts";
import { ratioWords } from "../../contract/death-counts.ts";
import { opinionWords } from "../../contract/second-opinion.ts";
import { headline } from "../../words/headline.ts";
import { countOf, durationText, instantText, shareText } from "../../words/numbers.ts";
import { sampleLines } from "./broken.ts";
import { beganText } from "./evidence.ts";
import type { Message } from "./message.ts";
import { isEscalation, noticeTitle } from "./notice.ts";
import { capitalized, plainText } from "./text.ts";

/**
 * Returns what is said of an incident of several organizations (CONTRACT 15, Parts): its headline, what is new of it, the worst five
 * by excess, and how many more there are; with `isState` nothing of what is new. Numbers are totals; names are those of the receiver's
 * part only.
 */
export function incidentMessage(
  notification: Notification,
  incident: IncidentNotice,
  notices: readonly AlertNotice[],
  isState: boolean,
): Pick<Message, "title" | "intro" | "facts" | "sections" | "lines" | "sample"> {
  const { status, fleet, generatedAtMs: nowMs } = notification;
  const isOver = status === "resolved";
  const [title, ...more] = headlineOf(incident, nowMs);
  const news = isOver ? [] : newsSentences(incident, isState ? [] : notices, nowMs);
  const silenced = !isOver && incident.own.firing === 0 ? ["All that fires is silenced."] : [];
  return {
    title,
    intro: [...silenced, ...more, ...news].join(" ") || `Since ${instantText(incident.startedAtMs, nowMs)}.`,
    facts: [...incidentFacts(incident, fleet, nowMs), ...(fleet === null ? [] : typeFacts(fleet))],
    sections: [],
    lines: isOver ? [] : worstLines(incident, notices),
    sample: isOver || fleet === null ? [] : sampleLines(fleet.sample, nowMs),
  };
}

/** Returns the headline of an incident as a message has it: on single lines. */
export function headlineOf({ headline: facts }: IncidentNotice, nowMs: number): readonly [string, ...string[]] {
  const [first, ...more] = headline(facts, { nowMs, withPeople: true });
  return [plainText(first), ...more.map(plainText)];
}

/** What has changed since the last message, and what this reader has to do. */
function newsSentences(incident: IncidentNotice, notices: readonly AlertNotice[], nowMs: number): string[] {
  const { number, acknowledgedBy, startedAtMs, own } = incident;
  const joined = notices.filter(({ event }) => event === "firing" || event === "unknown").length;
  const worse = notices.filter(({ event }) => event === "escalated").length;
  const isReminder = notices.length > 0 && notices.every(({ reason }) => reason === "repeat_interval");
  const lasted = durationText(nowMs - startedAtMs);
  return [
    ...(joined > 0 && joined < own.firing ? [`${formatCount(joined)} of them began since the last message.`] : []),
    ...(worse === 0 ? [] : [`${countOf(worse, "organization")} got worse.`]),
    ...(notices.some(isEscalation) ? [`Nobody has acknowledged incident ${number} for ${lasted}.`] : []),
    ...(isReminder ? [`It has been open for ${lasted}.`] : []),
    ...(acknowledgedBy === null ? [] : [`${plainText(acknowledgedBy)} has acknowledged it.`]),
  ];
}

/** Returns the second opinion as a sentence; empty where there is none. */
export function opinionSentence({ secondOpinion }: Pick<IncidentNotice, "secondOpinion">): string {
  return secondOpinion === null ? "" : `${capitalized(opinionWords(secondOpinion))}.`;
}

/** The same as a fact. */
export function opinionFacts(incident: Pick<IncidentNotice, "secondOpinion">): Message["facts"] {
  const value = opinionSentence(incident).replace(/\.$/, "");
  return value === "" ? [] : [{ name: "Second opinion", value }];
}

function incidentFacts(incident: IncidentNotice, fleet: FleetNotice | null, nowMs: number): Message["facts"] {
  const { family, deaths, onsetAtMs, organizations, firing, own } = incident;
  const marker = fleet?.evidence?.markers.findLast(({ atMs }) => onsetAtMs !== null && atMs <= onsetAtMs) ?? null;
  const counted = deaths === null ? null : { currentCount: deaths.count, expectedCount: deaths.expected };
  const ratio = counted === null ? null : ratioWords(counted);
  return [
    { name: "Firing", value: `${formatCount(firing)} of ${countOf(organizations, "organization")}` },
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
    ...(family === "deaths" ? [...overFacts(incident, nowMs), ...opinionFacts(incident)] : []),
    ...(own.lastError === null ? [] : [{ name: "Last error", value: plainText(own.lastError) }]),
  ];
}

/** Returns since when nothing is unusual, and by when it ends, as facts for a medium with its reader's clock; none while it goes on. */
export function overFacts({ headline: { excess } }: IncidentNotice, nowMs: number): Message["facts"] {
  if (excess === null || excess.state !== "stopped" || excess.quietSinceMs === null) return [];
  const { quietSinceMs: sinceMs, expectedEndAtMs: endsMs } = excess;
  const since = { name: "Nothing unusual since", value: instantText(sinceMs, nowMs), atMs: sinceMs };
  return endsMs === null ? [since] : [since, { name: "It ends by", value: instantText(endsMs, nowMs), atMs: endsMs }];
}

// As many as the evaluation names per organization (CONTRACT 2): the others are the tail.
const shownTypes = 5;

/** The asset types of the deaths that are more than usual: all that a service says of what they share. */
function typeFacts({ assetTypes }: FleetNotice): Message["facts"] {
  if (assetTypes.length === 0) return [];
  const shown = assetTypes
    .slice(0, shownTypes)
    .map(({ assetType, share, count }) => `${plainText(assetType)} ${shareText(share)} (${formatCount(count)})`);
  const missing = assetTypes.length - shown.length;
  return [{ name: "Asset types", value: [...shown, ...(missing === 0 ? [] : [`+${missing} more`])].join(", ") }];
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
