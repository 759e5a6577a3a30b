import { pageUrl } from "../../base/uri-text.ts";
import type { AlertNotice, IncidentNotice, Notification } from "../../alerting/notify/notification.ts";
import { compareSeverity } from "../../contract/severity.ts";
import { ownOrigins } from "../../base/broken-address.ts";
import { actSentence, isActNotice } from "./acts.ts";
import { brokenMessage, brokenSection, originsOf, sampleLines } from "./broken.ts";
import { firstLines, headlineOf, incidentMessage, opinionFacts, overFacts } from "./incident.ts";
import type { Message, MessageLink, MessageSection } from "./message.ts";
import { noticeCarriers, noticeFacts } from "./notice-facts.ts";
import { changeSentences, isRemoved, noticeDetails, noticeSentence, noticeTitle } from "./notice.ts";
import { countOf } from "../../words/numbers.ts";
import { plainText } from "./text.ts";

// This many alerts are shown in full; each further one has a line.
const maxSections = 3;
// A link cannot be cut: a longer one would take the room of the text, and is left out.
const longestLink = 400;

/**
 * Returns the notification in words: numbers first, then meaning, evidence before advice. Links: of one alert its page, then `acts`,
 * then the application; of several the page of all alerts. No text of others holds an address that could be followed.
 */
export function messageOf(
  notification: Notification,
  acts: readonly MessageLink[] = [],
  maxLinkLength = longestLink,
): Message {
  return brokenMessage(wordedMessage(notification, { acts, maxLinkLength }), originsOf(notification));
}

/** Returns how an incident stands, for a message that is edited (CONTRACT 15): but where one organization has it always the whole. */
export function stateMessageOf(
  notification: Notification,
  acts: readonly MessageLink[],
  maxLinkLength: number,
): Message {
  const { incident } = notification;
  const isWhole = incident !== null && incident.own.organizations !== 1;
  const message = brokenMessage(wordedMessage(notification, { acts, maxLinkLength, isWhole }), originsOf(notification));
  if (isWhole || incident === null) return message;
  const { acknowledgedBy } = incident;
  return {
    ...message,
    intro: acknowledgedBy === null ? message.intro : `${plainText(acknowledgedBy)} has acknowledged it.`,
  };
}

interface Wording extends Linked {
  /** Whether the message shows the whole incident, also when only one organization has changed. */
  readonly isWhole?: boolean;
}

interface Linked {
  readonly acts: readonly MessageLink[];
  readonly maxLinkLength: number;
}

function wordedMessage(notification: Notification, { acts, maxLinkLength, isWhole = false }: Wording): Message {
  const notices = latestNotices(notification.alerts);
  const { externalUrl, incident } = notification;
  const page =
    incident === null
      ? { label: "Open incidents", url: pageUrl(externalUrl, "incidents") }
      : { label: `Open incident ${incident.number}`, url: incident.url };
  const links = httpLinks([page], maxLinkLength);
  const severity = notification.status === "resolved" ? "ok" : notification.severity;
  const isOfIncident = isWhole || notification.fleet !== null || isOfSeveral(notices);
  if (incident !== null && !notices.some(isActNotice) && isOfIncident)
    return { ...incidentMessage(notification, incident, notices, isWhole), severity, links: [...links, ...acts] };
  const [only] = notices;
  if (incident !== null && only !== undefined && isOfOneSpike(incident, notices))
    return { ...spikeMessage(notification, incident, only, { acts, maxLinkLength }), severity };
  const title =
    only !== undefined && notices.length === 1
      ? noticeTitle(only)
      : only === undefined
        ? plainText(notification.summary)
        : groupTitle(notices);
  // One person did it to several alerts at once, for one reason.
  const act = notices.every(isActNotice) && notices.length > 1 ? only : undefined;
  // The title has the number of opened gates.
  const said = act !== undefined && isJudgement(notices) ? { ...act, event: "judged" as const } : act;
  const isShort = act === undefined && notices.length <= maxSections;
  return {
    severity,
    title,
    intro: said === undefined ? null : actSentence(said),
    facts: [],
    sections: isShort
      ? notices.map((notice) => ({
          ...wordedSection(notice, notification.generatedAtMs),
          links: notices.length === 1 ? noticeLinks(notice, externalUrl, { acts, maxLinkLength }) : [],
        }))
      : [],
    lines: isShort
      ? []
      : firstLines(
          notices.map((notice) => noticeTitle(notice)),
          notices.length,
        ),
    sample: [],
    links: notices.length === 1 ? [] : links,
  };
}

/** Returns whether a message is of the spike of one organization, which is all that the reader is told of its incident. */
function isOfOneSpike({ headline: { alone } }: IncidentNotice, notices: readonly AlertNotice[]): boolean {
  const [only, ...others] = notices;
  if (only === undefined || others.length > 0 || isActNotice(only) || only.event === "test") return false;
  return alone !== null && only.check === "dead-asset-spike" && only.kind === "verdict" && !isRemoved(only);
}

/** The headline of the incident, then what changed, then everything that is known of the alert. */
function spikeMessage(
  { generatedAtMs: nowMs, externalUrl }: Notification,
  incident: IncidentNotice,
  notice: AlertNotice,
  linked: Linked,
): Omit<Message, "severity"> {
  const [title, ...more] = headlineOf(incident, nowMs);
  const isFiring = notice.status === "firing";
  const section = {
    ...wordedSection(notice, nowMs),
    sentence: [...more, ...changeSentences(notice, incident, nowMs)].join(" "),
    links: noticeLinks(notice, externalUrl, linked),
  };
  const facts = isFiring ? [...section.facts, ...overFacts(incident, nowMs), ...opinionFacts(incident)] : section.facts;
  return {
    title: `${notice.isTest === true ? "[TEST] " : ""}${title}`,
    intro: null,
    facts: [],
    sections: [{ ...section, facts }],
    lines: [],
    sample: [],
    links: [],
  };
}

/** Returns whether the alert is made up, to try a receiver. */
export function isTest(notice: Pick<AlertNotice, "event" | "isTest">): boolean {
  return notice.event === "test" || notice.isTest === true;
}

function isOfSeveral(notices: readonly AlertNotice[]): boolean {
  return new Set(notices.map(({ slug }) => slug)).size > 1;
}

/** Returns the page of the incident, what can be done about it at once, then where its organization is looked at. */
export function noticeLinks(
  notice: AlertNotice,
  externalUrl: string | null,
  { acts, maxLinkLength }: Linked = { acts: [], maxLinkLength: longestLink },
): MessageLink[] {
  const { slug, url, incident } = notice;
  const isOfAlert = !isTest(notice);
  // The page of the incident links to that of the organization.
  const isOwn = url !== null && externalUrl !== null && url.startsWith(externalUrl);
  const page =
    isOfAlert && incident !== undefined
      ? { label: `Open incident ${incident.number}`, url: pageUrl(externalUrl, `incidents/${incident.number}`) }
      : { label: "Open flatline", url: externalUrl };
  return [
    ...httpLinks([page], maxLinkLength),
    ...acts,
    ...httpLinks(isOwn || !isOfAlert ? [] : [{ label: `Open ${plainText(slug)}`, url }], maxLinkLength),
  ];
}

/** One alert in full, but for its links. */
export function noticeSection(notice: AlertNotice, nowMs: number, externalUrl: string | null): MessageSection {
  return brokenSection(wordedSection(notice, nowMs), ownOrigins(externalUrl, notice.url));
}

function wordedSection(notice: AlertNotice, nowMs: number): MessageSection {
  const lines = { title: noticeTitle(notice), sentence: noticeSentence(notice, nowMs), links: [] };
  // The notification of an act does not repeat the facts of the alert.
  if (isActNotice(notice))
    return { ...lines, details: null, facts: [], carriers: [], carriersOmitted: 0, sample: [], action: null };
  return {
    ...lines,
    details: noticeDetails(notice),
    facts: noticeFacts(notice, nowMs),
    carriers: notice.status === "firing" ? noticeCarriers(notice) : [],
    carriersOmitted: notice.status === "firing" ? (notice.result?.findingsOmitted ?? 0) : 0,
    sample: sampleLines(notice.sample, nowMs),
    action:
      notice.status === "firing" && typeof notice.result?.suggestedAction === "string"
        ? plainText(notice.result.suggestedAction)
        : null,
  };
}

/**
 * Returns where each alert stands now, the worst first, resolved ones last: several changes of one alert in a group are one thing
 * to a reader. An alert that began within the group keeps its first event, with the last severity.
 */
export function latestNotices(alerts: readonly AlertNotice[]): AlertNotice[] {
  const byId = new Map<string, AlertNotice>();
  for (const notice of alerts) {
    const earlier = byId.get(notice.id);
    const isStillNew = earlier?.event === "firing" && notice.status === "firing";
    byId.set(
      notice.id,
      isStillNew ? { ...notice, event: "firing", previousSeverity: earlier.previousSeverity } : notice,
    );
  }
  return [...byId.values()].toSorted((left, right) => {
    if (left.status !== right.status) return left.status === "firing" ? -1 : 1;
    return compareSeverity(right.severity, left.severity);
  });
}

/** Returns the links that a browser may open: the operator's template could hold anything. */
export function httpLinks(
  links: readonly { readonly label: string; readonly url: string | null }[],
  maxLinkLength = longestLink,
): MessageLink[] {
  return links.flatMap(({ label, url }) => {
    if (url === null || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return [];
    // The parsed form has no space, quote or angle bracket left that could end a link early.
    const href = new URL(url).href.replaceAll(/[|()'\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    return href.length > maxLinkLength ? [] : [{ label, url: href }];
  });
}

function judgedWord({ judgement }: AlertNotice): string {
  return judgement === undefined ? "judgement withdrawn" : `judged ${judgement.verdict}`;
}

/** Returns whether somebody judged all of these, whether that opened their gates or not. */
function isJudgement(notices: readonly AlertNotice[]): boolean {
  return notices.every(({ event, reason }) => event === "judged" || reason === "released_by_judgement");
}

function groupTitle(notices: readonly AlertNotice[]): string {
  const [first] = notices;
  if (first !== undefined && notices.every(isActNotice)) {
    const isJudged = isJudgement(notices);
    const word = isJudged ? judgedWord(first) : first.event === "released" ? "takedowns allowed" : first.event;
    const slugs = new Set(notices.map(({ slug }) => slug)).size;
    const what = slugs === 1 ? `${plainText(first.slug)}, ${notices.length} alerts` : `${slugs} organizations`;
    const gates = new Set(notices.filter(({ event }) => event === "released").map(({ slug }) => slug)).size;
    const opened = !isJudged || gates === 0 ? "" : `, takedowns of ${countOf(gates, "organization")} allowed`;
    return `${word}: ${what}${opened}`;
  }
  const firing = notices.filter(({ status }) => status === "firing");
  const resolved = notices.length - firing.length;
  const bySeverity = (["fail", "unknown", "warn"] as const).flatMap((severity) => {
    const count = firing.filter((notice) => notice.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  const parts = [...bySeverity, ...(resolved === 0 ? [] : [`${resolved} resolved`])];
  return `${notices.length} alerts: ${parts.join(", ")}`;
}
