import { gridPoints, type Grid, type GridPoint } from "../../backtest/grid.ts";
import { plotPage, plotTradeOff } from "../../backtest/plot.ts";
import {
  advice,
  chooseCandidate,
  isAdvice,
  paretoFront,
  type Choice,
  type TuningPoint,
} from "../../backtest/tuning.ts";
import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import type { BacktestCandidate, BacktestVariant } from "./backtest.ts";
import { backtest, type BacktestAsk, type BacktestDeps, type BacktestReport } from "./backtest-session.ts";
import type { TruthKind } from "./truth.ts";

/** What a search found. */
export interface TuneReport {
  readonly report: BacktestReport;
  /** All of them, in the order of the grid, and the advice. */
  readonly candidates: readonly TuneCandidate[];
  /** Those that no other one beats, from the quietest to the most watchful. */
  readonly front: readonly TuneCandidate[];
  readonly choice: TuneChoice;
  /** The advice among the candidates; null: it was not tried. */
  readonly advised: TuneCandidate | null;
  /** What to paste into the configuration, as data. */
  readonly settings: object;
  readonly plot: (kind: "svg" | "html") => string;
}

/** A candidate and how it was judged. */
export interface TuneCandidate extends TuningPoint {
  readonly name: string;
}

/** What is proposed: where `warn` begins, and where `fail` does. */
export interface TuneChoice extends Choice<TuneCandidate> {
  readonly failMultiplier: number;
}

// What people run: from nervous to deaf, and counts from a handful to a batch.
const usualGrid = {
  baseline: ["mean", "median"],
  baselineDays: [7, 28],
  warnMultiplier: [1.5, 2, 3, 4, 6, 8, 12],
  minSpikeCount: [5, 10, 20, 30, 50],
} as const;
const usualStepMs = hourMs;

const nothingToTuneBy: Readonly<Record<TruthKind, string>> = {
  labels: "no label",
  regret: "no day on which enough assets were found alive again",
  judged: "no alert is judged checker",
};

/**
 * Searches a grid of settings for the one that finds most with at most so many false alarms a week and organization,
 * those on real mass deaths left out. Each candidate is evaluated with fail where warn begins: fail is tried first, so that
 * a lower failMultiplier would decide for all that are above it.
 * @throws usage without an incident in the truth, and what backtest throws
 */
export async function tune(ask: BacktestAsk, mostAWeek: number, deps: BacktestDeps): Promise<TuneReport> {
  const { failMultiplier: ignored, ...grid } = ask.grid;
  if (ignored !== undefined)
    throw new FlatlineError("usage", "--fail-multiplier is what tune proposes: give values for --warn-multiplier");
  if (ask.configFiles.length > 1) throw new FlatlineError("usage", "tune takes one --config: it searches the rest");
  const truth = ask.truth ?? (ask.labels === null ? "regret" : null);
  const pointsFor = (variants: readonly BacktestVariant[]): GridPoint[] =>
    withAdvice({ ...usualGrid, ...baselinesFor(variants, grid), ...grid }).map(withFailAtWarn);
  const report = await backtest({ ...ask, truth, stepMs: ask.stepMs ?? usualStepMs }, deps, pointsFor);
  const points = report.candidates.map(pointOf);
  const chosen = chooseCandidate(points, mostAWeek);
  if (chosen === null || chosen.warn.score.incidents === 0) {
    throw new FlatlineError(
      "usage",
      `there is no incident to tune by in this stretch: ${nothingToTuneBy[report.truth ?? "labels"]}`,
    );
  }
  const { warn, fail } = chosen;
  const failMultiplier = fail?.thresholds.warnMultiplier ?? warn.thresholds.warnMultiplier * 2;
  const choice = { ...chosen, failMultiplier };
  const slugs = report.candidates[0]?.organizations.map(({ slug }) => slug) ?? [];
  return {
    report,
    candidates: points,
    front: paretoFront(points),
    choice,
    advised: points.find(isAdvice) ?? null,
    settings: settingsOf(choice, ask, slugs),
    plot: (kind) => (kind === "svg" ? plotTradeOff(points, warn) : plotPage(points, warn)),
  };
}

/** The mean is left out where assets are counted, unless it is asked for. */
function baselinesFor(variants: readonly BacktestVariant[], { count }: Grid): Pick<Grid, "baseline"> {
  const counted = count ?? variants.flatMap(({ organizations }) => organizations.map((one) => one.count));
  return counted.includes("assets") ? { baseline: ["median"] } : {};
}

/**
 * The points of the grid, and the advice beside them; but where the own lists leave out its baseline or its days: then it is not
 * wanted, or the events do not fill it.
 */
function withAdvice(grid: Grid): GridPoint[] {
  const points = gridPoints(grid);
  const { baselineDays, warnMultiplier, minSpikeCount } = advice.thresholds;
  const isWanted =
    grid.baseline?.includes(advice.baseline) === true && grid.baselineDays?.includes(baselineDays) === true;
  const isThere =
    grid.warnMultiplier?.includes(warnMultiplier) === true && grid.minSpikeCount?.includes(minSpikeCount) === true;
  if (!isWanted || isThere) return points;
  const advised = { baseline: advice.baseline, thresholds: { baselineDays, warnMultiplier, minSpikeCount } };
  return [...points, ...(grid.count?.map((count) => ({ ...advised, count })) ?? [advised])];
}

function withFailAtWarn(point: GridPoint): GridPoint {
  const { warnMultiplier } = point.thresholds;
  if (warnMultiplier === undefined) throw new FlatlineError("internal", "a candidate has no multiplier");
  return { ...point, thresholds: { ...point.thresholds, failMultiplier: warnMultiplier } };
}

function pointOf({ name, point, organizations, levels }: BacktestCandidate): TuneCandidate {
  const [first] = organizations;
  const score = levels.warn.score;
  if (first === undefined || score === null) throw new FlatlineError("internal", "a candidate was not judged");
  return {
    name,
    baseline: point.baseline ?? first.baseline,
    count: point.count ?? first.count,
    thresholds: { ...defaultThresholds, ...first.thresholds, ...point.thresholds },
    score,
  };
}

function settingsOf({ warn, failMultiplier }: TuneChoice, ask: BacktestAsk, slugs: readonly string[]): object {
  const { baseline, count, thresholds } = warn;
  const counted = count === "assets" || ask.grid.count !== undefined ? { count } : {};
  const settings = { baseline, ...counted, thresholds: { ...thresholds, failMultiplier } };
  return ask.slugs.length > 0
    ? { organizations: slugs.map((slug) => ({ slug, ...settings })) }
    : { defaults: settings };
}
