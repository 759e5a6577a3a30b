import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { stringify } from "yaml";
import { tune, type TuneCandidate, type TuneReport } from "../../commands/replay/tune.ts";
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
    .option(
      "--max-false-alarms <rate>",
      "most false alarms a week and organization, those on real mass deaths left out",
      parseRate,
      0.5,
    )
    .option("--all", "show every candidate, not only those that no other one beats")
    .option("--plot <file>", "write the trade-off as an image (.svg) or a page (.html)", parsePlot)
    .option("--json", "print {truth, chosen, adviceAsGood, failMultiplier, yaml, candidates}")
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
Every combination of the baseline, multipliers and counts is replayed hour by hour (--step) and held against labels, against
the judgements of alerts (--truth judged), or against regret: days on which many deaths were undone. Without lists of your own:
  --baseline mean,median --baseline-days 7,28 --warn-multiplier 1.5,2,3,4,6,8,12 --min-spike-count 5,10,20,30,50
and the advice of config init: the median of 28 days, ×2.5, at least 20. All are replayed over the same stretch, which begins
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
  flatline tune acme --max-false-alarms 0.2 --plot trade-off.svg
  flatline tune --events events.csv.gz --labels labels.json --plot trade-off.html
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
  if (advised === warn) return "This is the advice of config init.";
  const { found, incidents, groundlessAWeek } = advised.score;
  const measured = `${found} of ${incidents} found, ${groundlessAWeek.toFixed(2)} false alarms a week`;
  const asGood = adviceAsGood === true ? "is as good" : "is not as good";
  return `The advice of config init, ${advised.name}, ${asGood}: ${measured}.`;
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
  return `${JSON.stringify({ truth: report.truth, chosen, adviceAsGood: choice.adviceAsGood, failMultiplier: choice.failMultiplier, yaml: toYaml(settings), candidates: candidates.map(describe) }, null, 2)}\n`;
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
