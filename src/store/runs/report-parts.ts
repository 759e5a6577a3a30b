import { createHash } from "node:crypto";
import { memoized } from "../../base/memo.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import type { CheckReport, ObservedCounts, ResultReport } from "../../contract/report.ts";

/** A result's report in two parts: what is the same from run to run, and what is not. */
export interface ReportParts {
  /** JSON with 0 where a value belongs; the same for organizations whose results differ in numbers only. */
  readonly shape: string;
  /** The same for the same shape. */
  readonly shapeId: string;
  /** The values in the order of the shape, as the doubles of a Float64Array (little-endian, as every machine that runs Node). */
  readonly values: Uint8Array;
}

/** Thresholds that are chosen; the others, as warnAbove, follow from the counts and move with each run. */
export const chosenThresholds: readonly string[] = [
  "windowHours",
  "baselineDays",
  "warnMultiplier",
  "failMultiplier",
  "minSpikeCount",
  "warnAfterSeconds",
  "failAfterSeconds",
];

// Fleets share a few sets of thresholds. One that is not among these costs JSON and a hash for each run, 5 µs instead of 1 (measured 2026-11).
const keptSamples = 32;
// A far side may send megabytes.
const longestSample = 4_096;
// A memo of a pure function.
const samples: { readonly report: ResultReport; readonly shape: string; readonly shapeId: string }[] = [];

/** Both parts of a report, from which `joinReport` makes it again. */
export function splitReport(report: ResultReport): ReportParts {
  const values = new Uint8Array(new Float64Array(valuesOf(report)).buffer);
  const known = samples.find((sample) => isSameShape(report, sample.report));
  if (known !== undefined) return { shape: known.shape, shapeId: known.shapeId, values };
  const shape = shapeOf(report);
  const shapeId = createHash("sha256").update(shape).digest("base64url").slice(0, 16);
  if (isPlain(report) && shape.length <= longestSample) {
    if (samples.length >= keptSamples) samples.shift();
    samples.push({ report, shape, shapeId });
  }
  return { shape, shapeId, values };
}

type Base = Pick<CheckReport, "check" | "slug" | "finishedAtMs">;

/** The report of these parts, to be validated as any that was stored. */
export function joinReport(base: Base, shape: string, values: Uint8Array): unknown {
  // Copied: eight bytes at a time are read where they are aligned only, and a Buffer's slice is no copy.
  const numbers = new Float64Array(Uint8Array.from(values).buffer);
  let next = 0;
  const take = <Value>(slot: Value): Value | number => (typeof slot === "number" ? (numbers[next++] ?? 0) : slot);
  const takeMap = (map: ValueMap, isFixed: (name: string) => boolean): unknown =>
    Object.fromEntries(Object.entries(map).map(([name, slot]) => [name, isFixed(name) ? slot : take(slot)]));
  const { result, counts, baselineCoverage, ...rest } = JSON.parse(shape) as ReportShape;
  // In the order of `valuesOf`.
  const startedAtMs = take(0);
  const { currentCount, baselineCount, expectedCount, ratio } = counts;
  const filledCounts = [take(currentCount), take(baselineCount), take(expectedCount), take(ratio)];
  const coverage = take(baselineCoverage);
  const generatedAt = take(result.generatedAt);
  return {
    ...base,
    startedAtMs,
    ...rest,
    result: {
      ...result,
      generatedAt: typeof generatedAt === "number" ? new Date(generatedAt).toISOString() : generatedAt,
      scope: result.scope ?? { slug: base.slug },
      observed: takeMap(result.observed, () => false),
      threshold: takeMap(result.threshold, isChosen),
      appUrl: unmarkedUrl(result.appUrl, base.slug),
    },
    counts: Object.fromEntries(countNames.map((name, index) => [name, filledCounts[index]])),
    baselineCoverage: coverage,
  };
}

type ValueMap = HealthcheckResult["observed"];

/** An address that names the organization, with a mark in place of its slug; any other as it is. */
type MarkedUrl = string | { readonly marked: string } | null;

/** A report as its shape has it, as far as it is not taken over: without what its row says, and with 0 for each value. */
interface ReportShape extends Pick<ResultReport, "counts" | "baselineCoverage"> {
  readonly result: {
    readonly [field: string]: unknown;
    /** 0: a time, among the values. */
    readonly generatedAt: string | 0;
    /** null: of the organization, and of nothing else. */
    readonly scope: HealthcheckResult["scope"] | null;
    readonly observed: ValueMap;
    readonly threshold: ValueMap;
    readonly appUrl: MarkedUrl;
  };
}

const countNames = [
  "currentCount",
  "baselineCount",
  "expectedCount",
  "ratio",
] as const satisfies readonly (keyof ObservedCounts)[];
const slugMark = "{slug}";
const apiFields = 12;

function valuesOf({ startedAtMs, counts, baselineCoverage, result }: ResultReport): number[] {
  const values = [startedAtMs];
  const note = (value: unknown): void => {
    // What JSON has no number for is null in the shape; it has no -0 either.
    if (isValue(value)) values.push(value + 0);
  };
  for (const name of countNames) note(counts[name]);
  note(baselineCoverage);
  note(timeOf(result.generatedAt));
  const { observed, threshold } = result;
  for (const name of Object.keys(observed)) note(observed[name]);
  for (const name of Object.keys(threshold)) if (!isChosen(name)) note(threshold[name]);
  return values;
}

function shapeOf({ check: _check, slug, startedAtMs: _from, finishedAtMs: _to, ...report }: ResultReport): string {
  const { result, counts, baselineCoverage } = report;
  const slots = (map: ValueMap): ValueMap =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, isValue(value) ? 0 : value]));
  const { observed, threshold, scope, appUrl, generatedAt } = result;
  const shape = {
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
  return JSON.stringify(shape);
}

/** Whether two reports have one shape; of a sample that is plain. */
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

/** Of what comes again and again: the API's fields and no more, no findings, about the organization, at a readable time. */
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

/** As JavaScript writes years beyond 9999. */
const longestTime = 27;

/** The instant of a time as JavaScript writes it; null for one that is written in another way. */
function timeOf(text: string): number | null {
  return text.length > longestTime ? null : parsedTime(text);
}

// What is evaluated together has one time.
const parsedTime = memoized(64, (text: string): number | null => {
  const parsedMs = Date.parse(text);
  return Number.isFinite(parsedMs) && new Date(parsedMs).toISOString() === text ? parsedMs : null;
});
