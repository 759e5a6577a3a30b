import type { AlertNotice, FleetNotice, IncidentNotice, Notification } from "../alerting/notify/notification.ts";
import { breakAddress, breakAddresses, ownOrigins } from "../base/broken-address.ts";
import { formatCount, formatExpected, formatNumber } from "../base/numbers.ts";
import { pageUrl } from "../base/uri-text.ts";
import { minuteMs } from "../base/time.ts";
import { checkKind } from "../checks/checks.ts";
import { deathWords } from "../contract/death-counts.ts";
import { brokenFinding } from "../contract/healthcheck.ts";
import { proposeJudgement } from "../contract/judgement.ts";
import { isOwnCheck } from "../contract/report.ts";
import { controlWords, opinionWords } from "../contract/second-opinion.ts";
import { compareSeverity, type Severity } from "../contract/severity.ts";
import { actSentence, actTitle, alertLine, isActNotice, isTest } from "./alert.ts";
import { headline } from "./headline.ts";
import { countOf, durationText, instantText, shareText } from "./numbers.ts";
import { plainText, sentence } from "./text.ts";

/** `Began`, `14 Jan 21:40 UTC`. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** The instant with which `text` begins, for a medium that shows times by its reader's clock; absent: it is none. */
  readonly atMs?: number;
}

export interface MessageLink {
  readonly label: string;
  /** http or https. */
  readonly url: string;
}

export interface MessageList {
  readonly heading?: string;
  readonly items: readonly string[];
  /** How many more there are than these [0]. */
  readonly more?: number;
}

/**
 * A notification in words, in the order in which it is read, before a receiver fits it to its medium. All of it is plain text on
 * single lines without markup, in which no address of others can be followed: a receiver escapes what its medium would read as markup.
 */
export interface Message {
  /** Decides the colour and the mark; ok when all is resolved. */
  readonly severity: Severity;
  readonly title: string;
  /** Whole sentences; empty: the title says it all. */
  readonly text: string;
  readonly links: readonly MessageLink[];
  readonly facts: readonly Fact[];
  readonly lists: readonly MessageList[];
}

export interface Wording {
  /** Links that act [none]. */
  readonly acts?: readonly MessageLink[];
  /** A link cannot be cut: a longer one would take the room of the text, and is left out. */
  readonly longestLink?: number;
  /** Of an incident that one message shows (CONTRACT 18): how it stands, or what has changed [both]. */
  readonly about?: "state" | "change";
}

type Words = Pick<Message, "title" | "text" | "facts" | "lists">;

// A message is read on a phone: more is behind the link.
const shownLines = 5;
const shownFindings = 8;
const shownTypes = 5;
// Together with the other facts these are within the ten fields of a Slack section.
const shownValues = 5;
const shownLabels = 12;

/** The name of the fact that has an alert's labels: they are the operator's, and their addresses stay. */
const labelsFact = "Labels";

/** Returns the notification in words: of an incident its headline (CONTRACT 19), what changed, then what is known. */
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

/** Returns the own origins of a notification: those that its links have. */
export function originsOf({ externalUrl, alerts }: Pick<Notification, "externalUrl" | "alerts">): string[] {
  return ownOrigins(externalUrl, ...alerts.map(({ url }) => url));
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

/** Returns one alert in words, whatever else its notification has: for who keeps each alert by itself. */
export function alertMessage(notice: AlertNotice, { generatedAtMs, externalUrl }: Notification): Message {
  const { severity, url } = notice;
  const [facts, lists] = [alertFacts({ ...notice, labels: {} }), alertLists(notice, generatedAtMs)];
  return cleaned(
    { severity, title: alertLine(notice), text: "", links: [], facts, lists },
    ownOrigins(externalUrl, url),
  );
}

/** Returns the lists of one alert: what its result found, some of its dead assets, and what to do. */
function alertLists(notice: AlertNotice, nowMs: number): MessageList[] {
  const { result, status, check, kind, sample = [], url } = notice;
  if (status !== "firing" || kind === "unknown") return [];
  // The first finding says what the line of the alert says, or its count.
  const isSaid = checkKind(check).isSaidByFinding || notice.counts !== null;
  const findings = (result?.findings ?? [])
    .filter((finding, index) => !(isSaid && (index === 0 || (finding.kind === check && finding.ref === notice.slug))))
    .map((finding) => {
      const { ref, message } = brokenFinding(finding, ownOrigins(url));
      const [text, subject] = [plainText(message), plainText(ref ?? "")];
      return subject === "" || text.includes(subject) ? text : `${subject}: ${text}`;
    });
  return [
    {
      heading: check === "dead-asset-spike" ? "What these deaths share" : "What was found",
      ...first(findings, findings.length + (result?.findingsOmitted ?? 0), shownFindings),
    },
    sampleList(sample, nowMs),
    { heading: "What to do", items: [result?.suggestedAction].flatMap((action) => action ?? []) },
  ];
}

function actWords(notices: readonly AlertNotice[]): Words {
  const [act] = notices;
  const slugs = [...new Set(notices.map(({ slug }) => slug))];
  return {
    title: actTitle(notices),
    text: act === undefined ? "" : actSentence(act),
    facts: [],
    lists: slugs.length === 1 ? [] : [first(slugs)],
  };
}

/** A test, or alerts of an incident that is not kept any more. */
function alertWords({ summary, generatedAtMs }: Notification, notices: readonly AlertNotice[]): Words {
  const [only, ...others] = notices;
  if (only?.event === "test")
    return {
      title: "[TEST] test notification",
      text: "This is a test of flatline's notifications. Nothing is wrong.",
      facts: labelFacts(only),
      lists: [],
    };
  if (only === undefined || others.length > 0)
    return { title: summary, text: "", facts: [], lists: [first(notices.map(alertLine))] };
  return { title: alertLine(only), text: "", facts: alertFacts(only), lists: alertLists(only, generatedAtMs) };
}

/**
 * The headline of an incident, what is new of it, what is known, and the worst five by excess. Numbers are totals; names are those
 * of the receiver's part only. Of one organization everything that is known of its alert.
 */
function incidentWords(
  notification: Notification,
  incident: IncidentNotice,
  notices: readonly AlertNotice[],
  about: Wording["about"],
): Words {
  const { status, fleet, generatedAtMs: nowMs } = notification;
  const only = notices.length === 1 && incident.own.organizations === 1 ? notices[0] : undefined;
  const { excess } = incident.headline;
  // What is over is a fact with its instants.
  const facts = { ...incident.headline, excess: excess?.state === "ongoing" ? excess : null };
  const [title, ...more] = headline(facts, { nowMs, withPeople: true });
  const isOver = status === "resolved";
  const mark = notices.some(isTest) ? "[TEST] " : "";
  const isState = about === "state";
  const news = isOver ? [] : newsSentences(incident, notices, { nowMs, isState, isOne: only !== undefined });
  return {
    title: `${mark}${title}`,
    text: [
      ...(mark === "" ? [] : ["This is a test: its numbers are made up."]),
      ...(isOver || incident.own.firing > 0 ? [] : ["All that fires is silenced."]),
      ...(about === "change" && news.length > 0 ? [] : more),
      ...(only === undefined ? [] : alertSentences(only, nowMs)),
      ...news,
    ].join(" "),
    facts: [
      ...incidentFacts(incident, { fleet, notices, nowMs, isOver, isOne: only !== undefined }),
      ...(only === undefined ? [] : alertFacts(only)),
    ],
    lists: [
      ...(isOver && incident.family === "deaths" ? [] : [standing(incident, notices, isState || only !== undefined)]),
      ...(only === undefined ? [sampleList((isOver ? null : fleet)?.sample ?? [], nowMs)] : alertLists(only, nowMs)),
    ],
  };
}

/** What ended and what a receiver is told of by name, then the worst of what fires. */
function standing(incident: IncidentNotice, notices: readonly AlertNotice[], isUnchanged: boolean): MessageList {
  const { family, worst, own, headline: facts } = incident;
  const isChanged = ({ event }: AlertNotice): boolean =>
    event === "resolved" || event === "recovered" || event === "escalated" || event === "deescalated";
  const changed = isUnchanged || facts.isOneCause ? [] : notices.filter(isChanged);
  if (family === "deaths") {
    const named = new Set(changed.map(({ slug }) => slug));
    // The title of one organization has its count.
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
  // Where many would all say what the headline does, none is named.
  const isSaid = new Set(notices.map(({ error }) => error?.reason)).size === 1 && own.organizations > shownLines;
  if (family === "unreachable" && isSaid) return { items: [] };
  return first(notices.map(alertLine), Math.max(notices.length, own.firing));
}

/** What has changed since the last message, and what this reader has to do. */
function newsSentences(
  { number, acknowledgedBy, startedAtMs, own }: IncidentNotice,
  notices: readonly AlertNotice[],
  { nowMs, isState, isOne }: { readonly nowMs: number; readonly isState: boolean; readonly isOne: boolean },
): string[] {
  const changes = isState ? [] : notices;
  const began = changes.filter(({ reason }) => beginReasons.has(reason)).length;
  const worse = changes.filter(({ event }) => event === "escalated");
  const [one] = changes.filter(({ event }) => event === "escalated" || event === "deescalated");
  const isReminder = changes.length > 0 && changes.every(({ reason }) => reason === "repeat_interval");
  const lasted = durationText(nowMs - startedAtMs);
  return [
    ...(began > 0 && began < own.firing ? [`${formatCount(began)} of them began since the last message.`] : []),
    ...(isOne && one !== undefined
      ? [`It got ${worse.length > 0 ? "worse" : "better"}: ${one.severity}, before ${one.previousSeverity}.`]
      : []),
    ...(isOne || worse.length === 0 ? [] : [`${countOf(worse.length, "organization")} got worse.`]),
    ...(notices.some(({ reason }) => reason === "escalation")
      ? [`Nobody has acknowledged incident ${number} for ${lasted}.`]
      : []),
    ...(isReminder && nowMs - startedAtMs >= minuteMs ? [`It has been open for ${lasted}.`] : []),
    ...(acknowledgedBy === null ? [] : [`${acknowledgedBy} has acknowledged it.`]),
  ];
}

/** The reasons of an alert that has just begun; others are told late of what began before. */
const beginReasons: ReadonlySet<string> = new Set(["not_ok", "for_elapsed", "unknown_after_reached"]);

/** What one alert has that its incident has not: of an end its peak, and the judgement that its deaths propose. */
function alertSentences({ check, status, kind, peak, result, judgement }: AlertNotice, nowMs: number): string[] {
  if (kind !== "verdict" || (check !== "dead-asset-spike" && check !== "regret")) return [];
  if (status === "resolved") {
    if (peak === null || peak.currentCount === null) return [];
    const deaths = deathWords({ currentCount: peak.currentCount, expectedCount: null, ...countingIn(result) });
    return [`Its peak was ${peak.severity} with ${deaths}, ${instantText(peak.atMs, nowMs)}.`];
  }
  const { revivedCount, revivedShare, longRevived, longShare } = result?.observed ?? {};
  const [count, share] = check === "regret" ? [longRevived, longShare] : [revivedCount, revivedShare];
  if (judgement !== undefined || typeof count !== "number" || typeof share !== "number") return [];
  return [proposeJudgement({ revivedCount: count, share })].flatMap((proposal) => proposal ?? []);
}

function countingIn(result: AlertNotice["result"]): { readonly counting?: "assets" } {
  return result?.observed["counting"] === "assets" ? { counting: "assets" } : {};
}

function incidentFacts(
  incident: IncidentNotice,
  shown: {
    readonly fleet: FleetNotice | null;
    readonly notices: readonly AlertNotice[];
    readonly nowMs: number;
    readonly isOver: boolean;
    readonly isOne: boolean;
  },
): Fact[] {
  const { family, deaths, onsetAtMs, organizations, firing, own, startedAtMs, endedAtMs, headline: facts } = incident;
  const { fleet, notices, nowMs, isOver, isOne } = shown;
  const counted = deaths === null ? null : deathWords({ currentCount: deaths.count, expectedCount: deaths.expected });
  return [
    ...(firing === 0 || firing === organizations
      ? []
      : [{ label: "Firing", text: `${formatCount(firing)} of ${countOf(organizations, "organization")}` }]),
    ...(isOne || counted === null ? [] : [{ label: "In all", text: counted }]),
    ...(family !== "deaths" || onsetAtMs === null ? [] : [beganFact(facts.beganAtMs, { fleet, notices, nowMs })]),
    timeFact("Detected", startedAtMs, nowMs),
    ...(endedAtMs === null ? [] : [timeFact("Ended", endedAtMs, nowMs)]),
    ...(family === "deaths" && !isOver ? overFacts(incident, nowMs) : []),
    ...(family === "deaths" ? opinionFacts(incident) : []),
    ...(fleet === null || fleet.assetTypes.length === 0 ? [] : [typesFact(fleet)]),
    ...(own.lastError === null ? [] : [{ label: "Last error", text: own.lastError }]),
  ];
}

/** "14 Jan 21:40 UTC, 40 min after «captcha rollout»": when it began, and the deployment before. */
function beganFact(
  beganAtMs: number,
  { fleet, notices, nowMs }: Pick<Parameters<typeof incidentFacts>[1], "fleet" | "notices" | "nowMs">,
): Fact {
  const onset = notices.find((notice) => notice.onset?.atMs === beganAtMs)?.onset;
  const marker = onset?.marker ?? fleet?.evidence?.markers.findLast(({ atMs }) => atMs <= beganAtMs) ?? null;
  const fact = timeFact("Began", beganAtMs, nowMs);
  if (marker === null) return fact;
  const sinceMs = beganAtMs - marker.atMs;
  const since = sinceMs < minuteMs ? "right" : durationText(sinceMs);
  return { ...fact, text: `${fact.text}, ${since} after «${plainText(marker.text)}»` };
}

/** Returns since when nothing is unusual, and by when it ends; none while it goes on. */
export function overFacts({ headline: { excess } }: Pick<IncidentNotice, "headline">, nowMs: number): Fact[] {
  if (excess === null || excess.state === "ongoing" || excess.quietSinceMs === null) return [];
  const { quietSinceMs, expectedEndAtMs } = excess;
  return [
    timeFact("Nothing unusual since", quietSinceMs, nowMs),
    ...(expectedEndAtMs === null ? [] : [timeFact("It ends by", expectedEndAtMs, nowMs)]),
  ];
}

/** Returns the second opinion as a sentence; empty where there is none. */
export function opinionSentence({ secondOpinion }: Pick<IncidentNotice, "secondOpinion">): string {
  return secondOpinion === null ? "" : sentence(opinionWords(secondOpinion));
}

/** What the headline does not say of the second opinion: what was asked beside the sample, and one that decides nothing. */
function opinionFacts({ secondOpinion, endedAtMs, headline: { judgement } }: IncidentNotice): Fact[] {
  if (secondOpinion === null) return [];
  const isSaid = secondOpinion.verdict !== "undecided" && endedAtMs === null && judgement === null;
  const text = isSaid ? controlWords({ ...secondOpinion, verdict: "confirmed" }) : opinionWords(secondOpinion);
  return text === null ? [] : [{ label: isSaid ? "Controls of the second opinion" : "Second opinion", text }];
}

/** The asset types of the deaths that are more than usual: all that a service says of what they share. */
function typesFact({ assetTypes }: FleetNotice): Fact {
  const shown = assetTypes
    .slice(0, shownTypes)
    .map(({ assetType, share, count }) => `${plainText(assetType)} ${shareText(share)} (${formatCount(count)})`);
  return { label: "Asset types", text: listText(shown, assetTypes.length) };
}

/** What the result of one alert holds beside its count: its bounds; of a service with other keys all of its values. */
function alertFacts(notice: AlertNotice): Fact[] {
  const { kind, check, status, peak, counts, result } = notice;
  const labels = labelFacts(notice);
  if (kind === "unknown" || result === null) return labels;
  const isCounted = counts !== null && counts.currentCount !== null;
  // The values of a check of flatline's own are in its finding.
  const isSaid = isOwnCheck(check) && check !== "dead-asset-spike";
  if (!isCounted) return isSaid ? labels : [...valueFacts(result), ...labels];
  const words = deathWords({ ...counts, ...countingIn(result), ratio: null });
  if (status === "resolved") return [...(words === null ? [] : [{ label: "Now", text: words }]), ...labels];
  const isPast = peak !== null && peak.currentCount !== null && peak.currentCount !== counts.currentCount;
  const bounds = [
    ["Fails above", "failAbove"],
    ["Warns above", "warnAbove"],
  ] as const;
  return [
    ...(isPast ? [{ label: "Peak", text: formatCount(peak.currentCount) }] : []),
    ...bounds.flatMap(([label, key]) => {
      const above = result.threshold[key];
      return typeof above === "number" ? [{ label, text: formatExpected(above) }] : [];
    }),
    ...labels,
  ];
}

/** The free maps of a service, with keys that are not known here. */
function valueFacts({ observed, threshold }: NonNullable<AlertNotice["result"]>): Fact[] {
  const entries = [...Object.entries(observed), ...Object.entries(threshold)];
  const shown = entries.slice(0, shownValues).map(([name, value]) => ({
    label: plainText(name),
    text: value === null ? "none" : typeof value === "number" ? formatNumber(value) : String(value),
  }));
  const missing = entries.length - shown.length;
  return missing === 0 ? shown : [...shown, { label: "Further values", text: `+${formatCount(missing)} more` }];
}

function labelFacts({ labels }: AlertNotice): Fact[] {
  const entries = Object.entries(labels);
  if (entries.length === 0) return [];
  const shown = entries.slice(0, shownLabels).map(([name, value]) => `${name}=${value}`);
  return [{ label: labelsFact, text: listText(shown, entries.length) }];
}

function listText(shown: readonly string[], count: number): string {
  const missing = count - shown.length;
  return [...shown, ...(missing === 0 ? [] : [`+${formatCount(missing)} more`])].join(", ");
}

function timeFact(label: string, atMs: number, nowMs: number): Fact {
  return { label, text: plainText(instantText(atMs, nowMs)), atMs };
}

/** `hxxps://login[.]acme[.]example (URL, 15 Jan 09:40 UTC)`. */
function sampleList(sample: NonNullable<AlertNotice["sample"]>, nowMs: number): MessageList {
  const items = sample.map(({ asset, assetType, deadAtMs }) => {
    const type = assetType === null ? "" : `${plainText(assetType)}, `;
    return `${breakAddress(plainText(asset))} (${type}${instantText(deadAtMs, nowMs)})`;
  });
  return { heading: "Newest dead assets", items };
}

/** Returns the first items of a list, and how many of `count` are missing. */
function first(items: readonly string[], count = items.length, most = shownLines): MessageList {
  const shown = items.slice(0, most);
  return { items: shown, more: count - shown.length };
}

/** The page of the incident, what can be done about it at once, then where its one organization is looked at. */
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
  // The page of the incident links to that of the organization.
  const isOwn = externalUrl !== null && only?.url?.startsWith(externalUrl) === true;
  const isOne = only !== undefined && others.length === 0 && !isOwn && !isTest(only);
  const organization = isOne ? [{ label: `Open ${only.slug}`, url: only.url }] : [];
  return [...httpLinks([page], longestLink), ...acts, ...httpLinks(organization, longestLink)];
}

/** Returns the links that a browser may open: the operator's template could hold anything. */
export function httpLinks(
  links: readonly { readonly label: string; readonly url: string | null }[],
  longest = 400,
): MessageLink[] {
  return links.flatMap(({ label, url }) => {
    if (url === null || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return [];
    // The parsed form has no space, quote or angle bracket left that could end a link early.
    const href = new URL(url).href.replaceAll(/[|()'\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    return href.length > longest ? [] : [{ label, url: href }];
  });
}

/** Returns the message on single lines, with every address broken that is not of `own`, and without what is empty. */
function cleaned({ title, text, links, facts, lists, ...rest }: Message, own: readonly string[]): Message {
  const clean = (dirty: string): string => breakAddresses(plainText(dirty), own);
  return {
    ...rest,
    title: clean(title),
    text: clean(text),
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
