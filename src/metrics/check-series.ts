import { secondMs } from "../base/time.ts";
import { checkKey } from "../contract/check-key.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import { checkInstruments, runOutcomes, type RunOutcome } from "./catalogue.ts";
import {
  formatChanges,
  formatNoResult,
  formatVerdict,
  targetLabels,
  targetTimeLine,
  timeTail,
  verdictSource,
  type CheckFamily,
  type CheckLines,
  type VerdictSource,
} from "./check-verdict.ts";
import type { ExpositionPart } from "./exposition-body.ts";
import { formatFamily, formatHead, type ExpositionFormat } from "./exposition.ts";
import { createFamilyRows, type FamilyRows } from "./family-rows.ts";
import type { CheckSeriesInput } from "./metrics.ts";

/** The series of every (check, slug), rendered from state; what is not set is not shown. */
export interface CheckSeries {
  /** Shows a target, or its new state. Its runs_total exist from here on. */
  set(input: CheckSeriesInput): void;
  /** Shows a run that is not in the state of its target: no verdict, until a state is set again. */
  showError(report: CheckReport & { readonly kind: "error" }): void;
  /** Drops everything of a target that is gone, its runs_total too. */
  remove(check: CheckName, slug: string): void;
  /** Makes the targets exactly those of `inputs`: sets each, removes all others. */
  setAll(inputs: Iterable<CheckSeriesInput>): void;
  /** Counts a run; of a target that was never set it shows when it is. */
  countRun(check: CheckName, slug: string, outcome: RunOutcome): void;
  /** The whole families, HELP and TYPE once each, without `# EOF`; to be used before anything else is set. */
  render(format: ExpositionFormat, nowMs: number): readonly ExpositionPart[];
  /** Targets of a check whose last run gave a result that is not stale. */
  countFresh(check: CheckName, nowMs: number): number;
}

interface Target {
  readonly check: CheckName;
  readonly slug: string;
  readonly labels: string;
  /** Which rows are its. */
  readonly row: number;
  /** What the lines were made from; null: to be made anew. The report itself is not kept: it can be large. */
  shown: ShownRun | null;
  /** When its result becomes stale; null when the last run gave none. */
  staleAtMs: number | null;
  /** The lines of a result that is stale, for a clock that is set back; null while they are shown. */
  staleLines: CheckLines | null;
  /** What the lines are made of that are shown now; null: they are to be written anew, all of them. */
  source: VerdictSource | null;
  /** How long the shown times are; 0: not shown. */
  readonly tailBytes: Record<TimeFamily, number>;
}

type RunCounts = Record<RunOutcome, number>;

const families = Object.keys(checkInstruments) as CheckFamily[];
const verdictFamilies = families.filter((family) => !["lastRun", "lastSuccess", "nextRun", "runs"].includes(family));

/** Lines are written when a target's state changes; a scrape looks for results that became stale and joins bytes. */
export function createCheckSeries(): CheckSeries {
  const targets = new Map<string, Target>();
  const runs = new Map<string, RunCounts>();
  const rows = Object.fromEntries(families.map((family) => [family, createFamilyRows()])) as Readonly<
    Record<CheckFamily, FamilyRows>
  >;
  const freeRows: number[] = [];

  function add(check: CheckName, slug: string): Target {
    const row = freeRows.pop() ?? targets.size;
    const labels = targetLabels(check, slug);
    const target: Target = {
      check,
      slug,
      labels,
      row,
      shown: null,
      staleAtMs: null,
      staleLines: null,
      source: null,
      tailBytes: { lastRun: 0, lastSuccess: 0, nextRun: 0 },
    };
    targets.set(checkKey(check, slug), target);
    return target;
  }

  function set(input: CheckSeriesInput): void {
    const { check, slug, lastReport } = input;
    const id = checkKey(check, slug);
    const known = targets.get(id);
    if (known !== undefined && known.shown !== null && isShown(known.shown, input)) return;
    const target = known ?? add(check, slug);
    const { row, labels } = target;
    target.shown = shownRun(input);
    target.staleAtMs = lastReport?.kind === "result" ? lastReport.finishedAtMs + input.staleAfterMs : null;
    showVerdict(target, lastReport);
    writeTime(target, "lastRun", input.lastRunAtMs);
    writeTime(target, "lastSuccess", input.lastSuccessAtMs);
    writeTime(target, "nextRun", input.nextDueAtMs);
    if (known === undefined) rows.runs.write(row, formatRuns(runs.get(id) ?? noRuns, labels));
  }

  function showVerdict(target: Target, report: CheckReport | null): void {
    const { source, labels, row } = target;
    const isFresh = target.staleLines === null && source !== null;
    target.staleLines = null;
    target.source = report?.kind === "result" ? verdictSource(report) : null;
    if (!isFresh || report?.kind !== "result") {
      writeVerdict(target, report === null ? {} : formatVerdict(report, labels));
      return;
    }
    for (const [family, lines] of Object.entries(formatChanges(report, source, labels)))
      rows[family as CheckFamily].write(row, lines);
  }

  function writeTime({ row, labels, tailBytes }: Target, family: TimeFamily, atMs: number | null): void {
    const tail = atMs === null ? "" : timeTail(atMs / secondMs);
    if (tail !== "" && tail.length === tailBytes[family]) rows[family].writeTail(row, tail);
    else rows[family].write(row, tail === "" ? "" : targetTimeLine(family, labels, tail));
    tailBytes[family] = tail.length;
  }

  function writeVerdict({ row }: Target, lines: CheckLines): void {
    for (const family of verdictFamilies) rows[family].write(row, lines[family] ?? "");
  }

  /** Nothing stale is shown as fresh; what is hidden comes back when the clock does. */
  function hideOrShow(target: Target, nowMs: number): void {
    if (target.staleAtMs === null) return;
    const isStale = nowMs > target.staleAtMs;
    if (isStale && target.staleLines === null) {
      target.staleLines = Object.fromEntries(verdictFamilies.map((family) => [family, rows[family].read(target.row)]));
      writeVerdict(target, formatNoResult(target.labels));
    } else if (!isStale && target.staleLines !== null) {
      writeVerdict(target, target.staleLines);
      target.staleLines = null;
    }
  }

  function remove(check: CheckName, slug: string): void {
    const id = checkKey(check, slug);
    runs.delete(id);
    const target = targets.get(id);
    if (target === undefined) return;
    for (const family of families) rows[family].write(target.row, "");
    freeRows.push(target.row);
    targets.delete(id);
  }

  return {
    set,
    showError: (report) => {
      const target = targets.get(checkKey(report.check, report.slug));
      if (target === undefined) return;
      target.shown = null;
      target.staleAtMs = null;
      target.staleLines = null;
      target.source = null;
      writeVerdict(target, formatVerdict(report, target.labels));
    },
    remove,
    setAll: (inputs) => {
      const gone = new Map(targets);
      for (const input of inputs) {
        set(input);
        gone.delete(checkKey(input.check, input.slug));
      }
      for (const { check, slug } of gone.values()) remove(check, slug);
    },
    countRun: (check, slug, outcome) => {
      const id = checkKey(check, slug);
      const counts = runs.get(id) ?? { ...noRuns };
      counts[outcome]++;
      runs.set(id, counts);
      const target = targets.get(id);
      if (target !== undefined) rows.runs.write(target.row, formatRuns(counts, target.labels));
    },
    render: (format, nowMs) => {
      for (const target of targets.values()) hideOrShow(target, nowMs);
      return families
        .map((family) => ({ family, blocks: rows[family].blocks() }))
        .filter(({ blocks }) => blocks.some(({ length }) => length > 0))
        .map(({ family, blocks }) => ({
          chunks: [Buffer.from(formatHead(checkInstruments[family], format)), ...blocks],
          revision: rows[family].revision(format),
        }));
    },
    countFresh: (check, nowMs) => {
      let count = 0;
      for (const { check: name, staleAtMs } of targets.values()) {
        if (name === check && staleAtMs !== null && nowMs <= staleAtMs) count++;
      }
      return count;
    },
  };
}

/** The series of one run on their own, for `/probe`: what the run says, nothing that the daemon counts or plans. */
export function renderReport(report: CheckReport, format: ExpositionFormat): string {
  const lines = formatVerdict(report, targetLabels(report.check, report.slug));
  return verdictFamilies.map((family) => formatFamily(checkInstruments[family], lines[family] ?? "", format)).join("");
}

/** What tells two inputs of one target apart, without looking into the report: one target has one run at a time. */
interface ShownRun extends Pick<CheckSeriesInput, "lastRunAtMs" | "lastSuccessAtMs" | "nextDueAtMs" | "staleAfterMs"> {
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly severity: string | null;
  /** Of deaths, or why there is none. */
  readonly count: number | string | null;
}

function shownRun({ lastReport, lastRunAtMs, lastSuccessAtMs, nextDueAtMs, staleAfterMs }: CheckSeriesInput): ShownRun {
  return {
    lastRunAtMs,
    lastSuccessAtMs,
    nextDueAtMs,
    staleAfterMs,
    startedAtMs: lastReport?.startedAtMs ?? null,
    finishedAtMs: lastReport?.finishedAtMs ?? null,
    severity: lastReport?.severity ?? null,
    count: countOf(lastReport),
  };
}

function isShown(shown: ShownRun, input: CheckSeriesInput): boolean {
  const { lastReport } = input;
  return (
    shown.lastRunAtMs === input.lastRunAtMs &&
    shown.lastSuccessAtMs === input.lastSuccessAtMs &&
    shown.nextDueAtMs === input.nextDueAtMs &&
    shown.staleAfterMs === input.staleAfterMs &&
    shown.startedAtMs === (lastReport?.startedAtMs ?? null) &&
    shown.finishedAtMs === (lastReport?.finishedAtMs ?? null) &&
    shown.severity === (lastReport?.severity ?? null) &&
    shown.count === countOf(lastReport)
  );
}

function countOf(report: CheckReport | null): number | string | null {
  if (report === null) return null;
  return report.kind === "result" ? report.counts.currentCount : report.error.reason;
}

type TimeFamily = "lastRun" | "lastSuccess" | "nextRun";

const noRuns: Readonly<RunCounts> = { ok: 0, warn: 0, fail: 0, error: 0 };

// Written at each run.
const runLabels = runOutcomes.map((outcome) => ({ outcome, label: `,outcome="${outcome}"}` }));

function formatRuns(counts: Readonly<RunCounts>, labels: string): string {
  let lines = "";
  for (const { outcome, label } of runLabels)
    lines += `${checkInstruments.runs.name}{${labels}${label} ${counts[outcome]}\n`;
  return lines;
}
