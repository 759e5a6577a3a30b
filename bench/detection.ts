// How well rules find what labels say, on the records of examples/records: node bench/detection.ts [--quick]
import { readFileSync, writeFileSync } from "node:fs";

import { scoreEpisodes } from "../src/backtest/score.ts";
import { readLabels } from "../src/backtest/truth.ts";
import { dayMs, hourMs } from "../src/base/time.ts";
import { measureAttribution } from "./detection/attribution.ts";
import { measureFlapping } from "./detection/flapping.ts";
import { measureHalves } from "./detection/halves.ts";
import { injectRegressions } from "./detection/injection.ts";
import { measureJudging } from "./detection/judging.ts";
import { readRecords, recordsFolder } from "./detection/records.ts";
import { measureRegret } from "./detection/regret.ts";
import { detectionTables, refreshDetectionPage, type DetectionResult } from "./detection/report.ts";
import { detectionRules, episodesOf } from "./detection/rules.ts";
import { circumstances, randomOf } from "./harness/measure.ts";

// Any will do; fixed, so that every run plants the same regressions.
const seed = 20_191_022;
const isQuick = process.argv.includes("--quick");
const repetitions = isQuick ? 3 : 100;

const records = await readRecords();
const labelsFile = `${recordsFolder}labels.json`;
const labels = readLabels(readFileSync(labelsFile, "utf8"), labelsFile);
const series = records.map((record) => {
  const stretch = { fromMs: record.seenAtMs[0] ?? 0, toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs };
  const truth = labels.get(record.slug) ?? { incidents: [], massDeaths: [] };
  return { record, stretch, truth, episodes: episodesOf(record, stretch) };
});
const result: DetectionResult = {
  name: "detection",
  ...circumstances(),
  series: series.map(({ record: { slug, deathsBefore }, stretch, truth }) => ({
    slug,
    deaths: deathsBefore.at(-1) ?? 0,
    weeks: (stretch.toMs - stretch.fromMs) / (7 * dayMs),
    incidents: truth.incidents.length,
  })),
  rules: detectionRules.map(({ name }, index) => {
    const replays = series.map(({ record: { slug }, stretch, truth, episodes }) => ({
      slug,
      ...stretch,
      truth,
      episodes: episodes[index] ?? [],
    }));
    const { medianDelayMs, ...score } = scoreEpisodes(replays);
    const { incidents, found, recall, falseAlarms, onMassDeaths, falseAlarmsAWeek, groundlessAWeek } = score;
    const bySeries = replays.map((replay) => {
      const own = scoreEpisodes([replay]);
      return { slug: replay.slug, incidents: own.incidents, found: own.found };
    });
    const medianDelayHours = medianDelayMs === null ? null : medianDelayMs / hourMs;
    const counts = { incidents, found, recall, falseAlarms, onMassDeaths, falseAlarmsAWeek, groundlessAWeek };
    return { name, ...counts, medianDelayHours, bySeries };
  }),
  injected: injectRegressions(records, { repetitions, random: randomOf(seed) }),
  flapping: measureFlapping(series),
  judging: measureJudging(series),
  halves: await measureHalves(labelsFile, new Map(series.map(({ record: { slug }, truth }) => [slug, truth]))),
  attribution: measureAttribution(series, randomOf(seed)),
  regret: records.flatMap((record) => measureRegret(record, repetitions, randomOf(seed))),
};
console.log(detectionTables(result));
if (!isQuick) {
  writeFileSync(new URL("results/detection.json", import.meta.url), `${JSON.stringify(result, null, 2)}\n`);
  await refreshDetectionPage(result);
}
