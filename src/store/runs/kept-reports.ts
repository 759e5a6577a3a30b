import { createHash } from "node:crypto";
import { memoized } from "../../base/memo.ts";
import { dayMs, hourMs } from "../../base/time.ts";
import type { CheckReport } from "../../contract/report.ts";
import { chosenThresholds } from "./report-shape.ts";
import type { KeptMark } from "./runs.ts";

// The whole report is kept at least once a day,
const fullEveryMs = dayMs;
// and when only the findings differ at most once an hour: those of a far side may have another name in each run.
const findingsEveryMs = hourMs;

/**
 * Severity and thresholds, then the kinds and refs of the findings, whose order and messages move with the numbers: two runs
 * differ in the first part when the operator would call it a change.
 */
export function digestOf(report: CheckReport): string {
  if (report.kind === "error") return `${report.severity} ${report.error.reason}`;
  const { threshold, findings } = report.result;
  const thresholds = chosenThresholds.map((name) => threshold[name] ?? null);
  const names = findings.map(({ kind, ref, severity }) => JSON.stringify([kind, ref, severity])).sort();
  return `${report.severity}/${shortHash(thresholds)} ${names.length === 0 ? "" : shortHash(names)}`;
}

/** Whether the history keeps this report whole, given the last one that it kept. */
export function isToKeep(last: KeptMark | null, digest: string, atMs: number): boolean {
  if (last === null) return true;
  // Absolute: a clock that was set back must not end the daily ones.
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
