import type { AlertNotice, Notification, NoticeEvent } from "../alerting/notify/notification.ts";
import { checkKind } from "../checks/checks.ts";
import { countingOf, countText, deathWords } from "../contract/death-counts.ts";
import { headline, judgementSentence } from "./headline.ts";
import { countOf, durationText, instantText } from "./numbers.ts";
import { plainText } from "../base/outside-text.ts";

const actEvents: ReadonlySet<NoticeEvent> = new Set([
  "judged",
  "released",
  "acknowledged",
  "unacknowledged",
  "commented",
]);

/** Returns whether the notice is about an act, not about a run's result. */
export function isActNotice({ event }: AlertNotice): boolean {
  return actEvents.has(event);
}

/** Returns whether the alert is made up for a test. */
export function isTest(notice: Pick<AlertNotice, "event" | "isTest">): boolean {
  return notice.event === "test" || notice.isTest === true;
}

/** Returns what happened in one line of plain text, not escaped. */
export function summaryOf({
  alerts,
  incident,
  generatedAtMs: nowMs,
}: Pick<Notification, "alerts" | "incident" | "generatedAtMs">): string {
  const latest = [...new Map(alerts.map((alert) => [alert.id, alert])).values()];
  if (latest.length > 0 && latest.every(isActNotice)) return plainText(actTitle(alerts));
  const mark = alerts.some((alert) => alert.isTest === true) ? "[TEST] " : "";
  const isOfOne = latest.length === 1 && (incident === null || incident.own.organizations <= 1);
  if (incident !== null && !isOfOne) return `${mark}${plainText(headline(incident.headline, nowMs)[0])}`;
  const isBoth = alerts.length > 1 && isOfOne && latest.every(({ status }) => status === "resolved");
  return `${mark}${isBoth ? "fired meanwhile; " : ""}${latest.map(alertLine).join("; ")}`;
}

const firingWords: Partial<Record<NoticeEvent, string>> = {
  reminder: "still ",
  escalated: "worse, now ",
  deescalated: "better, now ",
};

/** Returns an alert's state or end, without a full stop: "acme: fail, 5,119 deaths, 11.1 expected (459×)". */
export function alertLine(notice: AlertNotice): string {
  return plainText(`${notice.slug}: ${stateOf(notice)}`);
}

function stateOf(notice: AlertNotice): string {
  const { event, check, severity } = notice;
  if (isActNotice(notice)) return actWords(notice);
  if (event === "unknown") return foundWords(notice);
  if (event === "recovered") return `${check} gives results again after ${lengthText(notice)}`;
  if (event === "resolved") return endWords(notice);
  if (event === "test") return "this is a test notification";
  return `${firingWords[event] ?? ""}${severity}, ${foundWords(notice)}`;
}

function foundWords(notice: AlertNotice): string {
  const { check, counts, result, error } = notice;
  if (notice.kind === "unknown") return `${check} gives no result${error === null ? "" : ` (${error.reason})`}`;
  const kind = checkKind(check);
  if (kind.isSaidByFinding) return result?.findings[0]?.message ?? check;
  if (kind.summaryOf !== undefined) return kind.summaryOf(notice, durationText);
  return (counts === null ? null : deathWords({ ...counts, counting: countingOf(result) })) ?? check;
}

/** Says that the rate is back, not that something was repaired: nobody has looked (CONTRACT 7). */
function endWords(notice: AlertNotice): string {
  const { check, peak, reason, result } = notice;
  const lasted = `lasted ${lengthText(notice)}`;
  const count = peak === null || peak.currentCount === null ? "" : ` with ${countText(peak.currentCount, result)}`;
  const worst = peak === null ? "" : `, peak ${peak.severity}${check === "dead-asset-spike" ? count : ""}`;
  if (reason === "organization_removed") return `no longer watched, ${lasted}${worst}`;
  if (reason === "check_removed") return `${check} is switched off, ${lasted}${worst}`;
  return `${checkKind(check).back}, ${lasted}${worst}`;
}

/** Returns an act on these alerts: "9 organizations: judged checker by kim, takedowns of 9 allowed". */
export function actTitle(notices: readonly AlertNotice[]): string {
  // The gates that a judgement opened go into its title.
  const first = notices.find(({ event }) => event === "judged") ?? notices[0];
  if (first === undefined) return "";
  const slugs = new Set(notices.map(({ slug }) => slug));
  const opened = new Set(notices.flatMap(({ event, slug }) => (event === "released" ? [slug] : []))).size;
  const who = slugs.size === 1 ? first.slug : countOf(slugs.size, "organization");
  const gates =
    first.event === "released" || opened === 0
      ? ""
      : `, takedowns ${slugs.size === 1 ? "" : `of ${countOf(opened, "organization")} `}allowed`;
  return `${who}: ${actWords(first)}${gates}`;
}

function actWords({ event, reason, judgement, act }: AlertNotice): string {
  const by = act === undefined || act.by === null ? "" : ` by ${act.by}`;
  const judged = judgement === undefined ? "judgement withdrawn" : `judged ${judgement.verdict}`;
  if (event === "judged") return `${judged}${by}`;
  if (event === "commented") return `comment${by}`;
  if (event !== "released") return `${event}${by}`;
  return `takedowns allowed, ${reason === "released_by_judgement" ? judged : "released by hand"}${by}`;
}

/** Returns what an act means for the reader, and its comment; empty: the title says it all. */
export function actSentence({ event, reason, judgement, act }: AlertNotice): string {
  const { by = null, comment = null } = act ?? {};
  if (judgement !== undefined && (event === "judged" || reason === "released_by_judgement"))
    return judgementSentence({ verdict: judgement.verdict, by: by ?? "", comment });
  return [
    ...(event === "acknowledged" ? ["No more reminders."] : []),
    ...(event === "unacknowledged" ? ["Reminders go on."] : []),
    ...(comment === null ? [] : [`${by ?? "Somebody"} says: «${comment}».`]),
  ].join(" ");
}

/** "Its peak was fail with 5,119 deaths, 15 Jan 12:00 UTC."; empty: deaths are not counted. */
export function peakSentence({ check, peak, result }: AlertNotice, nowMs: number): string[] {
  if (check !== "dead-asset-spike" || peak === null || peak.currentCount === null) return [];
  const { severity, currentCount, atMs } = peak;
  return [`Its peak was ${severity} with ${countText(currentCount, result)}, ${instantText(atMs, nowMs)}.`];
}

function lengthText({ startsAtMs, endsAtMs, onset }: AlertNotice): string {
  return durationText((endsAtMs ?? startsAtMs) - (onset?.atMs ?? startsAtMs));
}
