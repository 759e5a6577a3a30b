// How well flatline's rules, a fixed threshold and ElastAlert's spike find what labels say, on the records of examples/records, by
// the product's own replay. Prints the tables of docs/detection.md: node bench/detection.ts [--quick]
import { readFileSync } from "node:fs";

import { readLabels } from "../src/backtest/truth.ts";
import { scoreEpisodes } from "../src/backtest/score.ts";
import { dayMs, hourMs } from "../src/base/time.ts";
import { flippedShares, injectRegressions } from "./detection/injection.ts";
import { readRecords, recordsFolder } from "./detection/records.ts";
import { detectionRules, episodesOf } from "./detection/rules.ts";
import { randomOf } from "./harness/measure.ts";
import { table } from "./harness/table.ts";

// Any will do; fixed, so that every run plants the same regressions.
const seed = 20_191_022;
const repetitions = process.argv.includes("--quick") ? 3 : 100;

const records = await readRecords();
const labelsFile = `${recordsFolder}labels.json`;
const labels = readLabels(readFileSync(labelsFile, "utf8"), labelsFile);
const series = records.map((record) => {
  const stretch = { fromMs: record.seenAtMs[0] ?? 0, toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs };
  const truth = labels.get(record.slug) ?? { incidents: [], massDeaths: [] };
  return { slug: record.slug, ...stretch, truth, episodes: episodesOf(record, stretch) };
});
const injected = injectRegressions(records, { repetitions, random: randomOf(seed) });
const planted = flippedShares.map((share) => `planted: ${share * 100} %`);
console.log(
  table(
    ["rule", "found", "false alarms a week", "without real mass deaths", "median delay", ...planted],
    detectionRules.map(({ name }, index) => {
      const score = scoreEpisodes(series.map((one) => ({ ...one, episodes: one.episodes[index] ?? [] })));
      return [
        name,
        `${score.found} of ${score.incidents}`,
        score.falseAlarmsAWeek.toFixed(2),
        score.groundlessAWeek.toFixed(2),
        score.medianDelayMs === null ? "–" : `${(score.medianDelayMs / hourMs).toFixed(1)} h`,
        ...flippedShares.map((share) => {
          const one = injected.find((each) => each.rule === name && each.share === share);
          return one === undefined ? "–" : `${Math.round((100 * one.found) / one.regressions)} %`;
        }),
      ];
    }),
  ),
);
