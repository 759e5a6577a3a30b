import { checkKey } from "../contract/check-key.ts";
import type { CheckName, CheckReport } from "../contract/report.ts";
import { checkInstruments, runOutcomes, type RunOutcome } from "./catalogue.ts";
import {
  formatNoResult,
  formatTime,
  formatVerdict,
  targetLabels,
  type CheckFamily,
  type CheckLines,
} from "./check-verdict.ts";
import { textPart, type ExpositionPart } from "./exposition-body.ts";
import { formatFamily, formatHead, type ExpositionFormat } from "./exposition.ts";
import type { CheckSeriesInput } from "./metrics.ts";

/** The series of every (check, slug), rendered from state; what is not set is not shown. */
export interface CheckSeries {
  /** Shows a target, or its new state. Its runs_total exist from here on. */
  set(input: CheckSeriesInput): void;
  /** Shows a run that is not in the state of its target: no verdict, until a state is set again. */
  showError(report: CheckReport & { readonly kind: "error" }): void;
  /** Makes the targets exactly those of `inputs`: sets each, removes all others and their runs. */
  setAll(inputs: Iterable<CheckSeriesInput>): void;
  /** Counts a run; of a target that was never set it shows when it is. */
  countRun(check: CheckName, slug: string, outcome: RunOutcome): void;
  /** The whole families, HELP and TYPE once each, without `# EOF`; to be used before anything else is set. */
  render(format: ExpositionFormat, nowMs: number): readonly ExpositionPart[];
  /** Targets of a check whose last run gave a result that is not stale. */
  countFresh(check: CheckName, nowMs: number): number;
}

interface Target {
  /** The position of its line in the text of each family. */
  index: number;
  readonly check: CheckName;
  readonly slug: string;
  readonly labels: string;
  /** Lines of the last state, while its verdict is fresh. */
  lines: Encoded;
  /** The state that `lines` are not written of yet; null: they are. The report itself is not kept: it can be large. */
  unwritten: CheckSeriesInput | null;
  /** Instant at which its result becomes stale; null when the last run gave none. */
  staleAtMs: number | null;
  /** Whether a run failed that is not in its state. */
  hasFailed: boolean;
  /** Whether runs were counted since its lines were written. */
  isCounted: boolean;
  /** What the families show of it. */
  shown: Encoded;
  /** Whether its verdict is left out of that, because it is stale or a run has failed. */
  isHidden: boolean;
}

/** Lines as bytes: a scrape copies those of ten thousand targets in a third of the time of strings. */
type Encoded = Readonly<Partial<Record<CheckFamily, Buffer>>>;

type RunCounts = Record<RunOutcome, number>;

const families = Object.keys(checkInstruments) as CheckFamily[];
const verdictFamilies = families.filter((family) => !["lastRun", "lastSuccess", "nextRun", "runs"].includes(family));

const nothing = Buffer.alloc(0);
const noVerdict: Encoded = Object.fromEntries(verdictFamilies.map((family) => [family, nothing]));

/**
 * Creates the series. The lines of a target are written at the first scrape after its state changed, and put into
 * the texts of the families.
 */
export function createCheckSeries(): CheckSeries {
  const targets = new Map<string, Target>();
  const runs = new Map<string, RunCounts>();
  /** The targets in the order of the text. */
  let shownTargets: Target[] = [];
  const texts = new Map(families.map((family) => [family, new FamilyText()]));

  function targetOf(check: CheckName, slug: string): Target {
    const id = checkKey({ check, slug });
    const known = targets.get(id);
    if (known !== undefined) return known;
    const labels = targetLabels(check, slug);
    const state = { lines: {}, unwritten: null, staleAtMs: null, hasFailed: false, isCounted: false };
    const target: Target = { index: targets.size, check, slug, labels, ...state, shown: {}, isHidden: false };
    targets.set(id, target);
    shownTargets.push(target);
    return target;
  }

  function set(input: CheckSeriesInput): void {
    const { check, slug, lastReport } = input;
    const target = targetOf(check, slug);
    target.unwritten = input;
    target.hasFailed = false;
    target.staleAtMs = lastReport?.kind === "result" ? lastReport.finishedAtMs + input.staleAfterMs : null;
  }

  /** Writes the lines of a target. A stale result is hidden, and shown again when the clock is set back. */
  function write(target: Target, nowMs: number): void {
    const isHidden = target.hasFailed || (target.staleAtMs !== null && nowMs > target.staleAtMs);
    if (target.unwritten === null && !target.isCounted && isHidden === target.isHidden) return;
    const { check, slug, labels, unwritten } = target;
    if (unwritten !== null) target.lines = encode(formatState(unwritten, labels));
    target.unwritten = null;
    target.isCounted = false;
    target.isHidden = isHidden;
    const counts = runs.get(checkKey({ check, slug })) ?? noRuns;
    const verdict = isHidden ? { ...noVerdict, ...encode(formatNoResult(labels)) } : {};
    show(target, { ...target.lines, ...verdict, ...encode({ runs: formatRuns(counts, labels) }) });
  }

  function show(target: Target, lines: Encoded): void {
    for (const family of families)
      if (!(lines[family] ?? nothing).equals(target.shown[family] ?? nothing)) texts.get(family)?.note(target.index);
    target.shown = lines;
  }

  function removeAll(gone: ReadonlyMap<string, Target>): void {
    for (const id of gone.keys()) {
      runs.delete(id);
      targets.delete(id);
    }
    shownTargets = [...targets.values()];
    for (const [index, target] of shownTargets.entries()) target.index = index;
    for (const text of texts.values()) text.clear();
  }

  return {
    set,
    showError: (report) => {
      const target = targets.get(checkKey(report));
      if (target === undefined) return;
      target.hasFailed = true;
      target.staleAtMs = null;
    },
    setAll: (inputs) => {
      const gone = new Map(targets);
      for (const input of inputs) {
        set(input);
        gone.delete(checkKey(input));
      }
      if (gone.size > 0) removeAll(gone);
    },
    countRun: (check, slug, outcome) => {
      const id = checkKey({ check, slug });
      const counts = runs.get(id) ?? { ...noRuns };
      counts[outcome]++;
      runs.set(id, counts);
      const target = targets.get(id);
      if (target !== undefined) target.isCounted = true;
    },
    render: (format, nowMs) => {
      for (const target of targets.values()) write(target, nowMs);
      return families.flatMap((family) => {
        const linesOf = (index: number): Buffer => shownTargets[index]?.shown[family] ?? nothing;
        const bytes = texts.get(family)?.join(targets.size, linesOf) ?? nothing;
        return bytes.length === 0
          ? []
          : [textPart(formatHead(checkInstruments[family], format)), { bytes, isKept: true }];
      });
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

/** Renders the series of one run on their own, for `/probe`: what the run says, nothing that the daemon counts or plans. */
export function renderReport(report: CheckReport, format: ExpositionFormat): string {
  const lines = formatVerdict(report, targetLabels(report.check, report.slug));
  return verdictFamilies.map((family) => formatFamily(checkInstruments[family], lines[family] ?? "", format)).join("");
}

function encode(lines: CheckLines): Encoded {
  const encoded: Partial<Record<CheckFamily, Buffer>> = {};
  for (const family of families) {
    const text = lines[family] ?? "";
    if (text !== "") encoded[family] = Buffer.from(text);
  }
  return encoded;
}

function formatState(state: CheckSeriesInput, labels: string): CheckLines {
  const { lastReport, lastRunAtMs, lastSuccessAtMs, nextDueAtMs } = state;
  return {
    ...(lastReport === null ? {} : formatVerdict(lastReport, labels)),
    lastRun: formatTime("lastRun", labels, lastRunAtMs),
    lastSuccess: formatTime("lastSuccess", labels, lastSuccessAtMs),
    nextRun: formatTime("nextRun", labels, nextDueAtMs),
  };
}

const noRuns: Readonly<RunCounts> = { ok: 0, warn: 0, fail: 0, error: 0 };

// The labels are made once, because they are written at each run.
const runLabels = runOutcomes.map((outcome) => ({ outcome, label: `,outcome="${outcome}"}` }));

function formatRuns(counts: Readonly<RunCounts>, labels: string): string {
  let lines = "";
  for (const { outcome, label } of runLabels)
    lines += `${checkInstruments.runs.name}{${labels}${label} ${counts[outcome]}\n`;
  return lines;
}

/**
 * The text of one family: the lines of all targets, one after the other. Between two scrapes few of ten thousand targets
 * change, so what lies between them is copied in one piece.
 */
class FamilyText {
  #bytes: Buffer = nothing;
  /** How many bytes the lines of each target have, by its index. */
  #lengths: number[] = [];
  readonly #changed = new Set<number>();

  /** Notes that the lines of a target have changed. */
  note(index: number): void {
    this.#changed.add(index);
  }

  /** Drops the text: targets have other indexes now. */
  clear(): void {
    this.#bytes = nothing;
    this.#lengths = [];
    this.#changed.clear();
  }

  /** Returns the text of `count` targets; the same buffer as before if nothing has changed. */
  join(count: number, linesOf: (index: number) => Buffer): Buffer {
    const lengths = this.#lengths;
    for (let index = lengths.length; index < count; index++) {
      lengths.push(0);
      this.#changed.add(index);
    }
    if (this.#changed.size === 0) return this.#bytes;
    const before = this.#bytes;
    const changed = [...this.#changed].sort((left, right) => left - right);
    let byteLength = before.length;
    for (const index of changed) byteLength += linesOf(index).length - (lengths[index] ?? 0);
    const text = Buffer.allocUnsafeSlow(byteLength);
    let read = 0;
    let written = 0;
    let next = 0;
    for (const index of changed) {
      const from = read;
      for (; next < index; next++) read += lengths[next] ?? 0;
      written += before.copy(text, written, from, read);
      const lines = linesOf(index);
      written += lines.copy(text, written);
      read += lengths[index] ?? 0;
      lengths[index] = lines.length;
      next = index + 1;
    }
    before.copy(text, written, read);
    this.#bytes = text;
    this.#changed.clear();
    return text;
  }
}
