// How well flatline's rules, a fixed threshold and ElastAlert's spike find what labels say, on the records of
// examples/records, by the product's own replay. Prints the table of docs/detection.md: node bench/detection.ts
import { readFileSync } from "node:fs";

import { scoreEpisodes } from "../src/backtest/score.ts";
import { readLabels } from "../src/backtest/truth.ts";
import { dayMs, hourMs } from "../src/base/time.ts";
import { readRecords, recordsFolder } from "./detection/records.ts";
import { detectionRules, episodesOf } from "./detection/rules.ts";
import { table } from "./harness/table.ts";

const records = await readRecords();
const labelsFile = `${recordsFolder}labels.json`;
const labels = readLabels(readFileSync(labelsFile, "utf8"), labelsFile);
console.log(
  table(
    ["rule", "found", "false alarms a week", "without real mass deaths", "median delay"],
    Object.entries(detectionRules).map(([name, rule]) => {
      const score = scoreEpisodes(
        records.map((record) => {
          const stretch = { fromMs: record.seenAtMs[0] ?? 0, toMs: (record.seenAtMs.at(-1) ?? 0) + dayMs };
          const truth = labels.get(record.slug) ?? { incidents: [], massDeaths: [] };
          return { slug: record.slug, ...stretch, truth, episodes: episodesOf(record, rule, stretch) };
        }),
      );
      return [
        name,
        `${score.found} of ${score.incidents}`,
        score.falseAlarmsAWeek.toFixed(2),
        score.groundlessAWeek.toFixed(2),
        score.medianDelayMs === null ? "–" : `${(score.medianDelayMs / hourMs).toFixed(1)} h`,
      ];
    }),
  ),
);
