import { backtest } from "../../src/cli/replay/session.ts";
import { tune, type TuneCandidate } from "../../src/cli/replay/tune.ts";
import type { Score } from "../../src/backtest/score.ts";
import type { Truth } from "../../src/backtest/truth.ts";
import { createSystemClock, hourMs } from "../../src/base/time.ts";

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

export interface HalvesOptions {
  readonly folder: string;
  readonly files: readonly string[];
  /** null: by regret. */
  readonly labels: string | null;
  readonly truths: ReadonlyMap<string, Truth>;
}

const mostAWeek = 0.5;
const leastIncidents = 4;

/** Runs `tune` on each half of the incidents, by time and by series, and holds what it proposes against the other. */
export async function measureHalves(options: HalvesOptions): Promise<HalfResult[]> {
  const results: HalfResult[] = [];
  for (const [one, other] of halvesOf(options.truths))
    for (const [tuned, judged] of [
      [one, other],
      [other, one],
    ] as const)
      results.push(await measure(options, tuned, judged));
  return results;
}

function halvesOf(truths: HalvesOptions["truths"]): (readonly [Half, Half])[] {
  const slugs = [...truths].filter(([, { incidents }]) => incidents.length > 0).map(([slug]) => slug);
  const begins = [...truths.values()]
    .flatMap(({ incidents }) => incidents.map(({ fromMs }) => fromMs))
    .toSorted((left, right) => left - right);
  const middleMs = begins[Math.floor(begins.length / 2)];
  if (middleMs === undefined || begins.length < leastIncidents) return [];
  // At the full hour before, so that no half sees the other's first hour.
  const splitMs = Math.floor(middleMs / hourMs) * hourMs;
  const day = new Date(splitMs).toISOString().slice(0, 10);
  const all = { slugs, fromMs: null, toMs: null };
  const byTime = [
    { ...all, name: `before ${day}`, toMs: splitMs - hourMs },
    { ...all, name: `from ${day} on`, fromMs: splitMs },
  ] as const;
  const [first, second, ...more] = slugs;
  if (first === undefined || second === undefined || more.length > 0) return [byTime];
  return [
    byTime,
    [
      { ...all, name: first, slugs: [first] },
      { ...all, name: second, slugs: [second] },
    ],
  ];
}

async function measure(options: HalvesOptions, tuned: Half, judged: Half): Promise<HalfResult> {
  const { choice } = await tune(askOf(options, tuned), mostAWeek, depsOf(options));
  const { warn } = choice;
  const { baseline, thresholds } = warn;
  const proposal = { baseline, thresholds: { ...thresholds, failMultiplier: thresholds.warnMultiplier } };
  const report = await backtest(askOf(options, judged), depsOf(options), () => [proposal, { thresholds: {} }]);
  const [here, byDefault] = report.candidates.map(({ levels }) => scoreOf(levels.warn.score));
  if (here === undefined || byDefault === undefined) throw new Error(`nothing was replayed on ${judged.name}`);
  const names = { tunedOn: tuned.name, judgedOn: judged.name, proposed: warn.name };
  return { ...names, there: scoreOf(warn.score), here, byDefault };
}

function scoreOf(score: TuneCandidate["score"] | null): HalfScore {
  if (score === null) throw new Error("a candidate has no score");
  const { incidents, found, falseAlarmsAWeek, groundlessAWeek } = score;
  return { incidents, found, falseAlarmsAWeek, groundlessAWeek };
}

function askOf({ files, labels }: HalvesOptions, { slugs, fromMs, toMs }: Half) {
  const truth = labels === null ? ("regret" as const) : null;
  return { slugs, configFiles: [], eventFiles: files, labels, truth, fromMs, toMs, stepMs: hourMs, grid: {} };
}

function depsOf({ folder }: HalvesOptions) {
  return {
    env: {},
    cwd: folder,
    clock: createSystemClock(),
    random: () => 0.5,
    version: "0.0.0",
    stdin: process.stdin,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  };
}
