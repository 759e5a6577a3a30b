import { medianOf } from "../base/numbers.ts";
import { dayMs, hourMs } from "../base/time.ts";
import type { Replay } from "./replay.ts";
import type { Incident, Truth } from "./truth.ts";

export type Score = ReturnType<typeof scoreEpisodes>;

/** A notification a day later is in time; a later one has another cause. */
const graceMs = dayMs;
// An episode that began earlier has another cause, and hid this incident.
const leadMs = 12 * hourMs;
/** Closer incidents are one: an alert between them would be about both. */
export const leastApartMs = graceMs + leadMs;
const weekMs = 7 * dayMs;

/**
 * Scores replays of any number of organizations together. An episode matches an incident if it overlaps it or the day
 * after, and began at most 12 h before it. Incidents outside of the replayed time are left out.
 */
export function scoreEpisodes(
  replays: readonly {
    readonly slug: string;
    readonly episodes: readonly Episode[];
    readonly truth: Truth;
    readonly fromMs: number;
    readonly toMs: number;
  }[],
) {
  const incidents = replays.flatMap(({ slug, episodes, truth, fromMs, toMs }) =>
    truth.incidents
      .filter((incident) => incident.fromMs >= fromMs && incident.fromMs <= toMs)
      .map((incident) => ({ ...incident, slug, by: episodes.find((episode) => tellsOf(episode, incident)) })),
  );
  const alarms = replays.flatMap(({ episodes, truth }) =>
    episodes
      .filter((episode) => !truth.incidents.some((incident) => tellsOf(episode, incident)))
      .map((episode) => truth.massDeaths.some((massDeath) => tellsOf(episode, massDeath))),
  );
  const delays = incidents.flatMap(({ fromMs, by }) => (by === undefined ? [] : Math.max(0, by.firedAtMs - fromMs)));
  const onMassDeaths = alarms.filter(Boolean).length;
  const groundless = alarms.length - onMassDeaths;
  const weeks = replays.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - fromMs), 0) / weekMs;
  const aWeek = (count: number): number => (weeks === 0 ? 0 : count / weeks);
  return {
    incidents: incidents.length,
    found: delays.length,
    /** 0–1; null: no incidents. */
    recall: incidents.length === 0 ? null : delays.length / incidents.length,
    /** Episodes that match no incident. */
    falseAlarms: alarms.length,
    /** False alarms that match a real mass death. */
    onMassDeaths,
    /** False alarms that match nothing. */
    groundless,
    falseAlarmsAWeek: aWeek(alarms.length),
    groundlessAWeek: aWeek(groundless),
    /** The median time from an incident's first death to its alert; null: none was found. */
    medianDelayMs: medianOf(delays),
    /** Incidents that match no episode. */
    missed: incidents.filter(({ by }) => by === undefined).map(({ by: _by, ...incident }) => incident),
  };
}

function tellsOf({ firedAtMs, endsAtMs }: Episode, { fromMs, toMs }: Incident): boolean {
  return firedAtMs <= toMs + graceMs && endsAtMs >= fromMs && firedAtMs >= fromMs - leadMs;
}

/** The time in which an alert fired for receivers, epoch ms. */
export interface Episode {
  readonly alertId: string;
  /** The first notification, after `for`. */
  readonly firedAtMs: number;
  /** The end, or the last run if it still fires. */
  readonly endsAtMs: number;
}

export function episodesOf({ notices, lastAtMs }: Pick<Replay, "notices" | "lastAtMs">): Episode[] {
  const episodes: Episode[] = [];
  for (const { alertId, kind, event, atMs } of notices) {
    const open = episodes.at(-1);
    if (kind !== "verdict") continue;
    if (open?.alertId !== alertId) episodes.push({ alertId, firedAtMs: atMs, endsAtMs: lastAtMs ?? atMs });
    else if (event === "resolved") episodes.splice(-1, 1, { ...open, endsAtMs: atMs });
  }
  return episodes;
}
