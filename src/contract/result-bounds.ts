import { cutText } from "../base/cut-text.ts";
import type { HealthcheckResult } from "./healthcheck.ts";
import type { CheckReport } from "./report.ts";

/** Limits of a stored result. */
export interface ResultBounds {
  /** Keys per free map. */
  readonly keys: number;
  readonly findings: number;
  /** UTF-16 units per text, also for names of keys. */
  readonly characters: number;
}

/** The limits of the client (CONTRACT 9): more than a person reads, far less than the 4 MiB of a full answer. */
export const answerBounds: ResultBounds = { keys: 64, findings: 100, characters: 4_096 };

/** Maximum size of a stored report in bytes of JSON; an ordinary one has a kilobyte. */
export const maxReportBytes = 32 * 1_024;
// \u0001 is the longest JSON encoding of a UTF-16 unit.
const mostBytesOfUnit = 6;
// Texts are shortened first, then the number of findings and keys.
const reportBounds: readonly ResultBounds[] = [
  { ...answerBounds, characters: 1_024 },
  { ...answerBounds, characters: 256 },
  { ...answerBounds, characters: 128 },
  { keys: 32, findings: 50, characters: 128 },
  { keys: 16, findings: 25, characters: 128 },
  { keys: 4, findings: 4, characters: 64 },
];
// Longer than any message of flatline; a driver may quote its input.
const errorCharacters = 1_024;

/**
 * Returns the API's fields of a result within the limits: the first findings, with the number of the others in
 * `findingsOmitted`; of a larger map `firstKeys`, then the first keys by name. Other fields are dropped.
 */
export function boundResult(
  result: HealthcheckResult,
  bounds: ResultBounds,
  firstKeys: readonly string[] = [],
): HealthcheckResult {
  const cut = (text: string): string => cutText(text, bounds.characters);
  const cutNullable = (text: string | null): string | null => (text === null ? null : cut(text));
  const findings = result.findings.slice(0, bounds.findings).map(({ kind, ref, severity, message }) => ({
    kind: cut(kind),
    ref: cutNullable(ref),
    severity,
    message: cut(message),
  }));
  const findingsOmitted = (result.findingsOmitted ?? 0) + result.findings.length - findings.length;
  return {
    id: cut(result.id),
    title: cut(result.title),
    category: result.category,
    generatedAt: cut(result.generatedAt),
    scope: { slug: cutNullable(result.scope.slug) },
    ok: result.ok,
    severity: result.severity,
    observed: boundMap(result.observed, bounds, firstKeys),
    threshold: boundMap(result.threshold, bounds, firstKeys),
    findings,
    ...(findingsOmitted === 0 ? {} : { findingsOmitted }),
    ...(result.isTruncated === undefined ? {} : { isTruncated: result.isTruncated }),
    suggestedAction: cutNullable(result.suggestedAction),
    appUrl: cutNullable(result.appUrl),
  };
}

/**
 * Returns the report with at most `maxReportBytes` of JSON: unchanged, or with shorter texts, then fewer findings and keys,
 * and `isTruncated` in its result.
 */
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
    if (isWithinBytes(bounded)) break;
    bounded = { ...report, result: { ...boundResult(bounded.result, bounds), isTruncated: true } };
  }
  return bounded;
}

function isWithinBytes(report: CheckReport): boolean {
  // Nearly all reports are small, and adding up costs a third of writing them.
  if (charactersOf(report) * mostBytesOfUnit <= maxReportBytes) return true;
  return Buffer.byteLength(JSON.stringify(report)) <= maxReportBytes;
}

// -1.7976931348623157e+308
const longestNumber = 24;
// Quotes, colon and comma.
const marks = 4;

/** Returns at least the length of a value's JSON, each escape counted as one character. */
function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length + marks;
  if (typeof value !== "object" || value === null) return longestNumber;
  let sum = marks;
  for (const name in value)
    sum += name.length + marks + charactersOf((value as Readonly<Record<string, unknown>>)[name]);
  return sum;
}

type ValueMap = HealthcheckResult["observed"];

function boundMap(map: ValueMap, { keys, characters }: ResultBounds, firstKeys: readonly string[]): ValueMap {
  const names = Object.keys(map);
  const isKept = names.length <= keys && names.every((name) => name.length <= characters && isShort(map[name]));
  if (isKept) return map;

  function isShort(value: unknown): boolean {
    return typeof value !== "string" || value.length <= characters;
  }

  const first = new Set(firstKeys.filter((name) => Object.hasOwn(map, name)));
  const kept = names.length <= keys ? names : [...first, ...names.filter((name) => !first.has(name)).toSorted()];
  return Object.fromEntries(
    kept.slice(0, keys).map((name) => {
      const value = map[name] ?? null;
      return [cutText(name, characters), typeof value === "string" ? cutText(value, characters) : value];
    }),
  );
}
