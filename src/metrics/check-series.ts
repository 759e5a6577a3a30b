import { secondMs } from "../base/time.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import { checkInstruments, runOutcomes, type RunOutcome } from "./catalogue.ts";
import {
  formatNoResult,
  formatVerdict,
  targetLabels,
  targetLine,
  type CheckFamily,
  type CheckLines,
} from "./check-verdict.ts";
import { formatFamily, type ExpositionFormat } from "./exposition.ts";
import type { CheckSeriesInput } from "./metrics.ts";

/** The series of every (check, slug), rendered from state; what is not set is not shown. */
export interface CheckSeries {
  /** Shows a target, or its new state. Its runs_total exist from here on. */
  set(input: CheckSeriesInput): void;
  /** Drops everything of a target that is gone, its runs_total too. */
  remove(check: CheckName, slug: string): void;
  /** Makes the targets exactly those of `inputs`: sets each, removes all others. */
  setAll(inputs: Iterable<CheckSeriesInput>): void;
  /** Counts a run; of a target that was never set it shows when it is. */
  countRun(check: CheckName, slug: string, outcome: RunOutcome): void;
  /** The whole families, HELP and TYPE once each, without `# EOF`. */
  render(format: ExpositionFormat, nowMs: number): string;
  /** Targets of a check whose last run gave a result that is not stale. */
  countFresh(check: CheckName, nowMs: number): number;
}

interface Target {
  readonly check: CheckName;
  readonly slug: string;
  /** Of the input that the lines were made from. */
  readonly fingerprint: string;
  readonly labels: string;
  /** Null before the first run. The report itself is not kept: an upstream's can be large. */
  readonly verdict: { readonly lines: CheckLines; readonly isResult: boolean; readonly staleAtMs: number } | null;
  readonly timeLines: CheckLines;
  /** Made when they are first shown, and again when a run was counted. */
  runLines: string | null;
}

type RunCounts = Record<RunOutcome, number>;

const families = Object.keys(checkInstruments) as CheckFamily[];
const verdictFamilies = families.filter((family) => !["lastRun", "lastSuccess", "nextRun", "runs"].includes(family));

/** Lines are made when a target's state changes and joined at a scrape: 10,000 organizations take tens of milliseconds. */
export function createCheckSeries(): CheckSeries {
  const targets = new Map<string, Target>();
  const runs = new Map<string, RunCounts>();

  function set(input: CheckSeriesInput): void {
    const { check, slug, lastReport } = input;
    const id = key(check, slug);
    const fingerprint = fingerprintOf(input);
    const known = targets.get(id);
    if (known?.fingerprint === fingerprint) return;
    const labels = known?.labels ?? targetLabels(check, slug);
    targets.set(id, {
      check,
      slug,
      fingerprint,
      labels,
      verdict: lastReport === null ? null : verdictOf(lastReport, labels, input.staleAfterMs),
      timeLines: formatTimes(input, labels),
      runLines: known?.runLines ?? null,
    });
  }

  function remove(check: CheckName, slug: string): void {
    targets.delete(key(check, slug));
    runs.delete(key(check, slug));
  }

  return {
    set,
    remove,
    setAll: (inputs) => {
      const gone = new Map(targets);
      for (const input of inputs) {
        set(input);
        gone.delete(key(input.check, input.slug));
      }
      for (const { check, slug } of gone.values()) remove(check, slug);
    },
    countRun: (check, slug, outcome) => {
      const id = key(check, slug);
      const counts = runs.get(id) ?? { ...noRuns };
      counts[outcome]++;
      runs.set(id, counts);
      const target = targets.get(id);
      if (target !== undefined) target.runLines = null;
    },
    render: (format, nowMs) => {
      const parts = families.map((family) => ({ family, lines: [] as string[] }));
      for (const [id, target] of targets) {
        target.runLines ??= formatRuns(runs.get(id) ?? noRuns, target.labels);
        const verdict = currentLines(target, nowMs);
        for (const { family, lines } of parts) {
          lines.push(family === "runs" ? target.runLines : (verdict[family] ?? target.timeLines[family] ?? ""));
        }
      }
      return joinFamilies(parts, format);
    },
    countFresh: (check, nowMs) => {
      let count = 0;
      for (const { check: name, verdict } of targets.values()) {
        if (name === check && verdict !== null && verdict.isResult && nowMs <= verdict.staleAtMs) count++;
      }
      return count;
    },
  };
}

/** The series of one run on their own, for `/probe`: what the run says, nothing that the daemon counts or plans. */
export function renderReport(report: CheckReport, format: ExpositionFormat): string {
  const lines = formatVerdict(report, targetLabels(report.check, report.slug));
  return joinFamilies(
    verdictFamilies.map((family) => ({ family, lines: [lines[family] ?? ""] })),
    format,
  );
}

function key(check: string, slug: string): string {
  return `${check}\n${slug}`;
}

/** The same for the same run and times, without looking into the report: one target has one run at a time. */
function fingerprintOf({
  lastReport,
  lastRunAtMs,
  lastSuccessAtMs,
  nextDueAtMs,
  staleAfterMs,
}: CheckSeriesInput): string {
  const times = `${lastRunAtMs} ${lastSuccessAtMs} ${nextDueAtMs} ${staleAfterMs}`;
  if (lastReport === null) return times;
  const { startedAtMs, finishedAtMs, severity } = lastReport;
  const count = lastReport.kind === "result" ? lastReport.counts.currentCount : lastReport.error.reason;
  return `${times} ${startedAtMs} ${finishedAtMs} ${severity} ${count}`;
}

function verdictOf(report: CheckReport, labels: string, staleAfterMs: number): Target["verdict"] {
  return {
    lines: formatVerdict(report, labels),
    isResult: report.kind === "result",
    staleAtMs: report.finishedAtMs + staleAfterMs,
  };
}

function currentLines({ verdict, labels }: Target, nowMs: number): CheckLines {
  if (verdict === null) return {};
  return nowMs > verdict.staleAtMs && verdict.isResult ? formatNoResult(labels) : verdict.lines;
}

function formatTimes(input: CheckSeriesInput, labels: string): CheckLines {
  const line = (family: CheckFamily, atMs: number | null): string =>
    atMs === null ? "" : targetLine(family, labels, atMs / secondMs);
  return {
    lastRun: line("lastRun", input.lastRunAtMs),
    lastSuccess: line("lastSuccess", input.lastSuccessAtMs),
    nextRun: line("nextRun", input.nextDueAtMs),
  };
}

const noRuns: Readonly<RunCounts> = { ok: 0, warn: 0, fail: 0, error: 0 };

function formatRuns(counts: Readonly<RunCounts>, labels: string): string {
  return runOutcomes.map((outcome) => targetLine("runs", labels, counts[outcome], ["outcome", outcome])).join("");
}

function joinFamilies(
  parts: readonly { readonly family: CheckFamily; readonly lines: readonly string[] }[],
  format: ExpositionFormat,
): string {
  return parts.map(({ family, lines }) => formatFamily(checkInstruments[family], lines.join(""), format)).join("");
}
