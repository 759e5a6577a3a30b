import { InvalidArgumentError, type Command } from "commander";
import { stringify } from "yaml";

import { runReplay, type Replayed } from "../../backtest/run.ts";
import {
  candidatesOf,
  chooseCandidate,
  describeCandidate,
  isAdvice,
  paretoFront,
  type Choice,
  type TuningPoint,
} from "../../backtest/tuning.ts";
import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import type { CliContext, RegisterCommand } from "../context.ts";
import { renderTable } from "../table.ts";
import { asJson } from "../values.ts";
import { describeScore, formatDelay, nothingToReplay, replaying, summarize } from "./backtest.ts";
import { addReplayFlags, readPast, type ReadPast, type ReplayFlags } from "./past.ts";

interface TuneFlags extends ReplayFlags {
  readonly maxFalseAlarms: number;
}

/** `flatline tune [SLUG…]` */
export const registerTune: RegisterCommand = (program: Command, context: CliContext): void => {
  addReplayFlags(
    program
      .command("tune")
      .description("search settings that find most incidents with few false alarms; prints the YAML to paste"),
    "revived",
  )
    .option(
      "--max-false-alarms <rate>",
      "most false alarms a week and organization, those on real mass deaths left out",
      parseRate,
      0.5,
    )
    .option("--json", "print {truth, chosen, adviceAsGood, failMultiplier, yaml, candidates}")
    .addHelpText("after", help)
    .action((slugs: string[], flags: TuneFlags) =>
      replaying(context, async (onProgress) => {
        const deps = { ...context, onProgress };
        const past = await readPast(slugs, flags, "revived", deps);
        const fixed = new Set(past.fixed.map((path) => path.replace(/^thresholds\./, "")));
        const stretch = { ...past.stretch, stepMs: past.stretch.stepMs ?? hourMs };
        const outcome = await runReplay(past, (one) => candidatesOf(one, fixed), stretch, deps);
        const found = choose(outcome.candidates, past, flags.maxFalseAlarms);
        return {
          summary: summarize(past, outcome),
          output: flags.json === true ? renderJson(found, past) : render(found, flags, context),
        };
      }),
    );
};

const help = `
Both baselines over 7 and 28 days, seven multipliers and five counts are replayed hour by hour (--step), and the advice of
init: the median of 28 days, ×2.5, at least 20. A --setting is kept in all of them: thresholds.baselineDays=7 is for
events of few weeks, and leaves the advice out. Where assets are counted (--setting count=assets), the mean is left out.
All are replayed over the same stretch, which begins when the longest baseline is full. Each fails where it warns.

An alert that is about no incident is a false alarm; FALSE A WEEK leaves out those on days on which many assets really died,
as far as the truth knows them, WITH MASS DEATHS has them too. Chosen is what finds most with at most --max-false-alarms; of
equals the nearest to the advice, not the quietest. Settings that fit the past too well promise too much: hold the proposal
against a stretch that tune has not seen (--from, --to, then flatline backtest).

Examples:
  flatline tune                                           over the stored events, by assets that were found alive
  flatline tune --truth judged                            by what people said of incidents
  flatline tune acme --max-false-alarms 0.2
  flatline tune --events events.csv.gz --truth labels labels.json
`;

function parseRate(text: string): number {
  const rate = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(rate)) return rate;
  throw new InvalidArgumentError("Expected a number of at least 0.");
}

/** What a search found. */
interface Tuned extends Choice {
  /** All of them, the advice last. */
  readonly candidates: readonly TuningPoint[];
  /** Those that no other one beats, from the quietest to the most watchful. */
  readonly front: readonly TuningPoint[];
  /** Where `fail` should begin. */
  readonly failMultiplier: number;
  /** What to paste into the configuration. */
  readonly yaml: string;
}

function choose(replayed: readonly Replayed[], past: ReadPast, mostAWeek: number): Tuned {
  const candidates = replayed.flatMap(({ organizations: [first], score }): TuningPoint[] => {
    if (first === undefined || score === null) return [];
    const { baseline, count, thresholds } = first.watched;
    return [{ baseline, count, thresholds, score }];
  });
  const chosen = chooseCandidate(candidates, mostAWeek);
  if (chosen === null) throw nothingToReplay();
  const { warn, fail } = chosen;
  if (warn.score.incidents === 0)
    throw new FlatlineError(
      "usage",
      `there is no incident to tune by in this stretch, by --truth ${past.truth ?? "labels"}`,
    );
  const failMultiplier = fail?.thresholds.warnMultiplier ?? warn.thresholds.warnMultiplier * 2;
  const { baseline, count, thresholds } = warn;
  const counted = count === "assets" || past.fixed.includes("count") ? { count } : {};
  const settings = { baseline, ...counted, thresholds: { ...thresholds, failMultiplier } };
  const slugs = replayed[0]?.organizations.map(({ watched }) => watched.slug) ?? [];
  const pasted = past.isOfSome
    ? { organizations: slugs.map((slug) => ({ slug, ...settings })) }
    : { defaults: settings };
  const yaml = stringify(pasted, { aliasDuplicateObjects: false });
  return { ...chosen, candidates, front: paretoFront(candidates), failMultiplier, yaml };
}

function render(found: Tuned, { maxFalseAlarms }: TuneFlags, context: CliContext): string {
  const { front, warn, fail, failMultiplier, yaml } = found;
  const shown = front.includes(warn) ? front : [...front, warn];
  const columns = {
    "": (point: TuningPoint) => (point === warn ? "*" : ""),
    CANDIDATE: describeCandidate,
    FOUND: foundText,
    RECALL: ({ score }: TuningPoint) => (score.recall ?? 0).toFixed(2),
    "FALSE A WEEK": ({ score }: TuningPoint) => score.groundlessAWeek.toFixed(2),
    "WITH MASS DEATHS": ({ score }: TuningPoint) => score.falseAlarmsAWeek.toFixed(2),
    DELAY: ({ score }: TuningPoint) => formatDelay(score.medianDelayMs),
  };
  const notes = [
    adviceNote(found),
    warn.score.groundlessAWeek > maxFalseAlarms
      ? `No candidate has at most ${maxFalseAlarms} false alarms a week: this is the quietest.`
      : "",
    fail === null
      ? `No stricter candidate finds three quarters of that: fail begins at twice the warning, ×${failMultiplier}.`
      : `fail begins at ×${failMultiplier}: ${foundText(fail)} found, ${fail.score.groundlessAWeek.toFixed(2)} false alarms a week.`,
  ].filter((note) => note !== "");
  return `${renderTable(shown, columns, { right: Object.keys(columns).slice(2), context })}\n${notes.join("\n")}\n\n${yaml}`;
}

function foundText({ score: { found, incidents } }: TuningPoint): string {
  return `${found} of ${incidents}`;
}

/** What of the advice is to be said beside the choice; empty where it was not tried. */
function adviceNote({ candidates, warn, adviceAsGood }: Tuned): string {
  const advised = candidates.find(isAdvice);
  if (advised === undefined) return "";
  if (advised === warn) return "This is the advice, what `init` writes.";
  const measured = `${foundText(advised)} found, ${advised.score.groundlessAWeek.toFixed(2)} false alarms a week`;
  return `The advice, what \`init\` writes (${describeCandidate(advised)}), ${adviceAsGood === true ? "is as good" : "is not as good"}: ${measured}.`;
}

function renderJson(found: Tuned, { truth }: ReadPast): string {
  const { warn, adviceAsGood, failMultiplier, yaml, candidates, front } = found;
  const { baseline, count, thresholds } = warn;
  return asJson({
    truth,
    chosen: { name: describeCandidate(warn), baseline, count, thresholds: { ...thresholds, failMultiplier } },
    adviceAsGood,
    failMultiplier,
    yaml,
    candidates: candidates.map(({ score, ...point }) => {
      const { missed: _missed, ...described } = describeScore(score) as Readonly<Record<string, unknown>>;
      return {
        name: describeCandidate(point),
        ...point,
        ...described,
        isOnFront: front.some((one) => one.score === score),
      };
    }),
  });
}
