import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import type { HealthcheckMap } from "../contract/healthcheck.ts";
import { severities, type Severity } from "../contract/severity.ts";
import { noEvidence, type SpikeEvidence } from "../contract/spike-evidence.ts";
import { checkInstruments, resultSeverities, runOutcomes, type RunOutcome } from "./catalogue.ts";
import { escapeLabelValue, formatHead } from "./exposition.ts";

type CheckKey = Pick<CheckReport, "check" | "slug">;

/** The state of a (check, slug), for its series. */
export interface CheckSeriesInput extends CheckKey {
  /** The last run; null: none yet. An error report hides observed, threshold and findings. */
  readonly last: {
    readonly severity: Severity;
    readonly lastReport: CheckReport;
    readonly lastRunAtMs: number;
    readonly lastSuccessAtMs: number | null;
  } | null;
  readonly nextDueAtMs: number;
  /** An older verdict is shown like a failed run (three intervals, at least 2 min). */
  readonly staleAfterMs: () => number;
}

type Family = keyof typeof checkInstruments;

/** One series of a target: its metric, its label besides check and slug, and its value; null: absent. */
type CheckSample = readonly [family: Family, label: string, value: number | null];

type Lines = ReadonlyMap<Family, string>;

interface Target extends CheckKey {
  /** State without lines yet; null: the lines are written. The report is not kept, because it can be large. */
  unwritten: CheckSeriesInput | null;
  times: Lines;
  verdict: Lines;
  /** When its result is stale; Infinity: it has none; -Infinity: a run failed that its state does not have. */
  staleAtMs: number;
  /** Its lines by family; null: they have changed. */
  shown: readonly Buffer[] | null;
  /** `shown` leaves out the verdict, because it is stale or a run failed. */
  isHidden: boolean;
}

type Runs = Record<RunOutcome, number>;

const families = Object.keys(checkInstruments) as Family[];
const nothing: Lines = new Map();

/** The series of every (check, slug). */
export type CheckSeries = ReturnType<typeof createCheckSeries>;

/** Creates the series. The first scrape after a change writes a target's lines. */
export function createCheckSeries() {
  const targets = new Map<string, Target>();
  const runs = new Map<string, Runs>();

  function set(input: CheckSeriesInput): void {
    const { check, slug, last } = input;
    targets.set(checkKey(input), {
      check,
      slug,
      unwritten: input,
      times: nothing,
      verdict: nothing,
      staleAtMs:
        (last?.severity ?? "unknown") === "unknown" ? Infinity : (last?.lastRunAtMs ?? 0) + input.staleAfterMs(),
      shown: null,
      isHidden: false,
    });
  }

  return {
    /** Shows a target or its new state; its runs_total begin to exist. */
    set,
    /** Shows a failed run that the state does not have: no verdict until the next `set`. */
    showError: (key: CheckKey): void => {
      const target = targets.get(checkKey(key));
      if (target !== undefined) target.staleAtMs = -Infinity;
    },
    /** Replaces all targets: others are removed with their runs. */
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
    /** Counts a run. A target that is not set yet shows it later. */
    countRun: (key: CheckKey, outcome: RunOutcome): void => {
      const counts = runs.get(checkKey(key)) ?? { ...noRuns };
      counts[outcome]++;
      runs.set(checkKey(key), counts);
      const target = targets.get(checkKey(key));
      if (target !== undefined) target.shown = null;
    },
    render: (nowMs: number): Buffer[] => {
      // Joining bytes of ten thousand targets takes a fifth of the time of strings.
      const shown = Array.from(targets, ([key, target]) => showTarget(target, runs.get(key) ?? noRuns, nowMs));
      return families.flatMap((family, index) => {
        const lines = Buffer.concat(shown.flatMap((one) => one[index] ?? []));
        return lines.length === 0 ? [] : [Buffer.from(formatHead(family, checkInstruments[family])), lines];
      });
    },
    countFresh: (check: CheckName, nowMs: number): number => {
      let count = 0;
      for (const target of targets.values()) {
        if (target.check === check && target.staleAtMs !== Infinity && nowMs <= target.staleAtMs) count++;
      }
      return count;
    },
  };
}

/** Renders the series of one run for `/probe`, without what the daemon counts or plans. */
export function renderReport(report: CheckReport): string {
  const lines = linesOf(verdictSamples(report), targetLabels(report));
  return families
    .map((family) => (lines.has(family) ? formatHead(family, checkInstruments[family]) + lines.get(family) : ""))
    .join("");
}

function showTarget(target: Target, runs: Runs, nowMs: number): readonly Buffer[] {
  const { unwritten, staleAtMs } = target;
  const isHidden = nowMs > staleAtMs;
  if (target.shown !== null && target.isHidden === isHidden) return target.shown;
  const labels = targetLabels(target);
  if (unwritten !== null) {
    target.times = linesOf(timeSamples(unwritten), labels);
    target.verdict = unwritten.last === null ? nothing : linesOf(verdictSamples(unwritten.last.lastReport), labels);
  }
  target.unwritten = null;
  target.isHidden = isHidden;
  // A stale verdict is hidden.
  const verdict = isHidden ? linesOf(noResult, labels) : target.verdict;
  const counted = linesOf(runSamples(runs), labels);
  target.shown = families.map((family) =>
    Buffer.from(verdict.get(family) ?? target.times.get(family) ?? counted.get(family) ?? ""),
  );
  return target.shown;
}

function targetLabels({ check, slug }: CheckKey): string {
  return `check="${escapeLabelValue(check)}",slug="${escapeLabelValue(slug)}"`;
}

/** `labels` names the target: the start of each series. */
function linesOf(samples: readonly CheckSample[], labels: string): Lines {
  const lines = new Map<Family, string>();
  for (const [family, label, value] of samples) {
    if (value !== null && Number.isFinite(value))
      lines.set(family, `${lines.get(family) ?? ""}${family}{${labels}${label}} ${value}\n`);
  }
  return lines;
}

// Prometheus can bear this for ten thousand organizations (CONTRACT 6).
const mostKeys = 32;
const mostAssetTypes = 5;

const noResult: readonly CheckSample[] = [...severitySamples("unknown"), ["flatline_check_up", "", 0]];

/** Returns the series of a fresh verdict (CONTRACT 6). */
function verdictSamples(report: CheckReport): readonly CheckSample[] {
  if (report.kind === "error") return noResult;
  const { severity: held, counts, evidence } = report;
  const { observed, threshold, findings } = report.result;
  return [
    ...severitySamples(held),
    ["flatline_check_up", "", 1],
    ...mapSamples("flatline_check_observed", observed),
    ...mapSamples("flatline_check_threshold", threshold),
    ...resultSeverities.map((severity): CheckSample => {
      const count = findings.filter((finding) => finding.severity === severity).length;
      return ["flatline_check_findings", `,severity="${severity}"`, count];
    }),
    ["flatline_check_deaths", "", counts.currentCount],
    ["flatline_check_expected_deaths", "", counts.expectedCount],
    ...excessSamples(evidence ?? noEvidence),
  ];
}

function severitySamples(held: Severity): CheckSample[] {
  return severities.map((severity) => [
    "flatline_check_severity",
    `,severity="${severity}"`,
    Number(severity === held),
  ]);
}

function mapSamples(family: Family, map: HealthcheckMap): CheckSample[] {
  // A series for each day of a median would crowd out all others.
  const isMedian = family === "flatline_check_observed" && Object.hasOwn(map, "baselineDaysKnown");
  const values = new Map<string, number>();
  for (const [key, value] of Object.entries(map)) {
    if (isMedian && /^day\d+$/.test(key)) continue;
    if (typeof value === "boolean" || Number.isFinite(value)) values.set(key.toWellFormed(), Number(value));
  }
  const names = [...values.keys()].sort().slice(0, mostKeys);
  return names.map((name) => [family, `,key="${escapeLabelValue(name)}"`, values.get(name) ?? 0]);
}

function excessSamples({ assetTypes }: SpikeEvidence): CheckSample[] {
  const byType = Map.groupBy(assetTypes, ({ assetType }) => assetType.toWellFormed());
  return [...byType].slice(0, mostAssetTypes).map(([type, [first]]) => {
    const label = `,asset_type="${escapeLabelValue(type)}"`;
    return ["flatline_check_asset_type_excess", label, first?.excess ?? null];
  });
}

function timeSamples({ last, nextDueAtMs }: CheckSeriesInput): CheckSample[] {
  const seconds = (atMs: number | null): number | null => (atMs === null ? null : atMs / secondMs);
  return [
    ["flatline_check_last_run_timestamp_seconds", "", seconds(last?.lastRunAtMs ?? null)],
    ["flatline_check_last_success_timestamp_seconds", "", seconds(last?.lastSuccessAtMs ?? null)],
    ["flatline_check_next_run_timestamp_seconds", "", seconds(nextDueAtMs)],
  ];
}

const noRuns: Readonly<Runs> = { ok: 0, warn: 0, fail: 0, error: 0 };

function runSamples(runs: Runs): CheckSample[] {
  return runOutcomes.map((outcome) => ["flatline_check_runs_total", `,outcome="${outcome}"`, runs[outcome]]);
}
