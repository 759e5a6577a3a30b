import { medianOf } from "../base/numbers.ts";
import { dayMs, hourMs } from "../base/time.ts";
import type { Episode } from "./episodes.ts";
import type { Incident, Truth } from "./truth.ts";

/** How well episodes match incidents. */
export interface Score {
  readonly incidents: number;
  readonly found: number;
  /** 0–1; null without incidents. */
  readonly recall: number | null;
  /** Episodes without an incident. */
  readonly falseAlarms: number;
  /** The ones that match a real mass death. */
  readonly onMassDeaths: number;
  /** The others, which match nothing: false alarms by the narrower definition. */
  readonly groundless: number;
  readonly falseAlarmsAWeek: number;
  readonly groundlessAWeek: number;
  /** The median time from the first death of a found incident to its alert; null without one. */
  readonly medianDelayMs: number | null;
  readonly missed: readonly MissedIncident[];
}

/** An incident without an episode. */
export interface MissedIncident extends Incident {
  readonly slug: string;
}

/** A notification a day later is still in time; a later alert is of something else. */
const graceMs = dayMs;
// An episode that began long before belongs to something else, and hid this one.
const leadMs = 12 * hourMs;
/** Incidents that are no further apart than this are one: an alert between them would be about both. */
export const leastApartMs = graceMs + leadMs;
const weekMs = 7 * dayMs;

/** The scored part of a replay: its episodes, and the stretch that it covers. */
export interface ScoredReplay {
  readonly slug: string;
  readonly episodes: readonly Episode[];
  readonly truth: Truth;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Tally {
  incidents: number;
  found: number;
  falseAlarms: number;
  onMassDeaths: number;
  spanMs: number;
  readonly delaysMs: number[];
  readonly missed: MissedIncident[];
}

/**
 * Scores replays of any number of organizations together. An episode matches an incident when it overlaps it or the day after,
 * and began at most 12 h before. Incidents outside of the replayed stretch are left out.
 */
export function scoreEpisodes(replays: readonly ScoredReplay[]): Score {
  const tally: Tally = { incidents: 0, found: 0, falseAlarms: 0, onMassDeaths: 0, spanMs: 0, delaysMs: [], missed: [] };
  for (const replay of replays) addReplay(tally, replay);
  const { incidents, found, falseAlarms, onMassDeaths, spanMs, delaysMs, missed } = tally;
  const groundless = falseAlarms - onMassDeaths;
  const aWeek = (alarms: number): number => (spanMs === 0 ? 0 : alarms / (spanMs / weekMs));
  return {
    incidents,
    found,
    recall: incidents === 0 ? null : found / incidents,
    falseAlarms,
    onMassDeaths,
    groundless,
    falseAlarmsAWeek: aWeek(falseAlarms),
    groundlessAWeek: aWeek(groundless),
    medianDelayMs: medianOf(delaysMs),
    missed,
  };
}

function addReplay(tally: Tally, { slug, episodes, truth, fromMs, toMs }: ScoredReplay): void {
  const isWithin = (incident: Incident): boolean => incident.fromMs >= fromMs && incident.fromMs <= toMs;
  const incidents = truth.incidents.filter(isWithin);
  for (const incident of incidents) {
    const first = episodes.find((episode) => tellsOf(episode, incident));
    tally.incidents++;
    if (first === undefined) tally.missed.push({ ...incident, slug });
    else {
      tally.found++;
      tally.delaysMs.push(Math.max(0, first.firedAtMs - incident.fromMs));
    }
  }
  for (const episode of episodes) {
    if (truth.incidents.some((incident) => tellsOf(episode, incident))) continue;
    tally.falseAlarms++;
    if (truth.massDeaths.some((massDeath) => tellsOf(episode, massDeath))) tally.onMassDeaths++;
  }
  tally.spanMs += Math.max(0, toMs - fromMs);
}

/** Returns whether an episode matches an incident: it overlaps it or the day after, and began at most 12 h before. */
export function tellsOf({ firedAtMs, endsAtMs }: Episode, { fromMs, toMs }: Incident): boolean {
  return firedAtMs <= toMs + graceMs && endsAtMs >= fromMs && firedAtMs >= fromMs - leadMs;
}
