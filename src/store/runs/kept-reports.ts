import { createHash } from "node:crypto";
import { memoized } from "../../base/memo.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";

/** Instant and digest of the last report that was stored completely. */
export interface LastKeptReport {
  readonly atMs: number;
  readonly digest: string;
}

// The whole report is stored at least once a day,
const fullEveryMs = dayMs;
// and at most once an hour if only the findings differ: a service may name them differently in each run.
const findingsEveryMs = hourMs;

/** The configured thresholds; others, such as warnAbove, follow from the counts and change with each run. */
const chosenThresholds: readonly string[] = [
  "windowHours",
  "baselineDays",
  "warnMultiplier",
  "failMultiplier",
  "minSpikeCount",
  "warnAfterSeconds",
  "failAfterSeconds",
];

/**
 * Returns a digest of severity, thresholds and what is counted, and one of the kinds and refs of the findings; order and messages change with
 * the numbers. An operator considers two runs different if the first part differs.
 */
export function digestOf(report: CheckReport): string {
  if (report.kind === "error") return `${report.severity} ${report.error.reason}`;
  const { threshold, findings, observed } = report.result;
  const { counting } = observed;
  const thresholds = [
    ...chosenThresholds.map((name) => threshold[name] ?? null),
    ...(counting === undefined ? [] : [counting]),
  ];
  const names = findings.map(({ kind, ref, severity }) => JSON.stringify([kind, ref, severity])).sort();
  return `${report.severity}/${shortHash(thresholds)} ${names.length === 0 ? "" : shortHash(names)}`;
}

/** Returns whether the history stores this report completely, given the last one that it stored. */
export function shouldKeepReport(last: LastKeptReport | null, digest: string, atMs: number): boolean {
  if (last === null) return true;
  // The absolute difference counts: a clock that was set back must not stop the daily reports.
  const sinceMs = Math.abs(atMs - last.atMs);
  if (sinceMs >= fullEveryMs) return true;
  if (last.digest === digest) return false;
  return sinceMs >= findingsEveryMs || firstPart(last.digest) !== firstPart(digest);
}

function shortHash(value: unknown): string {
  return hashOf(JSON.stringify(value));
}

// Thresholds and findings are the same in nearly every run.
const hashOf = memoized(1_000, (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 12));

function firstPart(digest: string): string {
  return digest.slice(0, digest.indexOf(" "));
}
