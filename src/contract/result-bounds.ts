import { cutText } from "../base/outside-text.ts";
import { mapTexts } from "../base/json.ts";
import type { HealthcheckMap, HealthcheckResult } from "./healthcheck.ts";
import type { CheckReport } from "./report.ts";

export interface ResultBounds {
  readonly keys: number;
  readonly findings: number;
  /** UTF-16 units per text, names of keys included. */
  readonly characters: number;
}

/** The limits of the client (CONTRACT 9): more than a person reads, far less than an answer of 4 MiB. */
export const answerBounds: ResultBounds = { keys: 64, findings: 100, characters: 4_096 };

/** The limit of a stored report, as JSON; an ordinary one has a kilobyte. */
export const maxReportBytes = 32 * 1_024;
// Shortens texts first, then reduces the number of findings and keys.
const reportBounds: readonly ResultBounds[] = [
  { ...answerBounds, characters: 1_024 },
  { ...answerBounds, characters: 256 },
  { ...answerBounds, characters: 128 },
  { keys: 16, findings: 25, characters: 128 },
  { keys: 4, findings: 4, characters: 64 },
];
// Longer than any message of flatline; a driver may quote its input.
const errorCharacters = 1_024;

/** Returns a result within the limits; a larger map keeps `firstKeys`, then the first keys by name. */
export function boundResult(
  result: HealthcheckResult,
  { keys, findings, characters }: ResultBounds,
  firstKeys: readonly string[] = [],
): HealthcheckResult {
  const kept = result.findings.slice(0, findings);
  const findingsOmitted = (result.findingsOmitted ?? 0) + result.findings.length - kept.length;
  const bounded = {
    ...result,
    observed: boundMap(result.observed, keys, firstKeys),
    threshold: boundMap(result.threshold, keys, firstKeys),
    findings: kept,
    ...(findingsOmitted === 0 ? {} : { findingsOmitted }),
  };
  return mapTexts(bounded, (text) => cutText(text, characters));
}

function boundMap(map: HealthcheckMap, keys: number, firstKeys: readonly string[]): HealthcheckMap {
  const names = Object.keys(map);
  if (names.length <= keys) return map;
  const first = new Set([...firstKeys.filter((name) => Object.hasOwn(map, name)), ...names.toSorted()]);
  return Object.fromEntries([...first].slice(0, keys).map((name) => [name, map[name] ?? null]));
}

/** Returns a report of at most `maxReportBytes`: with shorter texts, then fewer findings and keys. */
export function boundReport<Report extends CheckReport>(report: Report): Report;
export function boundReport(report: CheckReport): CheckReport {
  if (report.kind === "error") {
    const { message } = report.error;
    return message.length <= errorCharacters
      ? report
      : { ...report, error: { ...report.error, message: cutText(message, errorCharacters) } };
  }
  let bounded = report;
  for (const bounds of reportBounds) {
    if (Buffer.byteLength(JSON.stringify(bounded)) <= maxReportBytes) break;
    bounded = { ...report, result: { ...boundResult(bounded.result, bounds), isTruncated: true } };
  }
  return bounded;
}
