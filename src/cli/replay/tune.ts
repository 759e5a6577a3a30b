import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { stringify } from "yaml";
import { tune, type TuneCandidate, type TuneReport } from "../../commands/tune.ts";
import { FlatlineError } from "../../base/errors.ts";
import { secondMs } from "../../base/time.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { addReplayFlags, askOf, type ReplayFlags } from "./replay-flags.ts";
import { createReplayProgress, formatDelay, summarize } from "./replay-view.ts";
import { renderTable } from "../table.ts";

interface TuneFlags extends ReplayFlags {
  readonly maxFalseAlarms: number;
  readonly plot?: string;
  readonly all?: boolean;
}

/** `flatline tune [SLUG…]` */
export const registerTune: RegisterCommand = (program: Command, context: CliContext): void => {
  const command = program
    .command("tune")
    .description("search settings that find most incidents with few false alarms; prints the YAML to paste")
    .argument("[slug...]", "organizations to tune for [all that have events]");
  addReplayFlags(command)
    .option("--max-false-alarms <rate>", "most false alarms a week and organization", parseRate, 0.5)
    .option("--all", "show every candidate, not only those that no other one beats")
    .option("--plot <file>", "write the trade-off as an image (.svg) or a page (.html)", parsePlot)
    .option("--json", "print {truth, chosen, failMultiplier, yaml, candidates}")
    .addHelpText("after", help)
    .action(async (slugs: string[], flags: TuneFlags) => {
      const progress = createReplayProgress(context);
      const startedAtMs = context.clock.monotonicMs();
      try {
        const found = await tune(askOf(slugs, flags), flags.maxFalseAlarms, { ...context, onProgress: progress.show });
        progress.clear();
        context.stderr.write(summarize(found.report, context.clock.monotonicMs() - startedAtMs));
        if (flags.plot !== undefined) await writePlot(found, flags.plot, context);
        context.stdout.write(flags.json === true ? renderJson(found) : render(found, flags, context));
      } finally {
        progress.clear();
      }
    });
};

const help = `
Every combination of the baseline, multipliers and counts is replayed hour by hour (--step) and held against labels, or
against regret: days on which many deaths were undone. Without lists of your own:
  --baseline mean,median --warn-multiplier 1.5,2,3,4,6,8,12 --min-spike-count 5,10,20,30,50
Chosen is what finds most with at most --max-false-alarms. Settings that fit the past too well promise too much: hold the
proposal against a stretch that tune has not seen (--from, --to, then flatline backtest).

Examples:
  flatline tune                                           over the stored events, by regret
  flatline tune acme --max-false-alarms 0.2 --plot trade-off.svg
  flatline tune --events events.csv.gz --labels labels.json --plot trade-off.html
`;

function render({ report, front, choice, settings }: TuneReport, flags: TuneFlags, context: CliContext): string {
  const shown = flags.all === true ? candidatesOf(report, front) : front;
  const rows = shown.map(({ name, score }) => [
    name === choice.warn.name ? "*" : "",
    name,
    `${score.found} of ${score.incidents}`,
    (score.recall ?? 0).toFixed(2),
    score.falseAlarmsAWeek.toFixed(2),
    formatDelay(score.medianDelayMs),
  ]);
  const head = ["", "CANDIDATE", "FOUND", "RECALL", "FALSE A WEEK", "DELAY"];
  const { warn, fail, failMultiplier } = choice;
  const isLoud = warn.score.falseAlarmsAWeek > flags.maxFalseAlarms;
  const notes = [
    isLoud ? `No candidate has at most ${flags.maxFalseAlarms} false alarms a week: this is the quietest.` : "",
    fail === null
      ? `No stricter candidate finds three quarters of that: fail begins at twice the warning, ×${failMultiplier}.`
      : `fail begins at ×${failMultiplier}: ${fail.score.found} of ${fail.score.incidents} found, ${fail.score.falseAlarmsAWeek.toFixed(2)} false alarms a week.`,
  ].filter((note) => note !== "");
  return `${renderTable(head, rows, { right: head.slice(2), context })}\n${notes.join("\n")}\n\n${toYaml(settings)}`;
}

/** All of them, in the order of the grid. */
function candidatesOf({ candidates }: TuneReport["report"], front: readonly TuneCandidate[]): readonly Row[] {
  return candidates.flatMap(({ name, levels }) => {
    const known = front.find((candidate) => candidate.name === name);
    if (known !== undefined) return [known];
    return levels.warn.score === null ? [] : [{ name, score: levels.warn.score }];
  });
}

type Row = Pick<TuneCandidate, "name" | "score">;

function renderJson({ report, choice, settings, front }: TuneReport): string {
  const describe = ({ name, score }: Row): unknown => {
    const { missed: _missed, medianDelayMs, ...rest } = score;
    return { name, ...rest, delaySeconds: medianDelayMs === null ? null : medianDelayMs / secondMs };
  };
  const names = new Set(front.map(({ name }) => name));
  const candidates = candidatesOf(report, front).map((candidate) => ({
    ...Object(describe(candidate)),
    isOnFront: names.has(candidate.name),
  }));
  const { baseline, thresholds } = choice.warn;
  const chosen = {
    name: choice.warn.name,
    baseline,
    thresholds: { ...thresholds, failMultiplier: choice.failMultiplier },
  };
  return `${JSON.stringify({ truth: report.truth, chosen, failMultiplier: choice.failMultiplier, yaml: toYaml(settings), candidates }, null, 2)}\n`;
}

function toYaml(settings: object): string {
  return stringify(settings, { aliasDuplicateObjects: false });
}

async function writePlot({ plot }: TuneReport, file: string, { cwd }: CliContext): Promise<void> {
  const text = plot(file.toLowerCase().endsWith(".svg") ? "svg" : "html");
  await writeFile(resolve(cwd, file), text).catch((error: unknown) => {
    throw new FlatlineError("usage", `${file}: cannot be written: ${String(error)}`, { cause: error });
  });
}

function parsePlot(text: string): string {
  if (/\.(svg|html)$/i.test(text)) return text;
  throw new InvalidArgumentError("Expected a file that ends in .svg or .html.");
}

function parseRate(text: string): number {
  const rate = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(rate)) return rate;
  throw new InvalidArgumentError("Expected a number of at least 0.");
}
