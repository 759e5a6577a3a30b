import { FlatlineError } from "../base/errors.ts";
import { dayMs, hourMs, type Clock } from "../base/time.ts";
import { evenIntervalMs, nextDueAtMs } from "../monitor/schedule.ts";
import type { EventRecord } from "./event-record.ts";
import { incidentsOf, messagesOf, type IncidentRules } from "./incidents.ts";
import { Replay, type Watched } from "./replay.ts";
import { episodesOf, scoreEpisodes } from "./score.ts";
import type { Truth } from "./truth.ts";

export interface Past {
  readonly organizations: readonly Watched[];
  /** By slug; an organization without a record is skipped. */
  readonly records: ReadonlyMap<string, EventRecord>;
  /** null: no truth to compare with. */
  readonly truths: ReadonlyMap<string, Truth> | null;
  /** When the truth begins; null: with the events. */
  readonly sinceMs: number | null;
  readonly incidents: Pick<IncidentRules, "withinMs" | "minOrganizations">;
  /** null: when the longest baseline is full, but not before the truth. */
  readonly fromMs: number | null;
  /** null: the last event. */
  readonly toMs: number | null;
  /** null: each organization's schedule. */
  readonly stepMs: number | null;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the progress in words, not at each step. */
  readonly onProgress: (text: string) => void;
}

/** The result of one way to watch all organizations. */
export type Replayed = ReturnType<typeof summed>;
/** The result of each way, and the organizations without events, or with too few days for the baseline. */
export type ReplayOutcome = Awaited<ReturnType<typeof runReplay>>;

// The work between two checks of the signal and the terminal.
const sliceMs = 50;
const weekMs = 7 * dayMs;

/**
 * Replays every organization, watched in each of these ways, over the same time.
 * @throws usage: assets with a mean; unavailable: stopped
 */
export async function runReplay(past: Past, waysOf: (one: Watched) => readonly Watched[], deps: RunDeps) {
  const found: Awaited<ReturnType<typeof replayOne>>[] = [];
  for (const [index, one] of past.organizations.entries()) {
    const { slug } = one;
    const record = past.records.get(slug);
    if (record !== undefined && record.seenAtMs.length > 0)
      for (const [way, outcome] of (await replayOne(past, record, waysOf(one), deps)).entries())
        (found[way] ??= []).push(outcome);
    deps.onProgress(`replayed ${index + 1} of ${past.organizations.length}: ${slug}`);
  }
  const replayed = new Set(found.flat().map(({ watched }) => watched.slug));
  return {
    candidates: found.map((organizations) => summed(organizations, past)),
    leftOut: past.organizations.map(({ slug }) => slug).filter((slug) => !replayed.has(slug)),
  };
}

async function replayOne(past: Past, record: EventRecord, ways: readonly Watched[], { clock, signal }: RunDeps) {
  for (const { slug, baseline, count } of ways) {
    if (count === "deaths" || baseline === "median") continue;
    throw new FlatlineError(
      "usage",
      `${slug} cannot be replayed with count assets and baseline mean: ` +
        "the mean is the API's rule, which counts deaths; " +
        "give --setting baseline=median, or --setting count=deaths",
    );
  }
  const { seenAtMs } = record;
  const spans = ways.map(({ thresholds }) => thresholds.windowHours * hourMs + thresholds.baselineDays * dayMs);
  const fromMs = past.fromMs ?? Math.max((seenAtMs[0] ?? 0) + Math.max(0, ...spans), past.sinceMs ?? -Infinity);
  const toMs = past.toMs ?? seenAtMs.at(-1) ?? 0;
  const [first] = ways;
  if (fromMs > toMs || first === undefined) return [];
  const replays = ways.map((watched) => ({ watched, replay: new Replay(record, watched) }));
  let sliceEndsMs = clock.monotonicMs() + sliceMs;
  for (const atMs of instants(first, past.stepMs, fromMs, toMs)) {
    const known = new Map();
    for (const { replay } of replays) replay.run(atMs, known);
    if (clock.monotonicMs() < sliceEndsMs) continue;
    await clock.sleep(0, signal);
    if (signal.aborted) throw new FlatlineError("unavailable", "stopped before the stretch was replayed");
    sliceEndsMs = clock.monotonicMs() + sliceMs;
  }
  return replays.map(({ watched, replay }) => {
    const { evaluations, notices } = replay;
    return { watched, fromMs, toMs, evaluations, notices, episodes: episodesOf(replay) };
  });
}

function* instants({ schedule, slug }: Watched, stepMs: number | null, fromMs: number, toMs: number) {
  let atMs = stepMs === null ? nextDueAtMs(schedule, slug, fromMs - 1) : Math.ceil(fromMs / stepMs) * stepMs;
  while (atMs <= toMs) {
    yield atMs;
    atMs = stepMs === null ? nextDueAtMs(schedule, slug, atMs) : atMs + stepMs;
  }
}

function summed(organizations: Awaited<ReturnType<typeof replayOne>>, { truths, incidents: rules }: Past) {
  const fromMs = Math.min(...organizations.map((one) => one.fromMs));
  const incidents = incidentsOf(
    organizations.flatMap(({ notices }) => notices),
    { ...rules, fromMs, intervalsMs: organizations.map(({ watched }) => evenIntervalMs(watched.schedule) ?? hourMs) },
  );
  const messages = messagesOf(incidents);
  const weeks = (Math.max(...organizations.map(({ toMs }) => toMs)) - fromMs) / weekMs;
  const replays = organizations.map((one) => ({ ...one, truth: truths?.get(one.watched.slug) ?? noTruth }));
  return {
    organizations,
    /** Where the first of them begins. */
    fromMs,
    incidents,
    messages,
    messagesAWeek: weeks > 0 ? messages / weeks : 0,
    /** null: no truth. */
    score: truths === null ? null : scoreEpisodes(replays.map(({ watched: { slug }, ...one }) => ({ slug, ...one }))),
  };
}

const noTruth: Truth = { incidents: [], massDeaths: [] };
