import type { EventRecord } from "../../backtest/event-record.ts";
import { alertLevels, episodesAt, type AlertLevel, type Episode } from "../../backtest/episodes.ts";
import { describePoint, type GridPoint } from "../../backtest/grid.ts";
import { Replay, type ReplayCandidate, type ReplayedNotice, type ReplayOutcome } from "../../backtest/replay.ts";
import { scoreEpisodes, type Score } from "../../backtest/score.ts";
import type { Truth } from "../../backtest/truth.ts";
import { FlatlineError } from "../../base/errors.ts";
import { dayMs, hourMs, type Clock } from "../../base/time.ts";
import type { Severity } from "../../contract/severity.ts";
import type { Schedule } from "../../checks/target.ts";
import { nextDueAtMs } from "../../monitor/schedule.ts";
import type { CountKind } from "../../spike/findings.ts";
import type { BaselineKind } from "../../spike/median.ts";
import type { SpikeThresholds } from "../../spike/thresholds.ts";

/** An organization as one configuration has it. */
export interface BacktestSettings {
  readonly slug: string;
  readonly thresholds: SpikeThresholds;
  readonly baseline: BaselineKind;
  readonly count: CountKind;
  readonly policy: ReplayCandidate["policy"];
  readonly maxSilenceMs: ReplayCandidate["maxSilenceMs"];
  readonly schedule: Schedule;
}

/** A configuration to be tried. */
export interface BacktestVariant {
  /** Its file, or empty for the built-in settings. */
  readonly name: string;
  readonly organizations: readonly BacktestSettings[];
}

export interface BacktestOptions {
  readonly variants: readonly BacktestVariant[];
  readonly points: readonly GridPoint[];
  /** By slug; an organization without a record is left out. */
  readonly records: ReadonlyMap<string, EventRecord>;
  readonly truths: ReadonlyMap<string, Truth> | null;
  /** null: as soon as the longest baseline of any candidate is full, and no earlier than `sinceMs`. */
  readonly fromMs: number | null;
  /** When the truth begins; null: with the events. */
  readonly sinceMs: number | null;
  /** null: the last event. */
  readonly toMs: number | null;
  /** null: each organization's own schedule. */
  readonly stepMs: number | null;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly done: number; readonly total: number; readonly slug: string }) => void;
}

/** What came of one candidate for one organization. */
export interface BacktestOrganization extends Pick<BacktestSettings, "slug" | "thresholds" | "baseline" | "count"> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly evaluations: Readonly<Record<Severity, number>>;
  readonly notices: readonly ReplayedNotice[];
  readonly episodes: Readonly<Record<AlertLevel, readonly Episode[]>>;
}

export interface BacktestLevel {
  readonly episodes: number;
  readonly episodesAWeek: number;
  /** null without a truth. */
  readonly score: Score | null;
}

/** What came of all of it. */
export interface BacktestOutcome {
  readonly candidates: readonly BacktestCandidate[];
  /** Organizations without an evaluation: no event, or too few days of them for the baseline. */
  readonly leftOut: readonly string[];
}

/** What came of one candidate. */
export interface BacktestCandidate {
  readonly name: string;
  readonly point: GridPoint;
  readonly organizations: readonly BacktestOrganization[];
  readonly levels: Readonly<Record<AlertLevel, BacktestLevel>>;
}

// A slice of work between two looks at the signal and the terminal.
const sliceMs = 50;
const weekMs = 7 * dayMs;

/**
 * Replays every organization under every candidate (configuration × point of a grid) over the same stretch and scores what
 * would have been sent. @throws usage when there is nothing to replay, unavailable when stopped
 */
export async function runBacktest(options: BacktestOptions): Promise<BacktestOutcome> {
  const { points } = options;
  const candidates = options.variants.flatMap((variant) =>
    points.map((point) => ({
      name: nameOf(options.variants, variant, point),
      point,
      organizations: [] as BacktestOrganization[],
    })),
  );
  const slugs = new Set(options.variants.flatMap(({ organizations }) => organizations.map(({ slug }) => slug)));
  let done = 0;
  for (const slug of slugs) {
    const record = options.records.get(slug);
    if (record !== undefined && record.seenAtMs.length > 0)
      await replayOrganization(options, points, record, candidates);
    options.onProgress({ done: ++done, total: slugs.size, slug });
  }
  const replayed = new Set(candidates.flatMap(({ organizations }) => organizations.map(({ slug }) => slug)));
  if (replayed.size === 0) {
    throw new FlatlineError(
      "usage",
      "nothing to replay: no organization has events for more than its window and baseline in that stretch; --from says where to begin, --baseline-days makes the baseline shorter",
    );
  }
  return {
    candidates: candidates.map((candidate) => ({
      ...candidate,
      levels: levelsOf(candidate.organizations, options.truths),
    })),
    leftOut: [...slugs].filter((slug) => !replayed.has(slug)),
  };
}

async function replayOrganization(
  options: BacktestOptions,
  points: readonly GridPoint[],
  record: EventRecord,
  candidates: readonly { readonly organizations: BacktestOrganization[] }[],
): Promise<void> {
  const all = options.variants.map(({ organizations }) => {
    const settings = organizations.find(({ slug }) => slug === record.slug);
    return settings === undefined ? null : points.map((point) => settle(settings, point));
  });
  const { fromMs, toMs } = stretchOf(
    options,
    record,
    all.flatMap((settings) => settings ?? []),
  );
  if (fromMs > toMs) return;
  for (const [index, settings] of all.entries()) {
    const [first] = settings ?? [];
    if (settings === null || first === undefined) continue;
    const replay = new Replay(record, settings);
    await runInSlices(replay, instants(first, options.stepMs, fromMs, toMs), options);
    for (const [at, outcome] of replay.outcomes().entries()) {
      const one = settings[at] ?? first;
      candidates[index * points.length + at]?.organizations.push(resultOf(one, outcome, fromMs, toMs));
    }
  }
}

/** Returns the settings of an organization at a point of the grid. @throws usage where assets are to be counted against a mean */
function settle(settings: BacktestSettings, { thresholds, ...point }: GridPoint): BacktestSettings {
  const { baseline, count } = { ...settings, ...point };
  if (count === "assets" && baseline === "mean") {
    throw new FlatlineError(
      "usage",
      `${settings.slug} cannot be replayed with count assets and baseline mean: the mean is the API's rule, which counts deaths; give --baseline median, or --count deaths`,
    );
  }
  return {
    ...settings,
    baseline,
    count,
    thresholds: { ...settings.thresholds, ...thresholds },
  };
}

/** The same for all candidates, so that they can be compared. */
function stretchOf(
  options: BacktestOptions,
  { seenAtMs }: EventRecord,
  settings: readonly BacktestSettings[],
): { fromMs: number; toMs: number } {
  const longestMs = Math.max(
    0,
    ...settings.map(({ thresholds }) => thresholds.windowHours * hourMs + thresholds.baselineDays * dayMs),
  );
  return {
    fromMs: options.fromMs ?? Math.max((seenAtMs[0] ?? 0) + longestMs, options.sinceMs ?? Number.NEGATIVE_INFINITY),
    toMs: options.toMs ?? seenAtMs.at(-1) ?? 0,
  };
}

function* instants(
  { schedule, slug }: BacktestSettings,
  stepMs: number | null,
  fromMs: number,
  toMs: number,
): Generator<number> {
  if (stepMs === null) {
    for (let atMs = nextDueAtMs(schedule, slug, fromMs - 1); atMs <= toMs; atMs = nextDueAtMs(schedule, slug, atMs))
      yield atMs;
    return;
  }
  for (let atMs = Math.ceil(fromMs / stepMs) * stepMs; atMs <= toMs; atMs += stepMs) yield atMs;
}

async function runInSlices(replay: Replay, atMs: Iterable<number>, options: BacktestOptions): Promise<void> {
  const { clock, signal } = options;
  let sliceEndsMs = clock.monotonicMs() + sliceMs;
  for (const nowMs of atMs) {
    replay.run(nowMs);
    if (clock.monotonicMs() < sliceEndsMs) continue;
    await clock.sleep(0, signal);
    if (signal.aborted) throw new FlatlineError("unavailable", "stopped before the stretch was replayed");
    sliceEndsMs = clock.monotonicMs() + sliceMs;
  }
}

function resultOf(
  settings: BacktestSettings,
  outcome: ReplayOutcome,
  fromMs: number,
  toMs: number,
): BacktestOrganization {
  const { slug, thresholds, baseline, count } = settings;
  const { evaluations, notices } = outcome;
  const episodes = { warn: episodesAt("warn", outcome), fail: episodesAt("fail", outcome) };
  return { slug, thresholds, baseline, count, fromMs, toMs, evaluations, notices, episodes };
}

function levelsOf(
  organizations: readonly BacktestOrganization[],
  truths: ReadonlyMap<string, Truth> | null,
): Record<AlertLevel, BacktestLevel> {
  const weeks = organizations.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs) / weekMs, 0);
  const [warn, fail] = alertLevels.map((level): BacktestLevel => {
    const count = organizations.reduce((sum, { episodes }) => sum + episodes[level].length, 0);
    const replays = organizations.map(({ slug, episodes, fromMs, toMs }) => ({
      slug,
      episodes: episodes[level],
      truth: truths?.get(slug) ?? { incidents: [], massDeaths: [] },
      fromMs,
      toMs,
    }));
    return {
      episodes: count,
      episodesAWeek: weeks === 0 ? 0 : count / weeks,
      score: truths === null ? null : scoreEpisodes(replays),
    };
  });
  const none: BacktestLevel = { episodes: 0, episodesAWeek: 0, score: null };
  return { warn: warn ?? none, fail: fail ?? none };
}

function nameOf(variants: readonly BacktestVariant[], variant: BacktestVariant, point: GridPoint): string {
  const words = [variants.length > 1 ? variant.name : "", describePoint(point)].filter((word) => word !== "");
  return words.join(" ") || variant.name || "built-in settings";
}
