import type { AlertNotice, IncidentNotice, Notification } from "../alerting/notify/notification.ts";
import { breakAddress, breakAddresses, ownOrigins } from "../base/broken-address.ts";
import { formatCount, formatExpected } from "../base/numbers.ts";
import { minuteMs } from "../base/time.ts";
import { pageUrl } from "../base/url.ts";
import { checkKind } from "../checks/checks.ts";
import { brokenFinding } from "../contract/healthcheck.ts";
import { compareSeverity, type Severity } from "../contract/severity.ts";
import { actSentence, actTitle, alertLine, isActNotice, isTest, peakSentence, summaryOf } from "./alert.ts";
import { alertFacts, incidentFacts, labelFacts, labelsFact, type Fact } from "./facts.ts";
import { gateActs, gateSentences, headline } from "./headline.ts";
import { countOf, durationText, instantText, timeText } from "./numbers.ts";
import { plainText } from "../base/outside-text.ts";

export interface MessageLink {
  readonly label: string;
  readonly url: string;
}

export interface MessageList {
  readonly heading?: string;
  readonly items: readonly string[];
  /** How many more there are [0]. */
  readonly more?: number;
}

/**
 * A notification in words, in reading order, before a receiver fits it to its medium. Plain text on single lines,
 * without links to foreign addresses. A receiver escapes its medium's markup.
 */
export interface Message {
  /** Decides the colour and the mark; ok: all is resolved. */
  readonly severity: Severity;
  readonly title: string;
  /** Whole sentences; empty: the title is enough. */
  readonly text: string;
  /** What the reader has to do, on a line of its own below the text; empty: nothing. */
  readonly todo: string;
  readonly links: readonly MessageLink[];
  readonly facts: readonly Fact[];
  readonly lists: readonly MessageList[];
}

export interface Wording {
  /** Links that act [none]. */
  readonly acts?: readonly MessageLink[];
  /** A link cannot be cut: a longer one is left out. */
  readonly longestLink?: number;
  /** The part of an incident that a message shows (CONTRACT 18): its state or its changes [both]. */
  readonly about?: "state" | "change";
}

type Words = Pick<Message, "title" | "text" | "todo" | "facts" | "lists">;

// People read messages on a phone. The link has more.
const shownLines = 5;
const shownFindings = 8;

/** Returns a notification in words: an incident's headline (CONTRACT 19), then its changes and facts. */
export function messageOf(notification: Notification, wording: Wording = {}): Message {
  const { status, severity, incident } = notification;
  const notices = latestNotices(notification.alerts);
  const words =
    notices.length > 0 && notices.every(isActNotice)
      ? actWords(notices)
      : incident === null
        ? alertWords(notification, notices)
        : incidentWords(notification, incident, notices, wording.about);
  const message = {
    severity: status === "resolved" ? ("ok" as const) : severity,
    links: linksOf(notification, notices, wording),
    ...words,
  };
  return cleaned(message, originsOf(notification));
}

/** Returns the origins of flatline's own links and the alerts'. */
export function originsOf({ externalUrl, alerts }: Pick<Notification, "externalUrl" | "alerts">): string[] {
  return ownOrigins(externalUrl, ...alerts.map(({ url }) => url));
}

/** Returns each alert's latest notice, the worst first, resolved ones last. An alert that began here stays new. */
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

/** Returns the message of one alert, for a receiver that keeps each alert alone. */
export function alertMessage(notice: AlertNotice, { generatedAtMs, externalUrl }: Notification): Message {
  const { severity, url } = notice;
  const words = oneAlertWords({ ...notice, labels: {} }, generatedAtMs);
  return cleaned({ severity, links: [], ...words }, ownOrigins(externalUrl, url));
}

function oneAlertWords(notice: AlertNotice, nowMs: number): Words {
  const [facts, lists] = [alertFacts(notice), alertLists(notice, nowMs)];
  return { title: alertLine(notice), text: "", todo: todoOf([notice]), facts, lists };
}

/** Returns an alert's lists: findings, and some dead assets. */
function alertLists(notice: AlertNotice, nowMs: number): MessageList[] {
  const { result, status, check, kind, counts, slug, sample, url } = notice;
  if (status !== "firing" || kind === "unknown") return [];
  // The first finding repeats the alert's line or its count.
  const isSaid = checkKind(check).isSaidByFinding || counts !== null;
  const findings = (result?.findings ?? [])
    .filter((finding, index) => !(isSaid && (index === 0 || (finding.kind === check && finding.ref === slug))))
    .map((finding) => {
      const { ref, message } = brokenFinding(finding, ownOrigins(url));
      return ref === null || ref === "" || message.includes(ref) ? message : `${ref}: ${message}`;
    });
  return [
    {
      heading: check === "dead-asset-spike" ? "What these deaths share" : "What was found",
      ...first(findings, findings.length + (result?.findingsOmitted ?? 0), shownFindings),
    },
    sampleList(sample, nowMs),
  ];
}

/** "What to do: …": about the cause, then about the gates; empty: nothing is left to do. */
function todoOf(notices: readonly AlertNotice[], incident: IncidentNotice | null = null): string {
  const firing = notices.filter(({ status }) => status === "firing");
  // A sample incident has no page and no gate.
  const gates = incident === null || incident.number === 0 ? [] : gateActs(incident.headline, incident.number);
  const all = [...(firing.length === 0 ? [] : adviceOf(firing, incident?.headline ?? null)), ...gates];
  return all.length === 0 ? "" : `What to do: ${all.join(" ")}`;
}

/** The advice of the worst alert's check; a judgement takes its place. */
function adviceOf(firing: readonly AlertNotice[], facts: IncidentNotice["headline"] | null): readonly string[] {
  if (facts?.platform) return ["Find out why there is no result. flatline asks again by itself."];
  if (facts?.judgement?.verdict === "checker") return ["Repair the liveness checker."];
  if (facts?.judgement) return [];
  return firing.flatMap(({ result }) => result?.suggestedAction ?? []).slice(0, 1);
}

function actWords(notices: readonly AlertNotice[]): Words {
  const slugs = [...new Set(notices.map(({ slug }) => slug))];
  return {
    title: actTitle(notices),
    text: notices.slice(0, 1).map(actSentence).join(""),
    todo: "",
    facts: [],
    lists: slugs.length === 1 ? [] : [first(slugs)],
  };
}

function alertWords(notification: Notification, notices: readonly AlertNotice[]): Words {
  const [only, ...others] = notices;
  if (only?.event === "test") {
    const text = "This is a test of flatline's notifications. Nothing is wrong.";
    return { title: "[TEST] test notification", text, todo: "", facts: labelFacts(only), lists: [] };
  }
  if (only !== undefined && others.length === 0) return oneAlertWords(only, notification.generatedAtMs);
  const lists = [first(notices.map(alertLine))];
  return { title: summaryOf(notification), text: "", todo: todoOf(notices), facts: [], lists };
}

/** The headline, the news and the facts. Numbers are totals; names are of the receiver's part only. */
function incidentWords(
  notification: Notification,
  incident: IncidentNotice,
  notices: readonly AlertNotice[],
  about: Wording["about"],
): Words {
  const { status, fleet, generatedAtMs: nowMs } = notification;
  const { family, own, headline: facts } = incident;
  const only = notices.length === 1 && own.organizations === 1 ? notices[0] : undefined;
  const isOver = status === "resolved";
  // An excess that is over is a fact, with its times.
  const excess = facts.excess?.state === "ongoing" ? facts.excess : null;
  const [title, ...more] = headline({ ...facts, excess }, nowMs);
  const changes = about === "state" ? [] : notices;
  const news = isOver ? [] : newsSentences(incident, notices, changes, { nowMs, isOne: only !== undefined });
  const isNewsOnly = about === "change" && news.length > 0;
  const isMadeUp = notices.some(isTest);
  return {
    title: isMadeUp ? `[TEST] ${title}` : title,
    text: [
      ...(isMadeUp ? ["This is a test: its numbers are made up."] : []),
      ...(isOver || own.firing > 0 ? [] : ["All that fires is silenced."]),
      ...(isNewsOnly ? [] : more),
      ...(isOver && only !== undefined ? peakSentence(only, nowMs) : []),
      ...news,
      // What is on hold may have changed, too.
      ...(isNewsOnly ? gateSentences(facts) : []),
    ].join(" "),
    todo: isNewsOnly ? "" : todoOf(notices, incident),
    facts: [
      ...incidentFacts(notification, incident, { notices, isOne: only !== undefined }),
      ...(only === undefined ? [] : alertFacts(only)),
    ],
    lists: [
      ...(isOver && family === "deaths" ? [] : [standing(incident, notices, only === undefined ? changes : [])]),
      ...(only === undefined ? [sampleList(isOver ? undefined : fleet?.sample, nowMs)] : alertLists(only, nowMs)),
    ],
  };
}

/** The changes by name, if the receiver gets each one, then the worst alerts that fire. */
function standing(
  { family, worst, own, headline: { isOneCause } }: IncidentNotice,
  notices: readonly AlertNotice[],
  changes: readonly AlertNotice[],
): MessageList {
  if (family !== "deaths") {
    // Many equal errors are the headline's: name no organization.
    const isSaid = new Set(notices.map(({ error }) => error?.reason)).size === 1 && own.organizations > shownLines;
    if (family === "unreachable" && isSaid) return { items: [] };
    return first(notices.map(alertLine), Math.max(notices.length, own.firing));
  }
  const changed = isOneCause
    ? []
    : changes.filter(({ event }) => event !== "firing" && event !== "reminder" && event !== "unknown");
  const named = new Set(changed.map(({ slug }) => slug));
  // The title has the count of a single organization.
  const others = own.organizations === 1 ? [] : worst.filter(({ slug }) => !named.has(slug));
  const lines = [
    ...changed.map(alertLine),
    ...others.map(({ slug, excess, count, expected }) => {
      const ratio = expected === 0 ? "" : ` (${formatExpected(count / expected)}×)`;
      return `${slug}: ${formatCount(excess)} more deaths than usual${ratio}`;
    }),
  ];
  return first(lines, own.organizations === 1 ? lines.length : Math.max(lines.length, own.firing));
}

/** The reasons of a new alert. Other reasons are late news of an older alert. */
const beginReasons: ReadonlySet<string> = new Set(["not_ok", "for_elapsed", "unknown_after_reached"]);

/** The changes since the last message, and what the reader has to do. */
function newsSentences(
  { number, acknowledgedBy, startedAtMs, own, headline: { acknowledgedAtMs } }: IncidentNotice,
  notices: readonly AlertNotice[],
  changes: readonly AlertNotice[],
  { nowMs, isOne }: { readonly nowMs: number; readonly isOne: boolean },
): string[] {
  const began = changes.filter(({ event, reason }) => event !== "reminder" && beginReasons.has(reason)).length;
  const worse = changes.filter(({ event }) => event === "escalated").length;
  const moved = isOne ? changes.filter(({ event }) => event === "escalated" || event === "deescalated") : [];
  const isReminder = changes.length > 0 && changes.every(({ reason }) => reason === "repeat_interval");
  const lasted = durationText(nowMs - startedAtMs);
  return [
    ...(began > 0 && began < own.firing ? [`${formatCount(began)} of them began since the last message.`] : []),
    ...moved.map(
      ({ severity, previousSeverity }) =>
        `It got ${worse > 0 ? "worse" : "better"}: from ${previousSeverity} to ${severity}.`,
    ),
    ...(isOne || worse === 0 ? [] : [`${countOf(worse, "organization")} got worse.`]),
    ...(notices.some(({ reason }) => reason === "escalation")
      ? [`Nobody has acknowledged incident ${number} for ${lasted}.`]
      : []),
    ...(isReminder && nowMs - startedAtMs >= minuteMs ? [`It has been open for ${lasted}.`] : []),
    ...(acknowledgedBy === null
      ? []
      : [`${acknowledgedBy} has acknowledged it, ${timeText(acknowledgedAtMs, nowMs)}.`]),
  ];
}

/** `hxxps://login[.]acme[.]example (URL, 15 Jan 09:40 UTC)`. */
function sampleList(sample: AlertNotice["sample"] = [], nowMs: number): MessageList {
  const items = sample.map(({ asset, assetType, deadAtMs }) => {
    const type = assetType === null ? "" : `${assetType}, `;
    return `${breakAddress(plainText(asset))} (${type}${instantText(deadAtMs, nowMs)})`;
  });
  return { heading: "Newest dead assets", items };
}

/** Returns the first items of a list, and how many of `count` are left. */
function first(items: readonly string[], count = items.length, most = shownLines): MessageList {
  const shown = items.slice(0, most);
  return { items: shown, more: count - shown.length };
}

/** The incident's page, its quick actions, then the page of its only organization. */
function linksOf(
  { externalUrl, incident }: Notification,
  notices: readonly AlertNotice[],
  { acts = [], longestLink = 400 }: Wording,
): MessageLink[] {
  const [only, ...others] = notices;
  const page =
    incident === null || incident.number === 0
      ? { label: "Open flatline", url: externalUrl }
      : { label: `Open incident ${incident.number}`, url: pageUrl(externalUrl, `incidents/${incident.number}`) };
  // The incident's page links to the organization's.
  const isOwn = externalUrl !== null && only?.url?.startsWith(externalUrl) === true;
  const isOne = only !== undefined && others.length === 0 && !isOwn && !isTest(only);
  const organization = isOne ? [{ label: `Open ${only.slug}`, url: only.url }] : [];
  return [...httpLinks([page], longestLink), ...acts, ...httpLinks(organization, longestLink)];
}

/** Returns the links that a browser may open. The operator's template can hold anything. */
export function httpLinks(
  links: readonly { readonly label: string; readonly url: string | null }[],
  longest = 400,
): MessageLink[] {
  return links.flatMap(({ label, url }) => {
    if (url === null || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return [];
    // The parsed form has no space, quote or angle bracket, which could end a link early.
    const href = new URL(url).href.replaceAll(/[|()'\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    return href.length > longest ? [] : [{ label, url: href }];
  });
}

/** Returns the message on single lines without empty parts, and breaks every address that is not in `own`. */
function cleaned({ title, text, todo, links, facts, lists, ...rest }: Message, own: readonly string[]): Message {
  const clean = (dirty: string): string => breakAddresses(plainText(dirty), own);
  return {
    ...rest,
    title: clean(title),
    text: clean(text),
    todo: clean(todo),
    links: links.map(({ label, url }) => ({ label: clean(label), url })),
    facts: facts.map((fact) => ({
      ...fact,
      label: clean(fact.label),
      text: fact.label === labelsFact ? plainText(fact.text) : clean(fact.text),
    })),
    lists: lists.flatMap(({ items, more = 0, ...list }) =>
      items.length + more === 0 ? [] : [{ ...list, items: items.map(clean), more }],
    ),
  };
}
