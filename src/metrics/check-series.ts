import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckName, CheckReport, ResultReport } from "../contract/report.ts";
import { severities } from "../contract/severity.ts";
import { checkInstruments, resultSeverities, runOutcomes, type RunOutcome } from "./catalogue.ts";
import { escapeLabelValue, formatHead, formatValue } from "./exposition.ts";

type CheckKey = Pick<CheckReport, "check" | "slug">;

/** The state of a (check, slug) from which its series are rendered. */
export interface CheckSeriesInput extends CheckKey {
  /** The last run, or null before the first. An error report hides observed, threshold and findings. */
  readonly lastReport: CheckReport | null;
  readonly lastRunAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
  readonly nextDueAtMs: number;
  /** A last verdict older than this is shown as after a failed run (three intervals, at least 2 min). */
  readonly staleAfterMs: number;
}

type Family = keyof typeof checkInstruments;

/** Lines of one (check, slug), per metric; a metric without lines is absent. */
type Lines = Readonly<Partial<Record<Family, string>>>;

interface Target extends CheckKey {
  /** `check="…",slug="…"`, what each of its series begins with. */
  readonly labels: string;
  /** The state that `lines` are not written of yet; null: they are. The report is not kept: it can be large. */
  unwritten: CheckSeriesInput | null;
  lines: Lines;
  /** Instant at which its result becomes stale; null when the last run gave none. */
  staleAtMs: number | null;
  /** Whether a run failed that is not in its state. */
  hasFailed: boolean;
  /** What each family shows of it; null: something has changed. */
  shown: readonly Buffer[] | null;
  /** Whether its verdict is left out of that, because it is stale or a run has failed. */
  isHidden: boolean;
}

type Runs = Record<RunOutcome, number>;

const families = Object.keys(checkInstruments) as Family[];

/** The series of every (check, slug), rendered from state; what is not set is not shown. */
export type CheckSeries = ReturnType<typeof createCheckSeries>;

/** Creates the series. The lines of a target are written at the first scrape after its state changed. */
export function createCheckSeries() {
  const targets = new Map<string, Target>();
  const runs = new Map<string, Runs>();

  function set(input: CheckSeriesInput): void {
    const { check, slug, lastReport } = input;
    const key = checkKey(input);
    const known = targets.get(key);
    targets.set(key, {
      check,
      slug,
      labels: known?.labels ?? targetLabels(input),
      unwritten: input,
      lines: {},
      staleAtMs: lastReport?.kind === "result" ? lastReport.finishedAtMs + input.staleAfterMs : null,
      hasFailed: false,
      shown: null,
      isHidden: false,
    });
  }

  return {
    /** Shows a target, or its new state. Its runs_total exist from here on. */
    set,
    /** Shows a run that is not in the state of its target: no verdict, until a state is set again. */
    showError: (key: CheckKey): void => {
      const target = targets.get(checkKey(key));
      if (target === undefined) return;
      target.hasFailed = true;
      target.staleAtMs = null;
    },
    /** Makes the targets exactly those of `inputs`: sets each, removes all others and their runs. */
    setAll: (inputs: Iterable<CheckSeriesInput>): void => {
      const gone = new Set(targets.keys());
      for (const input of inputs) {
        set(input);
        gone.delete(checkKey(input));
      }
      for (const key of gone) {
        targets.delete(key);
        runs.delete(key);
      }
    },
    /** Counts a run; of a target that was never set it shows when it is. */
    countRun: (key: CheckKey, outcome: RunOutcome): void => {
      const counts = runs.get(checkKey(key)) ?? { ...noRuns };
      counts[outcome]++;
      runs.set(checkKey(key), counts);
      const target = targets.get(checkKey(key));
      if (target !== undefined) target.shown = null;
    },
    /** The whole families, HELP and TYPE once each. */
    render: (nowMs: number): Buffer[] => {
      // Bytes, because to join those of ten thousand targets takes a fifth of the time of strings.
      const shown = Array.from(targets, ([key, target]) => showTarget(target, runs.get(key) ?? noRuns, nowMs));
      return families.flatMap((family, index) => {
        const lines = Buffer.concat(shown.map((one) => one[index] ?? nothing));
        return lines.length === 0 ? [] : [Buffer.from(formatHead(checkInstruments[family])), lines];
      });
    },
    /** Targets of a check whose last run gave a result that is not stale. */
    countFresh: (check: CheckName, nowMs: number): number => {
      let count = 0;
      for (const target of targets.values()) {
        if (target.check === check && target.staleAtMs !== null && nowMs <= target.staleAtMs) count++;
      }
      return count;
    },
  };
}

/** Renders the series of one run on their own, for `/probe`: what the run says, nothing that the daemon counts or plans. */
export function renderReport(report: CheckReport): string {
  const lines = verdictLines(report, targetLabels(report));
  return families.map((family) => (lines[family] ? formatHead(checkInstruments[family]) + lines[family] : "")).join("");
}

const nothing = Buffer.alloc(0);

function showTarget(target: Target, runs: Runs, nowMs: number): readonly Buffer[] {
  const { labels, unwritten, staleAtMs } = target;
  const isHidden = target.hasFailed || (staleAtMs !== null && nowMs > staleAtMs);
  if (target.shown !== null && target.isHidden === isHidden) return target.shown;
  if (unwritten !== null) target.lines = stateLines(unwritten, labels);
  target.unwritten = null;
  target.isHidden = isHidden;
  const lines: Lines = { ...(isHidden ? hideVerdict(target) : target.lines), runs: runLines(runs, labels) };
  target.shown = families.map((family) => Buffer.from(lines[family] ?? ""));
  return target.shown;
}

/** Nothing stale is shown as fresh. */
function hideVerdict({ labels, lines: { lastRun = "", lastSuccess = "", nextRun = "" } }: Target): Lines {
  return { ...noResultLines(labels), lastRun, lastSuccess, nextRun };
}

function stateLines(
  { lastReport, lastRunAtMs, lastSuccessAtMs, nextDueAtMs }: CheckSeriesInput,
  labels: string,
): Lines {
  return {
    ...(lastReport === null ? {} : verdictLines(lastReport, labels)),
    lastRun: timeLine("lastRun", labels, lastRunAtMs),
    lastSuccess: timeLine("lastSuccess", labels, lastSuccessAtMs),
    nextRun: timeLine("nextRun", labels, nextDueAtMs),
  };
}

// What a Prometheus can bear of ten thousand organizations (CONTRACT 6).
const mostKeys = 32;
const mostAssetTypes = 5;

function targetLabels({ check, slug }: CheckKey): string {
  return `check="${escapeLabelValue(check)}",slug="${escapeLabelValue(slug)}"`;
}

function line(family: Family, target: string, value: number, third = ""): string {
  return `${checkInstruments[family].name}{${target}${third}} ${formatValue(value)}\n`;
}

/** A time is in seconds since the epoch with three decimals. */
function timeLine(family: Family, target: string, atMs: number | null): string {
  return atMs === null ? "" : `${checkInstruments[family].name}{${target}} ${(atMs / secondMs).toFixed(3)}\n`;
}

/** Formats the lines that a verdict gives while it is fresh (CONTRACT 6). */
function verdictLines(report: CheckReport, target: string): Lines {
  if (report.kind === "error") return noResultLines(target);
  const { observed, threshold, findings } = report.result;
  const findingsOf = (severity: string): number => findings.filter((finding) => finding.severity === severity).length;
  return {
    severity: severityLines(report.severity, target),
    up: line("up", target, 1),
    observed: mapLines("observed", observed, target),
    threshold: mapLines("threshold", threshold, target),
    findings: resultSeverities
      .map((severity) => line("findings", target, findingsOf(severity), `,severity="${severity}"`))
      .join(""),
    deaths: countLine("deaths", report.counts.currentCount, target),
    expectedDeaths: countLine("expectedDeaths", report.counts.expectedCount, target),
    assetTypeExcess: excessLines(report, target),
  };
}

function noResultLines(target: string): Lines {
  return { severity: severityLines("unknown", target), up: line("up", target, 0) };
}

function severityLines(current: string, target: string): string {
  return severities
    .map((severity) => line("severity", target, severity === current ? 1 : 0, `,severity="${severity}"`))
    .join("");
}

function mapLines(family: "observed" | "threshold", map: ResultReport["result"]["observed"], target: string): string {
  const values = new Map<string, number>();
  // The days of a median are for people: a series for each of them would crowd out all others.
  const isMedian = family === "observed" && Object.hasOwn(map, "baselineDaysKnown");
  for (const [key, value] of Object.entries(map)) {
    if (isMedian && /^day\d+$/.test(key)) continue;
    if (typeof value === "boolean" || Number.isFinite(value)) values.set(key.toWellFormed(), Number(value));
  }
  const names = [...values.keys()].sort().slice(0, mostKeys);
  return names.map((name) => line(family, target, values.get(name) ?? 0, `,key="${escapeLabelValue(name)}"`)).join("");
}

function countLine(family: Family, count: number | null, target: string): string {
  return count === null || !Number.isFinite(count) ? "" : line(family, target, count);
}

function excessLines({ evidence }: ResultReport, target: string): string {
  const byType = new Map<string, number>();
  for (const { assetType, excess } of evidence?.assetTypes ?? []) {
    const name = assetType.toWellFormed();
    if (Number.isFinite(excess) && !byType.has(name)) byType.set(name, excess);
  }
  return [...byType]
    .slice(0, mostAssetTypes)
    .map(([name, excess]) => line("assetTypeExcess", target, excess, `,asset_type="${escapeLabelValue(name)}"`))
    .join("");
}

const noRuns: Readonly<Runs> = { ok: 0, warn: 0, fail: 0, error: 0 };
const runLabels = runOutcomes.map((outcome) => ({ outcome, label: `,outcome="${outcome}"` }));

function runLines(runs: Runs, target: string): string {
  let lines = "";
  for (const { outcome, label } of runLabels) lines += line("runs", target, runs[outcome], label);
  return lines;
}
