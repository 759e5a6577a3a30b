import { dayMs, hourMs } from "../../src/base/time.ts";
import { isAfterGap, weekMs } from "../../src/alerting/decide/verdict.ts";

/** Organizations whose alerts have nothing to do with each other. */
export interface Fleet {
  readonly organizations: number;
  /** All are looked at together, each multiple of it. */
  readonly intervalMs: number;
  /** Excesses that begin, per organization and week. */
  readonly rate: (random: () => number) => number;
  /** Half of the excesses begin within six hours of the day, beside the others' even share. */
  readonly isAtNight?: boolean;
}

/** No look gives a result in it. */
export interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What many organizations have at once. */
export interface Break {
  readonly atMs: number;
  /** Their excesses begin within so long. */
  readonly spanMs: number;
  /** Of the organizations, 0 to 1. */
  readonly share: number;
}

/** An alert of the family deaths. */
export interface WorldAlert {
  readonly slug: string;
  readonly firingAtMs: number;
  readonly endsAtMs: number;
  readonly isFirstLook: boolean;
  readonly isPlanted: boolean;
}

export interface WorldOptions {
  readonly fleet: Fleet;
  /** From the fleet's first look, which is at 0, until then. */
  readonly untilMs: number;
  readonly outages: readonly Outage[];
  readonly planted: Break | null;
  readonly random: () => number;
}

// An excess stands in the window of 24 hours for about as long: the median is 23 h on the project's records (docs/detection.md).
const leastLengthMs = 12 * hourMs;
const lengthSpreadMs = 24 * hourMs;
// 94 alerts for 90 at an evaluation each five minutes, and 38 % more on busy counts (docs/detection.md): between the two.
const flappingShare = 0.15;
const mostPauseIntervals = 12;
// What began before the first look and stands at it.
const beforeMs = 2 * dayMs;
// On the project's records two of five alerts begin within the same four hours of the day, half of them within six.
const nightShare = 0.5;

/** Returns all alerts of a world in the order in which they fire. */
export function alertsOf({ fleet, untilMs, outages, planted, random }: WorldOptions): WorldAlert[] {
  const alerts: WorldAlert[] = [];
  for (let index = 0; index < fleet.organizations; index++) {
    const slug = `org-${index}`;
    const rate = fleet.rate(random);
    const isHit = planted !== null && random() < planted.share;
    let plantedAtMs = isHit ? planted.atMs + random() * planted.spanMs : Infinity;
    let freeAtMs = -beforeMs;
    for (;;) {
      const ownAtMs = atNight(fleet, freeAtMs + (-Math.log(1 - random()) / rate) * weekMs, random);
      const isPlanted = plantedAtMs <= ownAtMs;
      const atMs = isPlanted ? plantedAtMs : ownAtMs;
      if (atMs >= untilMs) break;
      let overAtMs = atMs + leastLengthMs + random() * lengthSpreadMs;
      freeAtMs = add(slug, atMs, overAtMs, isPlanted);
      // An alert that stands already is the break's, too.
      if (plantedAtMs <= freeAtMs) plantedAtMs = Infinity;
      while (random() < flappingShare) {
        const againAtMs = overAtMs + random() * mostPauseIntervals * fleet.intervalMs;
        // Where nobody looked in between, it is the same alert's end.
        if (plantedAtMs <= againAtMs || lookAfter(againAtMs) <= freeAtMs) break;
        overAtMs = againAtMs + random() * leastLengthMs;
        freeAtMs = add(slug, againAtMs, overAtMs, false);
      }
    }
  }
  return alerts.toSorted((left, right) => left.firingAtMs - right.firingAtMs);

  function add(slug: string, fromMs: number, toMs: number, isPlanted: boolean): number {
    const firingAtMs = Math.max(0, lookAfter(fromMs));
    const endsAtMs = lookAfter(toMs);
    // It was over before anyone looked.
    if (endsAtMs <= firingAtMs || firingAtMs >= untilMs) return Math.max(endsAtMs, toMs);
    const isFirstLook = firingAtMs === 0 || isAfterGap(firingAtMs - lookBefore(firingAtMs), fleet.intervalMs);
    alerts.push({ slug, firingAtMs, endsAtMs, isFirstLook, isPlanted });
    return endsAtMs;
  }

  function lookAfter(atMs: number): number {
    const lookMs = Math.ceil(atMs / fleet.intervalMs) * fleet.intervalMs;
    const outage = outages.find(({ fromMs, toMs }) => lookMs >= fromMs && lookMs < toMs);
    return outage === undefined ? lookMs : Math.ceil(outage.toMs / fleet.intervalMs) * fleet.intervalMs;
  }

  function lookBefore(lookMs: number): number {
    const beforeLookMs = lookMs - fleet.intervalMs;
    const outage = outages.find(({ fromMs, toMs }) => beforeLookMs >= fromMs && beforeLookMs < toMs);
    return outage === undefined ? beforeLookMs : (Math.ceil(outage.fromMs / fleet.intervalMs) - 1) * fleet.intervalMs;
  }
}

function atNight({ isAtNight }: Fleet, atMs: number, random: () => number): number {
  if (isAtNight !== true || random() >= nightShare) return atMs;
  const hourOfDayMs = (1 + 6 * random()) * hourMs;
  return atMs + ((((hourOfDayMs - atMs) % dayMs) + dayMs) % dayMs);
}
