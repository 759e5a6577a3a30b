import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import type { AttributionResult } from "./attribution.ts";
import type { FlappingResult } from "./flapping.ts";
import type { HalfResult } from "./halves.ts";
import { type InjectionResult, flippedShares } from "./injection.ts";
import type { JudgingResult } from "./judging.ts";
import type { RegretResult } from "./regret.ts";

/** What bench/results/detection.json holds. */
export interface DetectionResult {
  readonly name: string;
  readonly title: string;
  readonly measuredAt: string;
  /** None of these: it measures no speed. */
  readonly metrics: readonly never[];
  readonly sides: readonly never[];
  readonly goals: readonly never[];
  readonly truth: "labels" | "regret";
  readonly series: readonly {
    readonly slug: string;
    readonly deaths: number;
    readonly weeks: number;
    readonly incidents: number;
  }[];
  readonly rules: readonly {
    readonly name: string;
    readonly incidents: number;
    readonly found: number;
    readonly recall: number | null;
    readonly falseAlarms: number;
    /** Of the false alarms, those on days on which many assets really died. */
    readonly onMassDeaths: number;
    readonly falseAlarmsAWeek: number;
    /** Those on real mass deaths left out. */
    readonly groundlessAWeek: number;
    readonly medianDelayHours: number | null;
    /** Of each series in which there are incidents, in their order. */
    readonly bySeries: readonly { readonly slug: string; readonly incidents: number; readonly found: number }[];
  }[];
  readonly injected: readonly InjectionResult[];
  readonly regret: readonly RegretResult[];
  readonly attribution: readonly AttributionResult[];
  readonly flapping: readonly FlappingResult[];
  readonly judging: readonly JudgingResult[];
  readonly halves: readonly HalfResult[];
}

const mostColumns = 6;

/** Where the table of rules is kept. */
export const detectionFile = fileURLToPath(new URL("../../docs/detection.md", import.meta.url));

/** All tables as Markdown, for a terminal. */
export function detectionTables(result: DetectionResult): string {
  const planted = result.injected.some(({ regressions }) => regressions > 0) ? `\n\n${injectedTable(result)}` : "";
  const regret = result.regret.length > 0 ? `\n\n${regretTable(result)}` : "";
  return `${seriesLine(result)}\n\n${ruleTable(result)}${planted}${regret}\n\n${attributionTable(result)}\n\n${flappingTable(result)}\n\n${judgingTable(result)}\n\n${halvesTable(result)}`;
}

/** The page with the table between its markers `<!-- rules -->` and `<!-- end -->` written anew. */
export async function detectionPage(page: string, result: DetectionResult): Promise<string> {
  const written = page.replace(
    /<!-- rules -->[^]*?<!-- end -->/,
    () => `<!-- rules -->\n\n${seriesLine(result)}\n\n${pageTable(result)}\n\n<!-- end -->`,
  );
  return format(written, { ...(await resolveConfig(detectionFile)), parser: "markdown" });
}

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

function pageTable({ rules, injected }: DetectionResult): string {
  const planted = (name: string, share: number): string => {
    const one = injected.find((result) => result.rule === name && result.share === share);
    return one === undefined || one.regressions === 0 ? "–" : `${Math.round((100 * one.found) / one.regressions)} %`;
  };
  return table(
    [
      "rule",
      "found",
      "false alarms a week",
      "without real mass deaths",
      "median delay",
      ...flippedShares.map((share) => `planted: ${share * 100} %`),
    ],
    rules
      .filter(({ name }) => pageRules.includes(name))
      .map((rule) => [
        rule.name,
        `${rule.found} of ${rule.incidents}`,
        rule.falseAlarmsAWeek.toFixed(2),
        rule.groundlessAWeek.toFixed(2),
        formatHours(rule.medianDelayHours),
        ...flippedShares.map((share) => planted(rule.name, share)),
      ]),
  );
}

/** Writes the page. */
export async function refreshDetectionPage(result: DetectionResult): Promise<void> {
  writeFileSync(detectionFile, await detectionPage(readFileSync(detectionFile, "utf8"), result));
}

function seriesLine({ series, truth }: DetectionResult): string {
  const parts = series.map(
    ({ slug, deaths, weeks, incidents }) =>
      `${slug} (${deaths.toLocaleString("en")} deaths, ${Math.round(weeks)} weeks, ${incidents} incidents)`,
  );
  return `Against ${truth}: ${parts.join(", ")}.`;
}

function ruleTable({ rules, series }: DetectionResult): string {
  const named = series.filter(({ incidents }) => incidents > 0).map(({ slug }) => slug);
  // One series is the sum, and a table of many is wider than any page.
  const columns = named.length > 1 && named.length <= mostColumns ? named : [];
  return table(
    ["rule", "recall", "found", ...columns, "false alarms a week", "without real mass deaths", "median delay"],
    rules.map((rule) => [
      rule.name,
      rule.recall === null ? "–" : rule.recall.toFixed(2),
      `${rule.found} of ${rule.incidents}`,
      ...columns.map((slug) => foundIn(rule.bySeries.find((one) => one.slug === slug))),
      `${rule.falseAlarmsAWeek.toFixed(2)} (${rule.falseAlarms})`,
      `${rule.groundlessAWeek.toFixed(2)} (${rule.falseAlarms - rule.onMassDeaths})`,
      formatHours(rule.medianDelayHours),
    ]),
  );
}

function flappingTable({ flapping }: DetectionResult): string {
  return table(
    ["evaluated", "found", "alerts", "false alarms a week", "without real mass deaths", "median length"],
    flapping.map((one) => [
      one.name,
      `${one.found} of ${one.incidents}`,
      String(one.alerts),
      one.falseAlarmsAWeek.toFixed(3),
      one.groundlessAWeek.toFixed(3),
      formatHours(one.medianLengthHours),
    ]),
  );
}

function judgingTable({ judging }: DetectionResult): string {
  return table(
    ["rule", "judged", "found", "false alarms a week", "without real mass deaths"],
    judging.map((one) => [
      one.rule,
      one.judgedAfterHours === null
        ? "never"
        : one.judgedAfterHours === 0
          ? "at once"
          : `${one.judgedAfterHours} h after it fired`,
      `${one.found} of ${one.incidents}`,
      `${one.falseAlarmsAWeek.toFixed(2)} (${one.falseAlarms})`,
      `${one.groundlessAWeek.toFixed(2)} (${one.falseAlarms - one.onMassDeaths})`,
    ]),
  );
}

function halvesTable({ halves }: DetectionResult): string {
  const cell = ({ found, incidents, groundlessAWeek, falseAlarmsAWeek }: HalfResult["here"]): string =>
    `${found} of ${incidents}, ${groundlessAWeek.toFixed(2)} (${falseAlarmsAWeek.toFixed(2)})`;
  return table(
    ["tuned on", "proposed", "found there, false alarms a week", "judged on", "found here", "by the default rule"],
    halves.map((one) => [
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
  return table(
    ["compared with", "incidents: checker", "unclear", "assets", "mass deaths: assets", "unclear", "checker"],
    attribution.map(({ name, incidents, massDeaths }) => [
      name,
      `${incidents.checker} of ${incidents.checker + incidents.unclear + incidents.assets}`,
      String(incidents.unclear),
      String(incidents.assets),
      `${massDeaths.assets} of ${massDeaths.checker + massDeaths.unclear + massDeaths.assets}`,
      String(massDeaths.unclear),
      String(massDeaths.checker),
    ]),
  );
}

function regretTable({ regret }: DetectionResult): string {
  const found = ({ planted }: RegretResult, revivals: "recent" | "all"): string => {
    const one = planted.find((each) => each.revivals === revivals);
    if (one === undefined || one.plantings === 0) return "–";
    const delay = one.medianDelayDays === null ? "–" : `${one.medianDelayDays.toFixed(1)} d`;
    return `${one.found} of ${one.plantings}, ${delay}`;
  };
  return table(
    ["series", "line", "alerts", "false alarms a week", "planted, found", "planted with slower revivals, found"],
    regret.map((one) => [
      one.slug,
      one.line.toFixed(2),
      String(one.alerts),
      one.falseAlarmsAWeek.toFixed(2),
      found(one, "recent"),
      found(one, "all"),
    ]),
  );
}

function foundIn(one: { readonly incidents: number; readonly found: number } | undefined): string {
  return one === undefined || one.incidents === 0 ? "–" : `${one.found} of ${one.incidents}`;
}

function injectedTable({ injected }: DetectionResult): string {
  const names = [...new Set(injected.map(({ rule }) => rule))];
  return table(
    ["rule", ...flippedShares.map((share) => `${share * 100} % flipped`)],
    names.map((name) => [
      name,
      ...flippedShares.map((share) => {
        const one = injected.find((result) => result.rule === name && result.share === share);
        if (one === undefined || one.regressions === 0) return "–";
        return `${Math.round((100 * one.found) / one.regressions)} %, ${formatHours(one.medianDelayHours)}`;
      }),
    ]),
  );
}

function formatHours(hours: number | null): string {
  return hours === null ? "–" : `${hours.toFixed(1)} h`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}
