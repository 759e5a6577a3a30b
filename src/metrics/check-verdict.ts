import { memoized } from "../base/memo.ts";
import type { CheckReport, ResultReport } from "../contract/report.ts";
import { checkInstruments, resultSeverities } from "./catalogue.ts";
import { escapeLabelValue, formatValue } from "./exposition.ts";

export type CheckFamily = keyof typeof checkInstruments;

/** Lines of one (check, slug), per metric; a metric without lines is absent. */
export type CheckLines = Readonly<Partial<Record<CheckFamily, string>>>;

// Of the free maps: what a Prometheus can bear of ten thousand organizations (CONTRACT 6).
const maxKeys = 32;
const maxAssetTypes = 5;

/** `check="…",slug="…"`, what every series of a target begins with. */
export function targetLabels(check: string, slug: string): string {
  return `check="${escapeLabelValue(check)}",slug="${escapeLabelValue(slug)}"`;
}

/** One sample of a target's family, with its line feed; `label` is its third label. */
export function targetLine(
  family: CheckFamily,
  target: string,
  value: number,
  label?: readonly [name: string, value: string],
): string {
  const third = label === undefined ? "" : `,${label[0]}="${escapeLabelValue(label[1])}"`;
  return `${checkInstruments[family].name}{${target}${third}} ${formatValue(value)}\n`;
}

/** A sample that is a time, `timeTail` of seconds since the epoch. */
export function targetTimeLine(family: CheckFamily, target: string, tail: string): string {
  return `${checkInstruments[family].name}{${target}}${tail}`;
}

// Checks that run together have the same times.
const keptTails = 64;

/** A time as the end of its line: always as many characters, so that a new one takes the old one's place. */
export const timeTail = memoized(keptTails, (seconds: number) => ` ${seconds.toFixed(3)}\n`);

/** The lines that a verdict gives while it is fresh (CONTRACT 6); a run without a result gives those of `formatNoResult`. */
export function formatVerdict(report: CheckReport, target: string): CheckLines {
  if (report.kind === "error") return formatNoResult(target);
  const { observed, threshold, findings } = report.result;
  return {
    severity: formatSeverity(report.severity, target),
    up: targetLine("up", target, 1),
    observed: formatMap("observed", observed, target),
    threshold: formatMap("threshold", threshold, target),
    findings: formatFindings(findings, target),
    deaths: formatCount("deaths", report.counts.currentCount, target),
    expectedDeaths: formatCount("expectedDeaths", report.counts.expectedCount, target),
    assetTypeExcess: formatExcess(report, target),
  };
}

/** What the lines of a verdict are made of, for whoever wrote them before; an error's are made of nothing. */
export type VerdictSource = Pick<ResultReport, "severity" | "counts" | "assetTypeExcess"> &
  Pick<ResultReport["result"], "observed" | "threshold" | "findings">;

/** Lists that are as long as this are written anew without a look: what is kept to compare with stays small. */
const comparedKeys = 16;

/** What to keep of a verdict, to learn later which lines the next one changes; null: it is too large to be kept. */
export function verdictSource({ severity, counts, assetTypeExcess, result }: ResultReport): VerdictSource | null {
  const { observed, threshold, findings } = result;
  // Only a verdict without findings comes again and again; large maps are the far side's, and not kept.
  if (findings.length > 0 || isLarge(observed) || isLarge(threshold)) return null;
  const excess = assetTypeExcess === undefined ? {} : { assetTypeExcess };
  return { severity, counts, observed, threshold, findings, ...excess };
}

/** The lines that differ from those of `before`; the others are as they were. */
export function formatChanges(report: ResultReport, before: VerdictSource, target: string): CheckLines {
  const { result, counts, severity } = report;
  const lines: Partial<Record<CheckFamily, string>> = {};
  if (severity !== before.severity) lines.severity = formatSeverity(severity, target);
  if (!isSame(result.observed, before.observed)) lines.observed = formatMap("observed", result.observed, target);
  if (!isSame(result.threshold, before.threshold)) lines.threshold = formatMap("threshold", result.threshold, target);
  if (result.findings.length > 0) lines.findings = formatFindings(result.findings, target);
  if (counts.currentCount !== before.counts.currentCount)
    lines.deaths = formatCount("deaths", counts.currentCount, target);
  if (counts.expectedCount !== before.counts.expectedCount)
    lines.expectedDeaths = formatCount("expectedDeaths", counts.expectedCount, target);
  if (report.assetTypeExcess !== undefined || before.assetTypeExcess !== undefined)
    lines.assetTypeExcess = formatExcess(report, target);
  return lines;
}

type ValueMap = Readonly<Record<string, string | number | boolean | null>>;

function isLarge(map: ValueMap): boolean {
  return Object.keys(map).length > comparedKeys;
}

function isSame(left: ValueMap, right: ValueMap): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || left[key] !== right[key]) return false;
  return true;
}

function formatFindings(findings: ResultReport["result"]["findings"], target: string): string {
  return resultSeverities
    .map((severity) => {
      const count = findings.filter((finding) => finding.severity === severity).length;
      return targetLine("findings", target, count, ["severity", severity]);
    })
    .join("");
}

/** The lines of a target whose last run failed, or whose last verdict is too old: nothing stale is shown as fresh. */
export function formatNoResult(target: string): CheckLines {
  return { severity: formatSeverity("unknown", target), up: targetLine("up", target, 0) };
}

function formatSeverity(current: string, target: string): string {
  return checkInstruments.severity.values.severity
    .map((severity) => targetLine("severity", target, severity === current ? 1 : 0, ["severity", severity]))
    .join("");
}

function formatMap(family: "observed" | "threshold", map: ValueMap, target: string): string {
  const values = new Map<string, number>();
  // A median's days are for people: a series for each of them would crowd out all others.
  const isMedian = family === "observed" && Object.hasOwn(map, "baselineDaysKnown");
  for (const [key, value] of Object.entries(map)) {
    const name = key.toWellFormed();
    if (isMedian && /^day\d+$/.test(key)) continue;
    if (typeof value === "boolean") values.set(name, value ? 1 : 0);
    else if (typeof value === "number" && Number.isFinite(value)) values.set(name, value);
  }
  const names = [...values.keys()].sort().slice(0, maxKeys);
  return names.map((name) => targetLine(family, target, values.get(name) ?? 0, ["key", name])).join("");
}

function formatCount(family: "deaths" | "expectedDeaths", count: number | null, target: string): string {
  return count === null || !Number.isFinite(count) ? "" : targetLine(family, target, count);
}

function formatExcess(report: ResultReport, target: string): string {
  const byType = new Map<string, number>();
  for (const { assetType, excess } of report.assetTypeExcess ?? []) {
    const name = assetType.toWellFormed();
    if (Number.isFinite(excess) && !byType.has(name)) byType.set(name, excess);
  }
  return [...byType]
    .slice(0, maxAssetTypes)
    .map(([assetType, excess]) => targetLine("assetTypeExcess", target, excess, ["asset_type", assetType]))
    .join("");
}
