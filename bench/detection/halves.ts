import { backtest } from "../../src/cli/replay/session.ts";
import { tune } from "../../src/cli/replay/tune.ts";
import type { Score } from "../../src/backtest/score.ts";
import type { Truth } from "../../src/backtest/truth.ts";
import { createSystemClock, hourMs } from "../../src/base/time.ts";
import { recordFiles, recordsFolder } from "./records.ts";

/** What `tune` proposed from one half, and how it did in the other. */
export interface HalfResult {
  readonly tunedOn: string;
  readonly judgedOn: string;
  readonly proposed: string;
  readonly there: HalfScore;
  readonly here: HalfScore;
  /** What the default rule does in the other half. */
  readonly byDefault: HalfScore;
}

type HalfScore = Pick<Score, "incidents" | "found" | "falseAlarmsAWeek" | "groundlessAWeek">;

/** What of the data is tuned on, or judged on. */
interface Half {
  readonly name: string;
  readonly slugs: readonly string[];
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const mostAWeek = 0.5;

/** Runs `tune` on each half of the incidents, by time and by series, and holds what it proposes against the other. */
export async function measureHalves(labels: string, truths: ReadonlyMap<string, Truth>): Promise<HalfResult[]> {
  const results: HalfResult[] = [];
  for (const [one, other] of halvesOf(truths))
    results.push(await measure(labels, one, other), await measure(labels, other, one));
  return results;
}

function halvesOf(truths: ReadonlyMap<string, Truth>): (readonly [Half, Half])[] {
  const slugs = [...truths.keys()];
  const begins = [...truths.values()].flatMap(({ incidents }) => incidents.map(({ fromMs }) => fromMs));
  const middleMs = begins.toSorted((left, right) => left - right)[Math.floor(begins.length / 2)] ?? 0;
  // At the full hour before, so that no half sees the other's first hour.
  const splitMs = Math.floor(middleMs / hourMs) * hourMs;
  const day = new Date(splitMs).toISOString().slice(0, 10);
  const ofList = (slug = ""): Half => ({ name: slug, slugs: [slug], fromMs: null, toMs: null });
  return [
    [
      { name: `before ${day}`, slugs, fromMs: null, toMs: splitMs - hourMs },
      { name: `from ${day} on`, slugs, fromMs: splitMs, toMs: null },
    ],
    [ofList(slugs[0]), ofList(slugs[1])],
  ];
}

async function measure(labels: string, tuned: Half, judged: Half): Promise<HalfResult> {
  const ask = ({ slugs, fromMs, toMs }: Half) => {
    const files = { configFiles: [], eventFiles: recordFiles, labels, truth: null };
    return { slugs, ...files, fromMs, toMs, stepMs: hourMs, grid: {} };
  };
  const deps = {
    env: {},
    cwd: recordsFolder,
    clock: createSystemClock(),
    random: () => 0.5,
    version: "0.0.0",
    stdin: process.stdin,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  };
  const { warn } = (await tune(ask(tuned), mostAWeek, deps)).choice;
  const { baseline, thresholds } = warn;
  const proposal = { baseline, thresholds: { ...thresholds, failMultiplier: thresholds.warnMultiplier } };
  const report = await backtest(ask(judged), deps, () => [proposal, { thresholds: {} }]);
  const scoreOf = (score: HalfScore | null | undefined): HalfScore => {
    if (score === null || score === undefined) throw new Error(`nothing was replayed on ${judged.name}`);
    const { incidents, found, falseAlarmsAWeek, groundlessAWeek } = score;
    return { incidents, found, falseAlarmsAWeek, groundlessAWeek };
  };
  const [here, byDefault] = report.candidates.map(({ levels }) => levels.warn.score);
  const names = { tunedOn: tuned.name, judgedOn: judged.name, proposed: warn.name };
  return { ...names, there: scoreOf(warn.score), here: scoreOf(here), byDefault: scoreOf(byDefault) };
}
