import { InvalidArgumentError, type Command } from "commander";
import { stringify } from "yaml";

import { gridPoints, type Grid, type GridPoint } from "../../backtest/grid.ts";
import {
  advice,
  chooseCandidate,
  isAdvice,
  paretoFront,
  type Choice,
  type TuningPoint,
} from "../../backtest/tuning.ts";
import { FlatlineError } from "../../base/errors.ts";
import { secondMs, hourMs } from "../../base/time.ts";
import { backtest, type BacktestAsk, type BacktestDeps, type BacktestReport } from "./session.ts";
import type { BacktestCandidate, BacktestVariant } from "./run-backtest.ts";
import type { TruthKind } from "./truth.ts";
import { defaultThresholds } from "../../spike/thresholds.ts";
import { createProgressLine, type CliContext, type RegisterCommand } from "../context.ts";
import { renderTable } from "../table.ts";
import { addReplayFlags, askOf, type ReplayFlags } from "./replay-flags.ts";
import { formatDelay, summarize } from "./replay-view.ts";
import { asJson } from "../values.ts";

interface TuneFlags extends ReplayFlags {
  readonly maxFalseAlarms: number;
  readonly all?: boolean;
}

/** `flatline tune [SLUG…]` */
export const registerTune: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("tune")
    .description("search settings that find most incidents with few false alarms; prints the YAML to paste")
    .argument("[slug...]", "organizations to tune for [all that have events]");
  addReplayFlags(command)
    .option(
      "--max-false-alarms <rate>",
      "most false alarms a week and organization, those on real mass deaths left out",
      parseRate,
      0.5,
    )
    .option("--all", "show every candidate, not only those that no other one beats")
    .option("--json", "print {truth, chosen, adviceAsGood, failMultiplier, yaml, candidates}")
    .addHelpText("after", help)
    .action(async (slugs: string[], flags: TuneFlags) => {
      const progress = createProgressLine(context);
      const startedAtMs = context.clock.monotonicMs();
      try {
        const found = await tune(askOf(slugs, flags, context.clock.nowMs()), flags.maxFalseAlarms, {
          ...context,
          onProgress: progress.show,
        });
        progress.clear();
        context.stderr.write(summarize(found.report, context.clock.monotonicMs() - startedAtMs));
        context.stdout.write(flags.json === true ? renderJson(found) : render(found, flags, context));
      } finally {
        progress.clear();
      }
    });
};

const help = `
Every combination of the baseline, multipliers and counts is replayed hour by hour (--step) and held against labels, against
the judgements of alerts (--truth judged), or against regret: days on which many of the dead were found alive. Without lists of your own:
  --baseline mean,median --baseline-days 7,28 --warn-multiplier 1.5,2,3,4,6,8,12 --min-spike-count 5,10,20,30,50
and the advice of init: the median of 28 days, ×2.5, at least 20. All are replayed over the same stretch, which begins
when the longest baseline is full: --baseline-days 7 is for events of few weeks, and leaves the advice out.
With --count assets, or where assets are configured to be counted, the mean is left out.
Each is evaluated with fail where warn begins. An alert that is about no incident is a false alarm; FALSE A WEEK leaves out
those on days on which many assets really died, as far as the truth knows them, WITH MASS DEATHS has them too. Chosen is
what finds most with at most --max-false-alarms, those on mass deaths left out; of equals the nearest to the advice, not the
quietest. Settings that fit the past too well promise too much: hold the
proposal against a stretch that tune has not seen (--from, --to, then flatline backtest).

Examples:
  flatline tune                                           over the stored events, by regret
  flatline tune --truth judged                            by what people said of alerts
  flatline tune acme --max-false-alarms 0.2
  flatline tune --events events.csv.gz --labels labels.json
`;

function render(found: TuneReport, flags: TuneFlags, context: CliContext): string {
  const { candidates, front, choice, settings } = found;
  const isOnFront = front.includes(choice.warn);
  const shown = flags.all === true ? candidates : isOnFront ? front : [...front, choice.warn];
  const rows = shown.map(({ name, score }) => [
    name === choice.warn.name ? "*" : "",
    name,
    `${score.found} of ${score.incidents}`,
    (score.recall ?? 0).toFixed(2),
    score.groundlessAWeek.toFixed(2),
    score.falseAlarmsAWeek.toFixed(2),
    formatDelay(score.medianDelayMs),
  ]);
  const head = ["", "CANDIDATE", "FOUND", "RECALL", "FALSE A WEEK", "WITH MASS DEATHS", "DELAY"];
  const { warn, fail, failMultiplier } = choice;
  const isLoud = warn.score.groundlessAWeek > flags.maxFalseAlarms;
  const notes = [
    adviceNote(found),
    isLoud ? `No candidate has at most ${flags.maxFalseAlarms} false alarms a week: this is the quietest.` : "",
    fail === null
      ? `No stricter candidate finds three quarters of that: fail begins at twice the warning, ×${failMultiplier}.`
      : `fail begins at ×${failMultiplier}: ${fail.score.found} of ${fail.score.incidents} found, ${fail.score.groundlessAWeek.toFixed(2)} false alarms a week.`,
  ].filter((note) => note !== "");
  return `${renderTable(head, rows, { right: head.slice(2), context })}\n${notes.join("\n")}\n\n${toYaml(settings)}`;
}

/** What of the advice is to be said beside the choice; empty where it was not tried. */
function adviceNote({ advised, choice: { warn, adviceAsGood } }: TuneReport): string {
  if (advised === null) return "";
  if (advised === warn) return "This is the advice.";
  const { found, incidents, groundlessAWeek } = advised.score;
  const measured = `${found} of ${incidents} found, ${groundlessAWeek.toFixed(2)} false alarms a week`;
  const asGood = adviceAsGood === true ? "is as good" : "is not as good";
  return `The advice, ${advised.name}, ${asGood}: ${measured}.`;
}

function renderJson({ report, candidates, choice, settings, front }: TuneReport): string {
  const describe = (candidate: TuneCandidate): object => {
    const { missed: _missed, medianDelayMs, ...rest } = candidate.score;
    return {
      name: candidate.name,
      baseline: candidate.baseline,
      count: candidate.count,
      thresholds: candidate.thresholds,
      ...rest,
      delaySeconds: medianDelayMs === null ? null : medianDelayMs / secondMs,
      isOnFront: front.includes(candidate),
    };
  };
  const chosen = {
    name: choice.warn.name,
    baseline: choice.warn.baseline,
    count: choice.warn.count,
    thresholds: { ...choice.warn.thresholds, failMultiplier: choice.failMultiplier },
  };
  return asJson({
    truth: report.truth,
    chosen,
    adviceAsGood: choice.adviceAsGood,
    failMultiplier: choice.failMultiplier,
    yaml: toYaml(settings),
    candidates: candidates.map(describe),
  });
}

function toYaml(settings: object): string {
  return stringify(settings, { aliasDuplicateObjects: false });
}

function parseRate(text: string): number {
  const rate = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(rate)) return rate;
  throw new InvalidArgumentError("Expected a number of at least 0.");
}

/** What a search found. */
interface TuneReport {
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
}

/** A candidate and how it was judged. */
export interface TuneCandidate extends TuningPoint {
  readonly name: string;
}

/** What is proposed: where `warn` begins, and where `fail` does. */
interface TuneChoice extends Choice<TuneCandidate> {
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
  regret: "no day on which enough assets were found alive",
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
