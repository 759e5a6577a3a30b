import { InvalidArgumentError, type Command } from "commander";
import { addEventFlags, layoutOf, type EventFlags } from "../event-flags.ts";
import type { BacktestAsk } from "./session.ts";
import { collect, parseDurationMs, parseInstant, parseNumber } from "../values.ts";

type Grid = BacktestAsk["grid"];

/** Flags that `backtest` and `tune` share. */
export interface ReplayFlags extends EventFlags {
  readonly config: readonly string[];
  readonly events: readonly string[];
  readonly labels?: string;
  readonly truth?: NonNullable<BacktestAsk["truth"]>;
  readonly from?: number;
  readonly to?: number;
  readonly step?: number;
  readonly baseline?: NonNullable<Grid["baseline"]>;
  readonly count?: NonNullable<Grid["count"]>;
  readonly windowHours?: readonly number[];
  readonly baselineDays?: readonly number[];
  readonly warnMultiplier?: readonly number[];
  readonly failMultiplier?: readonly number[];
  readonly minSpikeCount?: readonly number[];
  readonly json?: boolean;
}

/** Adds the flags that say what is replayed and against what it is held. */
export function addReplayFlags(command: Command): Command {
  return addEventFlags(command)
    .option("-c, --config <file>", "configuration file; give it again to compare several", collect, [])
    .option("--events <file>", "take events from a file, - is standard input; no store is needed", collect, [])
    .option("--labels <file>", "JSON: by slug, incidents as a list of {from, to}")
    .option(
      "--truth <kind>",
      "labels; regret: deaths that were found alive; judged: what people said of alerts",
      parseTruth,
    )
    .option("--from <time>", "first evaluation (ISO 8601 or epoch ms) [when the baseline is full]", parseInstant)
    .option("--to <time>", "last evaluation [the last event]", parseInstant)
    .option("--step <duration>", "evaluate every so often, such as 1h", parseDurationMs)
    .option("--baseline <list>", "mean, median or both: mean,median", parseKinds("mean", "median"))
    .option(
      "--count <list>",
      "what is counted: deaths, assets (with the median) or both",
      parseKinds("deaths", "assets"),
    )
    .option("--window-hours <list>", "values to try, such as 12,24", parseNumbers("int"))
    .option("--baseline-days <list>", "values to try", parseNumbers("int"))
    .option("--warn-multiplier <list>", "values to try, such as 2,3,4", parseNumbers("positive"))
    .option("--fail-multiplier <list>", "values to try", parseNumbers("positive"))
    .option("--min-spike-count <list>", "values to try", parseNumbers("int"));
}

/** Returns what was asked for, in the words of the replay. */
export function askOf(slugs: readonly string[], flags: ReplayFlags, nowMs: number): BacktestAsk {
  const { baseline, count, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount } = flags;
  const given = { baseline, count, windowHours, baselineDays, warnMultiplier, failMultiplier, minSpikeCount };
  return {
    slugs,
    configFiles: flags.config,
    eventFiles: flags.events,
    layout: layoutOf(flags, nowMs),
    labels: flags.labels ?? null,
    truth: flags.truth ?? null,
    fromMs: flags.from ?? null,
    toMs: flags.to ?? null,
    stepMs: flags.step ?? null,
    grid: Object.fromEntries(Object.entries(given).filter(([, values]) => values !== undefined)),
  };
}

function parseTruth(text: string): string {
  if (text === "labels" || text === "regret" || text === "judged") return text;
  throw new InvalidArgumentError("Expected labels, regret or judged.");
}

function parseKinds(...known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const kinds = text.split(",").map((kind) => kind.trim());
    if (kinds.every((kind) => known.includes(kind))) return [...new Set(kinds)];
    throw new InvalidArgumentError(`Expected ${known.join(", ")} or ${known.join(",")}.`);
  };
}

function parseNumbers(kind: "int" | "positive"): (text: string) => number[] {
  const parse = parseNumber(kind);
  return (text) => [...new Set(text.split(",").map((part) => parse(part.trim())))];
}
