import { checkKind } from "../../checks/checks.ts";
import type { AlertNotice } from "../../alerting/notify/notification.ts";
import { formatCount, formatExpected, formatNumber } from "../../base/numbers.ts";
import { ratioWords } from "../../contract/death-counts.ts";
import { beganText } from "./evidence.ts";
import { instantText } from "../../words/numbers.ts";
import { ownOrigins } from "../../base/broken-address.ts";
import { brokenFinding } from "../../contract/healthcheck.ts";
import { labelsFact } from "./broken.ts";
import type { Fact } from "./message.ts";
import { plainText } from "./text.ts";

// Together with the other facts these are within the ten fields of a Slack section.
const maxMapFacts = 6;
const maxLabels = 12;

/** Returns what the sentence does not say, by name, at most ten; where the result has no counts, its own maps as they are. */
export function noticeFacts(notice: AlertNotice, nowMs: number): Fact[] {
  if (notice.event === "test") return labelFacts(notice);
  const { previousSeverity, severity, peak, counts } = notice;
  const { onset = null } = notice;
  const isChange = notice.event === "escalated" || notice.event === "deescalated";
  const isPast = peak !== null && peak.currentCount !== null && peak.currentCount !== counts?.currentCount;
  return [
    ...(onset === null ? [] : [{ name: "Began", value: beganText(onset, nowMs), atMs: onset.atMs }]),
    timeFact("Detected", notice.startsAtMs, nowMs),
    ...(notice.notifiedAtMs === undefined ? [] : [timeFact("Notified", notice.notifiedAtMs, nowMs)]),
    ...(notice.endsAtMs === null ? [] : [timeFact("Ended", notice.endsAtMs, nowMs)]),
    ...(isChange ? [{ name: "Severity", value: `${severity}, before ${previousSeverity}` }] : []),
    ...(isPast && notice.status === "firing" ? [{ name: "Peak", value: formatCount(peak.currentCount) }] : []),
    ...(notice.kind === "verdict" ? (hasCounts(notice) ? limitFacts(notice) : mapFacts(notice)) : []),
    ...labelFacts(notice),
  ];
}

function timeFact(name: string, atMs: number, nowMs: number): Fact {
  return { name, value: instantText(atMs, nowMs), atMs };
}

/** Count, expected count and ratio by name, for a receiver that keeps values. */
export function countFacts({ counts }: AlertNotice): Fact[] {
  if (counts === null || counts.currentCount === null) return [];
  const { expectedCount, currentCount } = counts;
  const ratio = ratioWords(counts);
  return [
    { name: "Count", value: formatCount(currentCount) },
    ...(expectedCount === null ? [] : [{ name: "Expected", value: formatExpected(expectedCount) }]),
    ...(ratio === null || expectedCount === 0 ? [] : [{ name: "Ratio", value: ratio }]),
  ];
}

/**
 * Returns what carries the alert: the findings of the result but the one that says the same as the sentence. Messages of a service
 * are shown as they are.
 */
export function noticeCarriers(notice: AlertNotice): string[] {
  const findings = notice.result?.findings ?? [];
  const isOurs = hasCounts(notice);
  return findings
    .filter(({ kind, ref }) => !(isOurs && kind === "dead-asset-spike" && ref === notice.slug))
    .slice(checkKind(notice.check).isSaidByFinding ? 1 : 0)
    .map((finding) => {
      const { ref, message } = brokenFinding(finding, ownOrigins(notice.url));
      const text = plainText(message);
      const subject = plainText(ref ?? "");
      return subject === "" || text.includes(subject) ? text : `${subject}: ${text}`;
    });
}

function hasCounts({ kind, counts }: AlertNotice): boolean {
  return kind === "verdict" && counts !== null && counts.currentCount !== null;
}

/** Returns from where on a firing alert warns and fails. */
function limitFacts({ status, result }: AlertNotice): Fact[] {
  if (status === "resolved") return [];
  const limits = [
    ["failAbove", "Fails above"],
    ["warnAbove", "Warns above"],
  ] as const;
  return limits.flatMap(([key, name]) => {
    const above = result?.threshold[key];
    return typeof above === "number" ? [{ name, value: formatExpected(above) }] : [];
  });
}

/** The free maps of a service, with keys that are not known here. */
function mapFacts({ result }: AlertNotice): Fact[] {
  if (result === null) return [];
  const entries = [...Object.entries(result.observed), ...Object.entries(result.threshold)];
  const shown = entries
    .slice(0, maxMapFacts - 1)
    .map(([name, value]) => ({ name: plainText(name), value: mapValueText(value) }));
  const missing = entries.length - shown.length;
  return missing === 0 ? shown : [...shown, { name: "Further values", value: `+${formatCount(missing)} more` }];
}

function mapValueText(value: string | number | boolean | null): string {
  if (value === null) return "none";
  return typeof value === "number" ? formatNumber(value) : plainText(String(value));
}

function labelFacts({ labels }: AlertNotice): Fact[] {
  const entries = Object.entries(labels);
  if (entries.length === 0) return [];
  const shown = entries.slice(0, maxLabels).map(([name, value]) => `${plainText(name)}=${plainText(value)}`);
  const missing = entries.length - shown.length;
  return [{ name: labelsFact, value: [...shown, ...(missing === 0 ? [] : [`+${missing} more`])].join(", ") }];
}
