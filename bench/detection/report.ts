import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import type { Score } from "../../src/backtest/score.ts";
import type { Circumstances } from "../harness/benchmark.ts";
import { table } from "../harness/table.ts";
import type { AttributionResult } from "./attribution.ts";
import type { FlappingResult } from "./flapping.ts";
import type { HalfResult } from "./halves.ts";
import { type InjectionResult, flippedShares } from "./injection.ts";
import type { JudgingResult } from "./judging.ts";
import type { RegretResult } from "./regret.ts";

/** What bench/results/detection.json holds. */
export interface DetectionResult extends Circumstances {
  readonly name: string;
  readonly series: readonly {
    readonly slug: string;
    readonly deaths: number;
    readonly weeks: number;
    readonly incidents: number;
  }[];
  readonly rules: readonly RuleResult[];
  readonly injected: readonly InjectionResult[];
  readonly regret: readonly RegretResult[];
  readonly attribution: readonly AttributionResult[];
  readonly flapping: readonly FlappingResult[];
  readonly judging: readonly JudgingResult[];
  readonly halves: readonly HalfResult[];
}

interface RuleResult extends Omit<Score, "medianDelayMs" | "groundless" | "missed"> {
  readonly name: string;
  readonly medianDelayHours: number | null;
  /** Of each series, in their order. */
  readonly bySeries: readonly { readonly slug: string; readonly incidents: number; readonly found: number }[];
}

type Row = readonly string[];

/** The rules on the page: those that a user chooses between, and two that know no baseline. */
const pageRules = [
  "flatline mean, ×2, min 10",
  "flatline mean, ×4, min 10",
  "flatline mean, ×2, min 20",
  "flatline mean, ×4, min 20",
  "flatline median of 28 d, ×2.5, min 10",
  "flatline median of 28 d, ×2.5, min 20",
  "flatline median of 28 d, ×5, min 20",
  "flatline median of 28 d, ×2.5, min 50",
  "fixed threshold, 20 in 24 h",
  "ElastAlert spike, height 2, cur 20",
];

/** Writes the table of rules into docs/detection.md, between its markers `<!-- rules -->` and `<!-- end -->`. */
export async function refreshDetectionPage(result: DetectionResult): Promise<void> {
  const path = fileURLToPath(new URL("../../docs/detection.md", import.meta.url));
  const rules = result.rules.filter(({ name }) => pageRules.includes(name));
  const block = `<!-- rules -->\n\n${seriesLine(result)}\n\n${ruleTable({ ...result, rules })}\n\n<!-- end -->`;
  const page = readFileSync(path, "utf8").replace(/<!-- rules -->[^]*?<!-- end -->/, () => block);
  writeFileSync(path, await format(page, { ...(await resolveConfig(path)), parser: "markdown" }));
}

/** All tables, for a terminal. */
export function detectionTables(result: DetectionResult): string {
  const tables = [ruleTable, regretTable, attributionTable, flappingTable, judgingTable, halvesTable];
  return [seriesLine(result), ...tables.map((one) => one(result))].join("\n\n");
}

function seriesLine({ series }: DetectionResult): string {
  const parts = series.map(
    ({ slug, deaths, weeks, incidents }) =>
      `${slug} (${deaths.toLocaleString("en")} deaths, ${Math.round(weeks)} weeks, ${incidents} incidents)`,
  );
  return `Against labels: ${parts.join(", ")}.`;
}

function ruleTable({ rules, injected }: DetectionResult): string {
  const planted = flippedShares.map((share) => `planted: ${share * 100} %`);
  return table(
    ["rule", "found", ...alarmHeads, "median delay", ...planted],
    rules.map(({ name, medianDelayHours, ...score }) => [
      name,
      foundOf(score),
      ...alarmsOf(score),
      hours(medianDelayHours),
      ...flippedShares.map((share) => {
        const one = injected.find((each) => each.rule === name && each.share === share);
        return one === undefined ? "–" : `${Math.round((100 * one.found) / one.regressions)} %`;
      }),
    ]),
  );
}

function flappingTable({ flapping }: DetectionResult): string {
  return table(
    ["evaluated", "found", "alerts", ...alarmHeads, "median length"],
    flapping.map((one): Row => [
      one.name,
      foundOf(one),
      String(one.alerts),
      ...alarmsOf(one, 3),
      hours(one.medianLengthHours),
    ]),
  );
}

function judgingTable({ judging }: DetectionResult): string {
  return table(
    ["rule", "judged after", "found", ...alarmHeads],
    judging.map((one): Row => [one.rule, hours(one.judgedAfterHours), foundOf(one), ...alarmsOf(one)]),
  );
}

function halvesTable({ halves }: DetectionResult): string {
  const cell = (half: HalfResult["here"]): string => [foundOf(half), ...alarmsOf(half)].join(", ");
  return table(
    ["tuned on", "proposed", `found there, ${alarmHeads.join(", ")}`, "judged on", "here", "by the default rule"],
    halves.map((one): Row => [
      one.tunedOn,
      one.proposed,
      cell(one.there),
      one.judgedOn,
      cell(one.here),
      cell(one.byDefault),
    ]),
  );
}

function attributionTable({ attribution }: DetectionResult): string {
  const causes = ["checker", "unclear", "assets"] as const;
  return table(
    ["compared with", ...["incidents", "mass deaths"].flatMap((of) => causes.map((cause) => `${of}: ${cause}`))],
    attribution.map(({ name, incidents, massDeaths }): Row => [
      name,
      ...[incidents, massDeaths].flatMap((of) => causes.map((cause) => String(of[cause]))),
    ]),
  );
}

function regretTable({ regret }: DetectionResult): string {
  return table(
    ["series", "line", "alerts", "false alarms a week", "planted, found", "planted with slower revivals, found"],
    regret.map((one): Row => [
      one.slug,
      one.line.toFixed(2),
      String(one.alerts),
      one.falseAlarmsAWeek.toFixed(2),
      ...one.planted.map(
        ({ found, plantings, medianDelayDays }) =>
          `${found} of ${plantings}, ${medianDelayDays === null ? "–" : `${medianDelayDays.toFixed(1)} d`}`,
      ),
    ]),
  );
}

const alarmHeads = ["false alarms a week", "without real mass deaths"];

function alarmsOf(score: Pick<Score, "falseAlarmsAWeek" | "groundlessAWeek">, digits = 2): Row {
  return [score.falseAlarmsAWeek.toFixed(digits), score.groundlessAWeek.toFixed(digits)];
}

function foundOf({ found, incidents }: Pick<Score, "found" | "incidents">): string {
  return `${found} of ${incidents}`;
}

function hours(value: number | null): string {
  return value === null ? "–" : `${value.toFixed(1)} h`;
}
