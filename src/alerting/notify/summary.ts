import { checkKind } from "../../checks/checks.ts";
import { compareSeverity } from "../../contract/severity.ts";
import { countingOf, countText, deathWords } from "../../contract/death-counts.ts";
import { headline } from "../../words/headline.ts";
import { durationText } from "../../words/numbers.ts";
import type { AlertNotice, NoticeEvent, Notification } from "./notification.ts";

// A summary is a title: what fits a phone's lock screen. The alerts are all in the notification.
const namedOrganizations = 3;

/** Returns the one line that says what happened; for the title of a message. Plain text: its reader escapes it. */
export function summarize(
  alerts: readonly AlertNotice[],
  { fleet, incident, nowMs }: Pick<Notification, "fleet" | "incident"> & { readonly nowMs: number },
): string {
  const isOfSeveral = fleet !== null || new Set(alerts.map(({ slug }) => slug)).size > 1;
  const isAct = alerts.some(({ act }) => act !== undefined);
  return incident !== null && isOfSeveral && !isAct
    ? headline(incident.headline, { nowMs, withPeople: true })[0]
    : summarizeAlerts(alerts);
}

/** Returns the event of one alert as a sentence without a full stop. */
export function describeNotice(notice: AlertNotice): string {
  const { slug, event } = notice;
  switch (event) {
    case "firing":
    case "reminder":
    case "escalated":
    case "deescalated":
      return `${slug}: ${eventWords[event]}${notice.severity}${describeState(notice)}`;
    case "unknown":
      return `${slug}: ${notice.check} gives no result${notice.error === null ? "" : ` (${notice.error.reason})`}`;
    case "recovered":
      return `${slug}: ${notice.check} gives results again after ${describeLength(notice)}`;
    case "resolved":
      return describeResolved(notice);
    case "acknowledged":
    case "unacknowledged":
      return `${slug}: ${event}${byWords(notice)}`;
    case "commented":
      return `${slug}: comment${byWords(notice)}`;
    case "judged":
      return `${slug}: ${judgedWords(notice)}${byWords(notice)}`;
    case "released":
      return `${slug}: takedowns allowed, ${releaseWords(notice)}${byWords(notice)}`;
    case "test":
      return `${slug}: this is a test notification`;
    default:
      return event satisfies never;
  }
}

function judgedWords({ judgement }: AlertNotice): string {
  return judgement === undefined ? "judgement withdrawn" : `judged ${judgement.verdict}`;
}

function releaseWords(notice: AlertNotice): string {
  switch (notice.reason) {
    case "released_by_judgement":
      return judgedWords(notice);
    case "released_by_end":
      return "the alert is over";
    case "released_by_configuration":
      return "by a change of the configuration";
    default:
      return "released by hand";
  }
}

function byWords({ act }: AlertNotice): string {
  return act === undefined || act.by === null ? "" : ` by ${act.by}`;
}

const eventWords = {
  firing: "",
  reminder: "still ",
  escalated: "worse, now ",
  deescalated: "better, now ",
} as const satisfies Partial<Record<NoticeEvent, string>>;

function describeState(notice: AlertNotice): string {
  if (notice.kind === "unknown")
    return `, ${notice.check} gives no result${notice.error === null ? "" : ` (${notice.error.reason})`}`;
  const kind = checkKind(notice.check);
  if (kind.isSaidByFinding) return `, ${notice.result?.findings[0]?.message ?? notice.check}`;
  if (kind.summaryOf !== undefined) return `, ${kind.summaryOf(notice, durationText)}`;
  const { counts, result } = notice;
  return `, ${(counts === null ? null : deathWords({ ...counts, counting: countingOf(result) })) ?? notice.check}`;
}

/** Says that the rate is back, never that something was repaired: no person has looked (CONTRACT 7). */
function describeResolved(notice: AlertNotice): string {
  const { slug, check, peak, reason, result } = notice;
  const lasted = `lasted ${describeLength(notice)}`;
  const count = peak === null || peak.currentCount === null ? "" : ` with ${countText(peak.currentCount, result)}`;
  const worst = peak === null ? "" : `, peak ${peak.severity}${check === "dead-asset-spike" ? count : ""}`;
  if (reason === "organization_removed") return `${slug}: no longer watched, ${lasted}${worst}`;
  if (reason === "check_removed") return `${slug}: ${check} is switched off, ${lasted}${worst}`;
  return `${slug}: ${checkKind(check).back}, ${lasted}${worst}`;
}

function summarizeAlerts(alerts: readonly AlertNotice[]): string {
  const latest = [...new Map(alerts.map((alert) => [alert.id, alert])).values()];
  const [only] = latest;
  if (only !== undefined && only.act !== undefined && latest.every(({ event }) => event === only.event))
    return `${describeNotice(only)}${latest.length === 1 ? "" : ` (${latest.length} alerts)`}`;
  if (only !== undefined && latest.length === 1) {
    return alerts.length === 1 || only.status === "firing"
      ? describeNotice(only)
      : `fired meanwhile; ${describeNotice(only)}`;
  }
  const firing = latest.filter(({ status }) => status === "firing");
  const resolved = latest.filter(({ status }) => status === "resolved");
  const parts = [];
  // Not all are named: the worst are.
  const worstFirst = firing.toSorted((left, right) => compareSeverity(right.severity, left.severity));
  if (firing.length > 0) parts.push(`${firing.length} firing: ${names(worstFirst, true)}`);
  if (resolved.length > 0) parts.push(`${resolved.length} resolved: ${names(resolved, false)}`);
  return parts.join("; ");
}

function names(alerts: readonly AlertNotice[], hasSeverity: boolean): string {
  const shown = alerts
    .slice(0, namedOrganizations)
    .map(({ slug, severity }) => (hasSeverity ? `${slug} (${severity})` : slug));
  const more = alerts.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")}, +${more} more`;
}

function describeLength({ startsAtMs, endsAtMs }: AlertNotice): string {
  return durationText((endsAtMs ?? startsAtMs) - startsAtMs);
}
