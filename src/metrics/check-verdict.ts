import { secondMs } from "../base/time.ts";
import type { CheckReport, ResultReport } from "../contract/report.ts";
import { checkInstruments, resultSeverities } from "./catalogue.ts";
import { escapeLabelValue, formatValue } from "./exposition.ts";

export type CheckFamily = keyof typeof checkInstruments;

/** Lines of one (check, slug), per metric; a metric without lines is absent. */
export type CheckLines = Readonly<Partial<Record<CheckFamily, string>>>;

// Most keys of a free map that become series: what a Prometheus can bear of ten thousand organizations (CONTRACT 6).
const maxKeys = 32;
const maxAssetTypes = 5;

/** `check="…",slug="…"`, what every series of a target begins with. */
export function targetLabels(check: string, slug: string): string {
  return `check="${escapeLabelValue(check)}",slug="${escapeLabelValue(slug)}"`;
}

/** One sample of a target's family, with its line feed; `label` is its third label. */
function targetLine(
  family: CheckFamily,
  target: string,
  value: number,
  label?: readonly [name: string, value: string],
): string {
  const third = label === undefined ? "" : `,${label[0]}="${escapeLabelValue(label[1])}"`;
  return `${checkInstruments[family].name}{${target}${third}} ${formatValue(value)}\n`;
}

/** Formats a sample that is a time, in seconds since the epoch with three decimals; "" without one. */
export function formatTime(family: CheckFamily, target: string, atMs: number | null): string {
  return atMs === null ? "" : `${checkInstruments[family].name}{${target}} ${(atMs / secondMs).toFixed(3)}\n`;
}

/** Formats the lines that a verdict gives while it is fresh (CONTRACT 6); a run without a result gives those of `formatNoResult`. */
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

type ValueMap = Readonly<Record<string, string | number | boolean | null>>;

function formatFindings(findings: ResultReport["result"]["findings"], target: string): string {
  return resultSeverities
    .map((severity) => {
      const count = findings.filter((finding) => finding.severity === severity).length;
      return targetLine("findings", target, count, ["severity", severity]);
    })
    .join("");
}

/** Formats the lines of a target whose last run failed, or whose last verdict is too old: nothing stale is shown as fresh. */
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
  // The days of a median are for people: a series for each of them would crowd out all others.
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
  for (const { assetType, excess } of report.evidence?.assetTypes ?? []) {
    const name = assetType.toWellFormed();
    if (Number.isFinite(excess) && !byType.has(name)) byType.set(name, excess);
  }
  return [...byType]
    .slice(0, maxAssetTypes)
    .map(([assetType, excess]) => targetLine("assetTypeExcess", target, excess, ["asset_type", assetType]))
    .join("");
}
