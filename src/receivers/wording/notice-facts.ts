import type { AlertNotice } from "../../alerting/notify/notification.ts";
import { formatCount, formatExpected, formatNumber, formatRatio } from "../../base/numbers.ts";
import { durationText, instantText } from "./numbers.ts";
import type { Fact } from "./message.ts";
import { plainText } from "./text.ts";

// With the rest of the facts these are within the ten fields of a Slack section.
const maxMapFacts = 6;
const maxLabels = 12;

/** The numbers of an alert by name, at most ten; where the result has no counts, its own maps as they are. */
export function noticeFacts(notice: AlertNotice, nowMs: number): Fact[] {
  if (notice.event === "test") return labelFacts(notice);
  const facts: Fact[] = [];
  if (notice.kind === "verdict") facts.push(...(hasCounts(notice) ? countFacts(notice) : mapFacts(notice)));
  const { previousSeverity, severity, peak } = notice;
  const isChange = notice.event === "escalated" || notice.event === "deescalated";
  facts.push({ name: "Severity", value: isChange ? `${severity}, before ${previousSeverity}` : severity });
  facts.push({ name: "Since", value: instantText(notice.startsAtMs, nowMs) });
  if (notice.endsAtMs !== null)
    facts.push({ name: "Lasted", value: durationText(notice.endsAtMs - notice.startsAtMs) });
  if (peak !== null && peak.currentCount !== null) facts.push({ name: "Peak", value: formatCount(peak.currentCount) });
  return [...facts, ...labelFacts(notice)];
}

/**
 * What carries the alert: the findings of the result but the one that says the same as the sentence. Messages of a service
 * are shown as they are.
 */
export function noticeCarriers(notice: AlertNotice): string[] {
  const findings = notice.result?.findings ?? [];
  const isOurs = hasCounts(notice);
  return findings
    .filter(({ kind, ref }) => !(isOurs && kind === "dead-asset-spike" && ref === notice.slug))
    .slice(notice.check === "sentinel" || notice.check === "event-flow" ? 1 : 0)
    .map(({ ref, message }) => {
      const text = plainText(message);
      const subject = plainText(ref ?? "");
      return subject === "" || text.includes(subject) ? text : `${subject}: ${text}`;
    });
}

function hasCounts({ kind, counts }: AlertNotice): boolean {
  return kind === "verdict" && counts !== null && counts.currentCount !== null;
}

function countFacts({ counts, result }: AlertNotice): Fact[] {
  if (counts === null || counts.currentCount === null) return [];
  const facts: Fact[] = [{ name: "Count", value: formatCount(counts.currentCount) }];
  const { expectedCount, ratio } = counts;
  if (expectedCount !== null) facts.push({ name: "Expected", value: formatExpected(expectedCount) });
  if (ratio !== null) facts.push({ name: "Ratio", value: formatRatio(ratio) });
  for (const [key, name] of [
    ["failAbove", "Fails above"],
    ["warnAbove", "Warns above"],
  ] as const) {
    const above = result?.threshold[key];
    if (typeof above === "number") facts.push({ name, value: formatExpected(above) });
  }
  return facts;
}

/** The free maps of a service whose keys nobody told us. */
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
  return [{ name: "Labels", value: [...shown, ...(missing === 0 ? [] : [`+${missing} more`])].join(", ") }];
}
