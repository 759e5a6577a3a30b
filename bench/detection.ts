// How well rules find what labels say: node bench/run.ts detection [FOLDER] [--quick]
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { readEventFiles } from "../src/cli/replay/event-records.ts";
import type { EventRecord } from "../src/backtest/event-record.ts";
import { scoreEpisodes } from "../src/backtest/score.ts";
import { readLabels, regretTruth, type Truth } from "../src/backtest/truth.ts";
import { FlatlineError } from "../src/base/errors.ts";
import { createSystemClock, dayMs, hourMs } from "../src/base/time.ts";
import { measureAttribution } from "./detection/attribution.ts";
import type { Benchmark } from "./harness/benchmark.ts";
import { randomOf } from "./harness/random.ts";
import { detectionRules, episodesOf } from "./detection/rules.ts";
import { detectionTables, refreshDetectionPage, type DetectionResult } from "./detection/report.ts";
import { measureHalves } from "./detection/halves.ts";
import { measureFlapping } from "./detection/flapping.ts";
import { injectRegressions } from "./detection/injection.ts";
import { measureJudging } from "./detection/judging.ts";
import { measureRegret } from "./detection/regret.ts";

const ownFolder = fileURLToPath(new URL("../examples/records", import.meta.url));
const resultFile = new URL("results/detection.json", import.meta.url);
// Any will do; fixed, so that every run plants the same regressions.
const seed = 20_191_022;
const repetitions = 100;

/** Recall, false alarms and delay of flatline's rules, of a fixed threshold and of ElastAlert's spike. */
export const benchmark: Benchmark = {
  name: "detection",
  title: "How many incidents each rule finds, with how many false alarms",
  metrics: [],
  sides: [],
  goals: [],
  run: async ([folder, ...more], { quick }) => {
    if (more.length > 0 || folder?.startsWith("-") === true)
      throw new Error("usage: bench detection [FOLDER] [--quick]");
    const result = await measureDetection(folder ?? ownFolder, quick ? 3 : repetitions).catch(sayWhatIsWrong);
    if (result === null) return;
    console.log(detectionTables(result));
    if (quick || folder !== undefined) return;
    writeFileSync(resultFile, `${JSON.stringify(result, null, 2)}\n`);
    await refreshDetectionPage(result);
  },
};

/**
 * Evaluates every rule each hour over all event files of a folder, against its labels.json where there is one, else against
 * regret (deaths that were undone).
 */
export async function measureDetection(folder: string, injections: number): Promise<DetectionResult> {
  const files = readdirSync(folder).filter((name) => /\.(csv|ndjson|jsonl)(\.gz)?$/.test(name));
  if (files.length === 0) throw new Error(`${folder}: no file of events (.csv, .ndjson, also .gz)`);
  const records = await readEventFiles({
    files: files.toSorted(),
    stdin: process.stdin,
    cwd: folder,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  const labelsFile = join(folder, "labels.json");
  const labels = existsSync(labelsFile) ? readLabels(readFileSync(labelsFile, "utf8"), labelsFile) : null;
  const truthOf = (record: EventRecord): Truth =>
    labels === null ? regretTruth(record) : (labels.get(record.slug) ?? { incidents: [], massDeaths: [] });
  const series = [...records.values()].map((record) => {
    const stretch = { fromMs: record.seenAtMs[0] ?? 0, toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs };
    return { record, stretch, truth: truthOf(record), episodes: episodesOf(record, stretch) };
  });
  return {
    name: benchmark.name,
    title: benchmark.title,
    measuredAt: new Date(createSystemClock().nowMs()).toISOString(),
    metrics: [],
    sides: [],
    goals: [],
    truth: labels === null ? "regret" : "labels",
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
      const score = scoreEpisodes(replays);
      const bySeries = series.flatMap(({ record: { slug } }, at) => {
        const own = scoreEpisodes(replays.slice(at, at + 1));
        return own.incidents === 0 ? [] : [{ slug, incidents: own.incidents, found: own.found }];
      });
      const { incidents, found, recall, falseAlarms, onMassDeaths, medianDelayMs } = score;
      const { falseAlarmsAWeek, groundlessAWeek } = score;
      const medianDelayHours = medianDelayMs === null ? null : medianDelayMs / hourMs;
      const total = { name, incidents, found, recall, falseAlarms, onMassDeaths, falseAlarmsAWeek, groundlessAWeek };
      return { ...total, medianDelayHours, bySeries };
    }),
    injected: injectRegressions(
      // Of counted buckets nobody knows how many assets there are.
      series.map(({ record }) => record).filter(({ seenAtMs, assets }) => assets > 0 && spanMs(seenAtMs) > 30 * dayMs),
      { repetitions: injections, random: randomOf(seed) },
    ),
    // Half a million evaluations: not where nothing is to be planted either.
    flapping: injections === 0 ? [] : measureFlapping(series),
    judging: injections === 0 ? [] : measureJudging(series),
    halves:
      injections === 0
        ? []
        : await measureHalves({
            folder,
            files: files.toSorted(),
            labels: labels === null ? null : labelsFile,
            truths: new Map(series.map(({ record: { slug }, truth }) => [slug, truth])),
          }),
    attribution: measureAttribution(
      series.filter(({ record: { assets } }) => assets > 0),
      randomOf(seed),
    ),
    regret: series
      .filter(({ record: { seenAtMs, assets } }) => assets > 0 && spanMs(seenAtMs) > 180 * dayMs)
      .flatMap(({ record }) => measureRegret(record, injections, randomOf(seed))),
  };
}

/** A folder of the user's may hold anything: what is wrong with it is said without a stack. */
function sayWhatIsWrong(error: unknown): null {
  if (!(error instanceof Error)) throw error;
  const issues = error instanceof FlatlineError ? (error.issues ?? []) : [];
  for (const line of [error.message, ...issues.map((issue) => `  ${issue}`)]) console.error(line);
  process.exitCode = 1;
  return null;
}

function spanMs(seenAtMs: Float64Array): number {
  return (seenAtMs.at(-1) ?? 0) - (seenAtMs[0] ?? 0);
}
