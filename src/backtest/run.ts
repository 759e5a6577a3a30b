import { FlatlineError } from "../base/errors.ts";
import { dayMs, hourMs, type Clock } from "../base/time.ts";
import type { Severity } from "../contract/severity.ts";
import { evenIntervalMs, nextDueAtMs } from "../monitor/schedule.ts";
import { episodesOf, type Episode } from "./score.ts";
import type { EventRecord } from "./event-record.ts";
import { incidentsOf, messagesOf, type IncidentRules, type ReplayedIncident } from "./incidents.ts";
import { Replay, type ReplayedNotice, type Watched } from "./replay.ts";
import { scoreEpisodes, type Score } from "./score.ts";
import type { Truth } from "./truth.ts";

/** What is replayed. */
export interface Past {
  /** The organizations as they are configured. */
  readonly organizations: readonly Watched[];
  /** By slug; an organization without a record is left out. */
  readonly records: ReadonlyMap<string, EventRecord>;
  /** What the replay is held against; null: nothing. */
  readonly truths: ReadonlyMap<string, Truth> | null;
  /** When the truth begins; null: with the events. */
  readonly sinceMs: number | null;
  readonly incidents: Pick<IncidentRules, "withinMs" | "minOrganizations">;
}

/** Over which instants it is replayed. */
export interface Stretch {
  /** null: as soon as the longest baseline is full, and no earlier than the truth. */
  readonly fromMs: number | null;
  /** null: the last event. */
  readonly toMs: number | null;
  /** null: by the schedule of each organization. */
  readonly stepMs: number | null;
}

export interface RunDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the progress in words; not for each step. */
  readonly onProgress: (text: string) => void;
}

/** What came of an organization. */
export interface ReplayedOrganization {
  readonly watched: Watched;
  readonly fromMs: number;
  readonly toMs: number;
  readonly evaluations: Readonly<Record<Severity, number>>;
  readonly notices: readonly ReplayedNotice[];
  readonly episodes: readonly Episode[];
}

/** What came of one way to watch all organizations. */
export interface Replayed {
  readonly organizations: readonly ReplayedOrganization[];
  readonly incidents: readonly ReplayedIncident[];
  readonly messages: number;
  readonly messagesAWeek: number;
  /** null without a truth. */
  readonly score: Score | null;
}

/** What came of each way, and the organizations that have no event, or too few days of them for the baseline. */
export interface ReplayOutcome {
  readonly candidates: readonly Replayed[];
  readonly leftOut: readonly string[];
}

// A slice of work between two looks at the signal and the terminal.
const sliceMs = 50;
const weekMs = 7 * dayMs;

/**
 * Replays every organization, watched in each of these ways, over the same stretch.
 * @throws usage where assets are to be counted against a mean, unavailable when stopped
 */
export async function runReplay(
  past: Past,
  waysOf: (one: Watched) => readonly Watched[],
  stretch: Stretch,
  deps: RunDeps,
): Promise<ReplayOutcome> {
  const found: ReplayedOrganization[][] = [];
  for (const [index, one] of past.organizations.entries()) {
    const { slug } = one;
    const record = past.records.get(slug);
    if (record !== undefined && record.seenAtMs.length > 0)
      for (const [way, outcome] of (await replayOne(past, record, waysOf(one), stretch, deps)).entries())
        (found[way] ??= []).push(outcome);
    deps.onProgress(`replayed ${index + 1} of ${past.organizations.length}: ${slug}`);
  }
  const replayed = new Set(found.flat().map(({ watched }) => watched.slug));
  return {
    candidates: found.map((organizations) => summed(organizations, past)),
    leftOut: past.organizations.map(({ slug }) => slug).filter((slug) => !replayed.has(slug)),
  };
}

async function replayOne(
  past: Past,
  record: EventRecord,
  ways: readonly Watched[],
  { fromMs: askedMs, toMs: endMs, stepMs }: Stretch,
  { clock, signal }: RunDeps,
): Promise<ReplayedOrganization[]> {
  for (const { slug, baseline, count } of ways) {
    if (count === "deaths" || baseline === "median") continue;
    throw new FlatlineError(
      "usage",
      `${slug} cannot be replayed with count assets and baseline mean: the mean is the API's rule, which counts deaths; give --setting baseline=median, or --setting count=deaths`,
    );
  }
  const { seenAtMs } = record;
  const spans = ways.map(({ thresholds }) => thresholds.windowHours * hourMs + thresholds.baselineDays * dayMs);
  const fromMs = askedMs ?? Math.max((seenAtMs[0] ?? 0) + Math.max(0, ...spans), past.sinceMs ?? -Infinity);
  const toMs = endMs ?? seenAtMs.at(-1) ?? 0;
  const [first] = ways;
  if (fromMs > toMs || first === undefined) return [];
  const replays = ways.map((watched) => ({ watched, replay: new Replay(record, watched) }));
  let sliceEndsMs = clock.monotonicMs() + sliceMs;
  for (const atMs of instants(first, stepMs, fromMs, toMs)) {
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

function* instants(
  { schedule, slug }: Watched,
  stepMs: number | null,
  fromMs: number,
  toMs: number,
): Generator<number> {
  let atMs = stepMs === null ? nextDueAtMs(schedule, slug, fromMs - 1) : Math.ceil(fromMs / stepMs) * stepMs;
  while (atMs <= toMs) {
    yield atMs;
    atMs = stepMs === null ? nextDueAtMs(schedule, slug, atMs) : atMs + stepMs;
  }
}

function summed(organizations: readonly ReplayedOrganization[], { truths, incidents: rules }: Past): Replayed {
  const fromMs = Math.min(...organizations.map((one) => one.fromMs));
  const incidents = incidentsOf(
    organizations.flatMap(({ watched: { slug }, notices }) => notices.map((notice) => ({ ...notice, slug }))),
    { ...rules, fromMs, intervalsMs: organizations.map(({ watched }) => evenIntervalMs(watched.schedule) ?? hourMs) },
  );
  const messages = messagesOf(incidents);
  const weeks = (Math.max(...organizations.map(({ toMs }) => toMs)) - fromMs) / weekMs;
  const replays = organizations.map(({ watched: { slug }, episodes, ...span }) => {
    const truth = truths?.get(slug) ?? { incidents: [], massDeaths: [] };
    return { slug, episodes, truth, fromMs: span.fromMs, toMs: span.toMs };
  });
  return {
    organizations,
    incidents,
    messages,
    messagesAWeek: weeks > 0 ? messages / weeks : 0,
    score: truths === null ? null : scoreEpisodes(replays),
  };
}
