import { stringify } from "yaml";

import { runReplay, type Replayed } from "../../backtest/run.ts";
import {
  candidatesOf,
  describeCandidate,
  isAdvice,
  isAdviceAsGood,
  rankCandidates,
  type TuningPoint,
} from "../../backtest/tuning.ts";
import { FlatlineError } from "../../base/errors.ts";
import { hourMs } from "../../base/time.ts";
import { command, or, value } from "../command.ts";
import type { CliContext } from "../context.ts";
import { renderTable } from "../table.ts";
import { asJson, parseNumber } from "../values.ts";
import { describeScore, formatDelay, nothingToReplay, replaying } from "./backtest.ts";
import { readPast, replayFlags, replayWords, type ReadPast } from "./past.ts";

export const tune = command({
  description: "search settings that find most incidents with few false alarms; prints the YAML to paste",
  words: replayWords,
  flags: {
    ...replayFlags,
    maxFalseAlarms: or(
      value(
        "<rate>",
        "most false alarms a week and organization, those on real mass deaths left out",
        parseNumber("at least 0"),
      ),
      0.5,
    ),
  },
  json: "print {truth, chosen, adviceAsGood, failMultiplier, yaml, candidates}",
  help: `
Both baselines over 7 and 28 days, seven multipliers and five counts are replayed hour by hour
(--step), and the advice of init: the median of 28 days, ×2.5, at least 20. A --setting is kept in
all of them: thresholds.baselineDays=7 is for events of few weeks, and leaves the advice out. Where
assets are counted (--setting count=assets), the mean is left out.
All are replayed over the same stretch, which begins when the longest baseline is full. Each fails
where it warns; the YAML lets fail begin at twice the warning.

An alert that is about no incident is a false alarm; FALSE A WEEK leaves out those on days on which
many assets really died, as far as the truth knows them, WITH MASS DEATHS has them too. Chosen is
what finds most with at most --max-false-alarms; of equals the nearest to the advice, not the
quietest. Settings that fit the past too well promise too much: hold the proposal against a stretch
that tune has not seen (--from, --to, then flatline backtest).

Examples:
  flatline tune                                           over the stored events, by assets that were found alive
  flatline tune --truth judged                            by what people said of incidents
  flatline tune acme --max-false-alarms 0.2
  flatline tune --events events.csv.gz --truth labels labels.json
`,
  run: ({ context, flags, words: [slugs] }) =>
    replaying(context, async (deps) => {
      const read = await readPast(slugs, flags, "revived", deps);
      const past = { ...read, stepMs: read.stepMs ?? hourMs };
      const fixed = new Set(past.fixed.map((path) => path.replace(/^thresholds\./, "")));
      const outcome = await runReplay(past, (one) => candidatesOf(one, fixed), deps);
      return { past, outcome, found: choose(outcome.candidates, past, flags.maxFalseAlarms) };
    }),
  say: ({ found }, { context }) => textOf(found, context),
  data: ({ found, past }) => dataOf(found, past),
});

type Tuned = ReturnType<typeof choose>;

function choose(replayed: readonly Replayed[], past: ReadPast, mostAWeek: number) {
  const candidates = replayed.flatMap(({ organizations: [first], score }): TuningPoint[] => {
    if (first === undefined || score === null) return [];
    const { baseline, count, thresholds } = first.watched;
    return [{ baseline, count, thresholds, score }];
  });
  const ranked = rankCandidates(candidates, mostAWeek);
  const [chosen] = ranked;
  if (chosen === undefined) throw nothingToReplay();
  if (chosen.score.incidents === 0)
    throw new FlatlineError(
      "usage",
      `there is no incident to tune by in this stretch, by --truth ${past.truth ?? "labels"}`,
    );
  const { baseline, count } = chosen;
  // The levels are as far apart as the defaults: a fail just above the warning would add nothing.
  const thresholds = { ...chosen.thresholds, failMultiplier: chosen.thresholds.warnMultiplier * 2 };
  const counted = count === "assets" || past.fixed.includes("count") ? { count } : {};
  const settings = { baseline, ...counted, thresholds };
  const slugs = replayed[0]?.organizations.map(({ watched }) => watched.slug) ?? [];
  const pasted = past.isOfSome
    ? { organizations: slugs.map((slug) => ({ slug, ...settings })) }
    : { defaults: settings };
  return {
    /** The advice is last. */
    candidates,
    ranked,
    chosen,
    isTooLoud: chosen.score.groundlessAWeek > mostAWeek,
    mostAWeek,
    thresholds,
    adviceAsGood: isAdviceAsGood(candidates, chosen, mostAWeek),
    /** What to paste into the configuration. */
    yaml: stringify(pasted, { aliasDuplicateObjects: false }),
  };
}

// The next best ones show the effect of each setting; --json has all.
const mostShown = 8;

function textOf(
  { candidates, ranked, chosen, isTooLoud, mostAWeek, adviceAsGood, yaml }: Tuned,
  context: CliContext,
): string {
  const columns = {
    "": (point: TuningPoint) => (point === chosen ? "*" : ""),
    CANDIDATE: describeCandidate,
    FOUND: foundText,
    RECALL: ({ score }: TuningPoint) => (score.recall ?? 0).toFixed(2),
    "FALSE A WEEK": ({ score }: TuningPoint) => score.groundlessAWeek.toFixed(2),
    "WITH MASS DEATHS": ({ score }: TuningPoint) => score.falseAlarmsAWeek.toFixed(2),
    DELAY: ({ score }: TuningPoint) => formatDelay(score.medianDelayMs),
  };
  const advised = candidates.find(isAdvice);
  const notes = [
    advised === undefined
      ? ""
      : advised === chosen
        ? "This is the advice, what `init` writes."
        : `The advice, what \`init\` writes (${describeCandidate(advised)}), ` +
          `${adviceAsGood === true ? "is as good" : "is not as good"}: ` +
          `${foundText(advised)} found, ${advised.score.groundlessAWeek.toFixed(2)} false alarms a week.`,
    isTooLoud ? `No candidate has at most ${mostAWeek} false alarms a week: this is the quietest.` : "",
  ].filter((note) => note !== "");
  const table = renderTable(ranked.slice(0, mostShown), columns, { right: Object.keys(columns).slice(2), context });
  return `${table}\n${notes.map((note) => `${note}\n`).join("")}\n${yaml}`;
}

function foundText({ score: { found, incidents } }: TuningPoint): string {
  return `${found} of ${incidents}`;
}

function dataOf({ chosen, adviceAsGood, thresholds, yaml, candidates }: Tuned, { truth }: ReadPast): string {
  const { baseline, count } = chosen;
  return asJson({
    truth,
    chosen: { name: describeCandidate(chosen), baseline, count, thresholds },
    adviceAsGood,
    failMultiplier: thresholds.failMultiplier,
    yaml,
    candidates: candidates.map(({ score, ...point }) => {
      const { missed: _missed, ...described } = describeScore(score);
      return { name: describeCandidate(point), ...point, ...described };
    }),
  });
}
