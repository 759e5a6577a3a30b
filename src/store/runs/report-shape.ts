import { createHash } from "node:crypto";
import { memoized } from "../../base/memo.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckReport, ErrorReport, ObservedCounts, ResultReport } from "../../contract/report.ts";
import type { Severity } from "../../contract/severity.ts";
import { isStoredReport } from "./check-reports.ts";
import { chosenThresholds, digestOf } from "./kept-reports.ts";

/**
 * A report without its numbers and times. Runs that differ in nothing else share a shape, across organizations too. Nearly
 * every run has the previous run's shape, so only its numbers are written.
 */
export interface ReportShape {
  /** The same for the same text. */
  readonly id: string;
  /** JSON with 0 in place of each number that changes from run to run. */
  readonly text: string;
  readonly severity: Severity;
  /** See kept-reports.ts. */
  readonly digest: string;
  /** Names of the numbers, in order. */
  readonly slots: readonly string[];
  /** Configured thresholds of a spike; null for other checks. */
  readonly thresholds: ShapeThresholds | null;
  readonly content: ShapeContent;
}

interface ShapeThresholds {
  readonly windowHours: number;
  readonly baselineDays: number;
  readonly warnMultiplier: number;
  readonly failMultiplier: number;
}

/**
 * A report in two parts, which `joinReport` reassembles. Times count from the start of the run, so that a run that found the same
 * as the one before has the same report.
 */
export interface SplitReport {
  readonly shape: ReportShape;
  /** In the order of the shape's slots. */
  readonly values: readonly number[];
}

/** The fields of a report that are neither in its shape nor among its numbers. */
export type ReportTimes = Pick<CheckReport, "check" | "slug" | "startedAtMs" | "finishedAtMs">;

type ValueMap = HealthcheckResult["observed"];
/** A URL of the organization with a placeholder for its slug, or any other URL. */
type MarkedUrl = string | { readonly marked: string } | null;

interface ResultContent extends Pick<ResultReport, "kind" | "severity" | "counts" | "baselineCoverage"> {
  readonly result: Readonly<Record<string, unknown>> & {
    /** 0: a time, stored among the numbers. */
    readonly generatedAt: string | 0;
    /** null: the organization only. */
    readonly scope: HealthcheckResult["scope"] | null;
    readonly observed: ValueMap;
    readonly threshold: ValueMap;
    readonly findings: HealthcheckResult["findings"];
    readonly appUrl: MarkedUrl;
  };
}
export type ShapeContent = ResultContent | Omit<ErrorReport, keyof ReportTimes>;

const countNames = [
  "currentCount",
  "baselineCount",
  "expectedCount",
  "ratio",
] as const satisfies readonly (keyof ObservedCounts)[];
const slugMark = "{slug}";
const apiFields = 12;
const hoursPerDay = 24;

// Fleets share a few sets of thresholds. Another set costs JSON and a hash per run, 5 µs instead of 1 (measured 2026-11).
const keptSamples = 32;
// A service may send megabytes.
const longestSample = 4_096;
// Caches a pure function.
const samples: { readonly report: ResultReport; readonly shape: ReportShape }[] = [];

/** Splits a report that `boundReport` has bounded. */
export function splitReport(report: CheckReport): SplitReport {
  if (report.kind === "error") return { shape: shapeOf(JSON.stringify(contentOf(report))), values: [] };
  const values = valuesOf(report);
  const known = samples.find((sample) => isSameShape(report, sample.report));
  if (known !== undefined) return { shape: known.shape, values };
  const shape = shapeOf(JSON.stringify(contentOf(report)));
  if (isPlain(report) && shape.text.length <= longestSample) {
    if (samples.length >= keptSamples) samples.shift();
    samples.push({ report, shape });
  }
  return { shape, values };
}

/** Returns `known` if both reports are the same, so that equal reports are one object; otherwise `report`. */
export function sameReport(known: SplitReport | null, report: SplitReport): SplitReport {
  if (known === null || known.shape.id !== report.shape.id) return report;
  return known.values.every((value, index) => value === report.values[index]) ? known : report;
}

/** Reassembles a report. */
export function joinReport({ shape, values }: SplitReport, times: ReportTimes): CheckReport {
  const { content } = shape;
  if (content.kind === "error") return { ...times, ...content };
  let next = 0;
  const take = <Value>(slot: Value): Value | number => (typeof slot === "number" ? (values[next++] ?? 0) : slot);
  const takeMap = (map: ValueMap, isFixed: (name: string) => boolean): ValueMap =>
    Object.fromEntries(Object.entries(map).map(([name, slot]) => [name, isFixed(name) ? slot : take(slot)]));
  const { result, counts, baselineCoverage, ...rest } = content;
  // In the order of `valuesOf`.
  const [currentCount, baselineCount, expectedCount, ratio] = countNames.map((name) => take(counts[name]));
  const filled = { currentCount, baselineCount, expectedCount, ratio } as ObservedCounts;
  const coverage = take(baselineCoverage);
  const generatedAt = take(result.generatedAt);
  return {
    ...times,
    ...rest,
    result: {
      ...(result as unknown as HealthcheckResult),
      generatedAt:
        typeof generatedAt === "number" ? new Date(times.startedAtMs + generatedAt).toISOString() : generatedAt,
      scope: result.scope ?? { slug: times.slug },
      observed: takeMap(result.observed, () => false),
      threshold: takeMap(result.threshold, isChosen),
      appUrl: unmarkedUrl(result.appUrl, times.slug),
    },
    counts: filled,
    baselineCoverage: coverage,
  };
}

/** Parses the text of a shape; null if it is of a version that cannot be read. */
export function readShape(text: string): ReportShape | null {
  return text.length > longestSample ? parseShape(text) : parsedShape(text);
}

function parseShape(text: string): ReportShape | null {
  const shape = shapeOf(text);
  const times = { check: "dead-asset-spike", slug: "", startedAtMs: 0, finishedAtMs: 0 } as const;
  return isStoredReport(joinReport({ shape, values: [] }, times)) ? shape : null;
}

/** Returns the numbers that follow from the two counts by the rule of a spike; only different ones are written. */
export function expectedValues(
  { slots, thresholds }: ReportShape,
  { currentCount, baselineCount }: { readonly currentCount: number; readonly baselineCount: number },
): number[] {
  const expectedCount =
    thresholds === null ? 0 : (baselineCount * thresholds.windowHours) / (thresholds.baselineDays * hoursPerDay);
  const known: Readonly<Record<string, number>> = {
    currentCount,
    baselineCount,
    expectedCount,
    ratio: expectedCount === 0 ? 0 : currentCount / expectedCount,
    warnAbove: expectedCount * (thresholds?.warnMultiplier ?? 0),
    failAbove: expectedCount * (thresholds?.failMultiplier ?? 0),
    baselineCoverage: 1,
    generatedAt: 0,
  };
  return slots.map((name) => known[name] ?? 0);
}

/** Returns a count by name; null if the result does not have it. */
export function countAmong({ shape, values }: SplitReport, name: keyof ObservedCounts): number | null {
  if (shape.content.kind === "error" || shape.content.counts[name] === null) return null;
  // Counts come first.
  return values[shape.slots.indexOf(name)] ?? null;
}

function shapeOf(text: string): ReportShape {
  return text.length > longestSample ? makeShape(text) : knownShape(text);
}

// A fleet has as many shapes as sets of thresholds and organizations that are not ok.
const knownShape = memoized(1_000, makeShape);
const parsedShape = memoized(1_000, parseShape);

function makeShape(text: string): ReportShape {
  const content = JSON.parse(text) as ShapeContent;
  const id = createHash("sha256").update(text).digest("base64url").slice(0, 16);
  const { severity } = content;
  const common = { id, text, severity, digest: digestOf(content), content };
  if (content.kind === "error") return { ...common, slots: [], thresholds: null };
  return { ...common, slots: slotsOf(content), thresholds: thresholdsOf(content) };
}

function slotsOf({ counts, baselineCoverage, result }: ResultContent): string[] {
  const numbers = (map: Readonly<Record<string, unknown>>): string[] =>
    Object.keys(map).filter((name) => typeof map[name] === "number");
  return [
    ...countNames.filter((name) => counts[name] !== null),
    ...(baselineCoverage === null ? [] : ["baselineCoverage"]),
    ...(result.generatedAt === 0 ? ["generatedAt"] : []),
    ...numbers(result.observed),
    ...numbers(result.threshold).filter((name) => !isChosen(name)),
  ];
}

function thresholdsOf({ result }: ResultContent): ShapeThresholds | null {
  const { windowHours, baselineDays, warnMultiplier, failMultiplier } = result.threshold;
  const isSpike =
    typeof windowHours === "number" && typeof baselineDays === "number" && windowHours > 0 && baselineDays > 0;
  if (!isSpike || typeof warnMultiplier !== "number" || typeof failMultiplier !== "number") return null;
  return { windowHours, baselineDays, warnMultiplier, failMultiplier };
}

function valuesOf({ counts, baselineCoverage, result, startedAtMs }: ResultReport): number[] {
  const values: number[] = [];
  const note = (value: unknown): void => {
    // JSON has no NaN, no infinities and no -0.
    if (isValue(value)) values.push(value + 0);
  };
  for (const name of countNames) note(counts[name]);
  note(baselineCoverage);
  const generatedAtMs = timeOf(result.generatedAt);
  if (generatedAtMs !== null) note(generatedAtMs - startedAtMs);
  const { observed, threshold } = result;
  for (const name of Object.keys(observed)) note(observed[name]);
  for (const name of Object.keys(threshold)) if (!isChosen(name)) note(threshold[name]);
  return values;
}

function contentOf({ check: _check, slug, startedAtMs: _from, finishedAtMs: _to, ...report }: CheckReport): unknown {
  if (report.kind === "error") return report;
  const { result, counts, baselineCoverage } = report;
  const slots = (map: ValueMap): ValueMap =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, isValue(value) ? 0 : value]));
  const { observed, threshold, scope, appUrl, generatedAt } = result;
  return {
    ...report,
    result: {
      ...result,
      generatedAt: timeOf(generatedAt) === null ? generatedAt : 0,
      scope: isOwnScope(scope, slug) ? null : scope,
      observed: slots(observed),
      threshold: { ...slots(threshold), ...Object.fromEntries(chosenOf(threshold)) },
      appUrl: markedUrl(appUrl, slug),
    },
    counts: slots({ ...counts }),
    baselineCoverage: baselineCoverage === null ? null : 0,
  };
}

/** Returns whether two reports have the same shape; the sample is plain. */
function isSameShape(report: ResultReport, sample: ResultReport): boolean {
  const { counts, result } = report;
  const { result: known } = sample;
  return (
    report.severity === sample.severity &&
    report.version === sample.version &&
    isPlain(report) &&
    result.id === known.id &&
    result.title === known.title &&
    result.category === known.category &&
    result.ok === known.ok &&
    result.severity === known.severity &&
    result.suggestedAction === known.suggestedAction &&
    countNames.every((name) => isSameSlot(counts[name], sample.counts[name])) &&
    isSameSlot(report.baselineCoverage, sample.baselineCoverage) &&
    hasSameSlots(result.observed, known.observed) &&
    hasSameSlots(result.threshold, known.threshold) &&
    chosenThresholds.every((name) => result.threshold[name] === known.threshold[name]) &&
    (result.appUrl === known.appUrl || isSameUrl(report, sample))
  );
}

/** Returns whether a report is plain: only the API's fields, no findings, about the organization, with a readable time. */
function isPlain({ slug, result, assetTypeExcess }: ResultReport): boolean {
  return (
    result.findings.length === 0 &&
    assetTypeExcess === undefined &&
    Object.keys(result).length === apiFields &&
    isOwnScope(result.scope, slug) &&
    timeOf(result.generatedAt) !== null
  );
}

function hasSameSlots(map: ValueMap, sample: ValueMap): boolean {
  const names = Object.keys(map);
  const sampleNames = Object.keys(sample);
  return (
    names.length === sampleNames.length &&
    names.every((name, index) => name === sampleNames[index] && isSameSlot(map[name], sample[name]))
  );
}

function isSameSlot(value: unknown, sample: unknown): boolean {
  return value === sample || (isValue(value) && isValue(sample));
}

function isSameUrl(report: ResultReport, sample: ResultReport): boolean {
  const url = markedUrl(report.result.appUrl, report.slug);
  const known = markedUrl(sample.result.appUrl, sample.slug);
  return typeof url === "object" && typeof known === "object" && url?.marked === known?.marked;
}

function markedUrl(url: string | null, slug: string): MarkedUrl {
  if (url === null || slug === "" || !url.includes(slug) || url.includes(slugMark)) return url;
  return { marked: url.replaceAll(slug, slugMark) };
}

function unmarkedUrl(url: MarkedUrl, slug: string): string | null {
  return url === null || typeof url === "string" ? url : url.marked.replaceAll(slugMark, () => slug);
}

function isOwnScope(scope: HealthcheckResult["scope"], slug: string): boolean {
  return scope.slug === slug && Object.keys(scope).length === 1;
}

function isChosen(name: string): boolean {
  return chosenThresholds.includes(name);
}

function chosenOf(threshold: ValueMap): [string, ValueMap[string]][] {
  return Object.entries(threshold).filter(([name]) => isChosen(name));
}

function isValue(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Years beyond 9999 are longer. */
const longestTime = 27;

/** Parses a time as JavaScript formats it; null for another format. */
function timeOf(text: string): number | null {
  return text.length > longestTime ? null : parsedTime(text);
}

// Checks that are evaluated together have the same time.
const parsedTime = memoized(64, (text: string): number | null => {
  const parsedMs = Date.parse(text);
  return Number.isFinite(parsedMs) && new Date(parsedMs).toISOString() === text ? parsedMs : null;
});
