import type { AlertNotice, IncidentNotice, Notification } from "../alerting/notify/notification.ts";
import { formatCount, formatNumber } from "../base/numbers.ts";
import { deathWords } from "../contract/death-counts.ts";
import { isOwnCheck } from "../contract/report.ts";
import { opinionWords } from "../contract/second-opinion.ts";
import { afterText, countOf, instantText } from "./numbers.ts";
import { plainText } from "../base/outside-text.ts";

/** A fact that the sentences of a message do not say: `Began`, `14 Jan 21:40 UTC`. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** The time at the start of `text`, for a medium with the reader's own clock; absent: no time. */
  readonly atMs?: number;
}

/** The fact with an alert's labels. They are the operator's, so their addresses stay. */
export const labelsFact = "Labels";

// With the other facts these fit into the ten fields of a Slack section.
const shownValues = 5;
const shownLabels = 12;

/** Returns the counts, the begin and other facts besides the headline. */
export function incidentFacts(
  { fleet, status, generatedAtMs: nowMs }: Notification,
  incident: IncidentNotice,
  { notices, isOne }: { readonly notices: readonly AlertNotice[]; readonly isOne: boolean },
): Fact[] {
  const { family, deaths, secondOpinion, onsetAtMs, organizations, firing, own, startedAtMs, endedAtMs, headline } =
    incident;
  const counts = deaths && deathWords({ currentCount: deaths.count, expectedCount: deaths.expected });
  const onset = notices.find((notice) => notice.onset?.atMs === headline.beganAtMs)?.onset;
  const marker = onset?.marker ?? fleet?.evidence?.markers.findLast(({ atMs }) => atMs <= headline.beganAtMs);
  const began = timeFact("Began", headline.beganAtMs, nowMs);
  const after = marker === undefined ? "" : `, ${afterText(headline.beganAtMs - marker.atMs, marker.text)}`;
  return [
    ...(firing === 0 || firing === organizations
      ? []
      : [{ label: "Firing", text: `${formatCount(firing)} of ${countOf(organizations, "organization")}` }]),
    ...(isOne || counts === null ? [] : [{ label: "In all", text: counts }]),
    ...(onsetAtMs === null ? [] : [{ ...began, text: `${began.text}${after}` }]),
    timeFact("Detected", startedAtMs, nowMs),
    // A receiver's part may be over before the incident: the excess is that of the others.
    ...(status === "resolved" && endedAtMs === null ? [] : overFacts(incident, nowMs)),
    ...(endedAtMs === null ? [] : [timeFact("Ended", endedAtMs, nowMs)]),
    ...(family !== "deaths" || secondOpinion === null
      ? []
      : [{ label: "Second opinion", text: opinionWords(secondOpinion) }]),
    ...(own.lastError === null ? [] : [{ label: "Last error", text: own.lastError }]),
  ];
}

/** Returns since when nothing is unusual, and when it ends; empty: it goes on, or is unknown. */
export function overFacts({ headline }: Pick<IncidentNotice, "headline">, nowMs: number): Fact[] {
  const { excess, endedAtMs, stoppedAtMs } = headline;
  if (excess?.state === "ongoing") return [];
  const sinceMs = endedAtMs === null ? (excess?.quietSinceMs ?? null) : stoppedAtMs;
  const expectedEndAtMs = excess?.expectedEndAtMs ?? null;
  return [
    ...(sinceMs === null ? [] : [timeFact("Nothing unusual since", sinceMs, nowMs)]),
    ...(expectedEndAtMs === null ? [] : [timeFact("It ends by", expectedEndAtMs, nowMs)]),
  ];
}

/** Returns the values of a result without counts of deaths, by the service's names, and the alert's labels. */
export function alertFacts(notice: AlertNotice): Fact[] {
  const { kind, check, counts, result } = notice;
  // A check of flatline's own has its values in its finding.
  const isSaid = typeof counts?.currentCount === "number" || (isOwnCheck(check) && check !== "dead-asset-spike");
  if (kind === "unknown" || result === null || isSaid) return labelFacts(notice);
  const entries = [...Object.entries(result.observed), ...Object.entries(result.threshold)];
  const shown = entries.slice(0, shownValues).map(([label, value]) => ({
    label,
    text: value === null ? "none" : typeof value === "number" ? formatNumber(value) : String(value),
  }));
  const missing = entries.length - shown.length;
  return [
    ...shown,
    ...(missing === 0 ? [] : [{ label: "Further values", text: `+${formatCount(missing)} more` }]),
    ...labelFacts(notice),
  ];
}

export function labelFacts({ labels }: AlertNotice): Fact[] {
  const all = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const missing = all.length - shownLabels;
  const shown = [...all.slice(0, shownLabels), ...(missing > 0 ? [`+${formatCount(missing)} more`] : [])];
  return all.length === 0 ? [] : [{ label: labelsFact, text: shown.join(", ") }];
}

function timeFact(label: string, atMs: number, nowMs: number): Fact {
  return { label, text: plainText(instantText(atMs, nowMs)), atMs };
}
