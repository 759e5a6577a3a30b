import type { EventRecord } from "../../src/backtest/event-record.ts";
import { medianOf } from "../../src/base/numbers.ts";
import { isUndone } from "../../src/backtest/truth.ts";
import { dayMs, hourMs } from "../../src/base/time.ts";
import { builtinRegret } from "../../src/checks/regret/settings.ts";
import { evaluateRegret, type RegretLimits } from "../../src/checks/regret/evaluate.ts";
import { longWindows, regretShares, revivalReachMs, type JudgedDeaths } from "../../src/checks/regret/shares.ts";

/** How the check `regret` did at one line. */
export interface RegretResult {
  readonly slug: string;
  readonly line: number;
  /** Alerts over the whole record, and those of them about deaths of which fewer than half were undone within 60 days. */
  readonly alerts: number;
  readonly falseAlarmsAWeek: number;
  readonly planted: readonly PlantedRegret[];
}

/** Slow breaks that were planted, and how many were found. */
export interface PlantedRegret {
  /** Which revivals the planted ones are like: those of the last 60 days then, or all of the record. */
  readonly revivals: "recent" | "all";
  readonly plantings: number;
  readonly found: number;
  readonly medianDelayDays: number | null;
}

/** The lines that are compared. */
export const regretLines = [0.3, 0.4, 0.45, 0.5, 0.6, 0.65, 0.7] as const;

const stepMs = 6 * hourMs;
const plantedDays = 14;
const firstDayDeaths = 5;
const growth = 1.1;
const foundWithinMs = 35 * dayMs;
const historyMs = 2 * revivalReachMs;

const { minDeaths } = builtinRegret;
const windowMs = dayMs;

interface Death {
  readonly atMs: number;
  readonly count: number;
  readonly revivedAtMs: number;
}

interface Look {
  readonly nowMs: number;
  readonly maturityMs: number;
  /** By line, whether the check is not ok. */
  readonly above: readonly boolean[];
}

/**
 * Evaluates the check every six hours at each line, over the record, and over slow breaks planted into it: five false deaths
 * on the first day, each day a tenth more, for 14 days, at random times of the days.
 */
export function measureRegret(record: EventRecord, repetitions: number, random: () => number): RegretResult[] {
  const deaths = deathsOf(record);
  const firstEventAtMs = record.seenAtMs[0] ?? 0;
  const lastMs = record.seenAtMs.at(-1) ?? 0;
  const looks = lookAt(deaths, firstEventAtMs, firstEventAtMs, lastMs);
  const planted = (["recent", "all"] as const).map((revivals) => ({
    revivals,
    delays: plantAll(deaths, { firstEventAtMs, lastMs, revivals, repetitions, random }),
  }));
  return regretLines.map((line, at) => {
    const alerts = alertsOf(looks, at);
    const wrong = alerts.filter(({ afterMs, untilMs }) => !isMostlyUndone(deaths, afterMs, untilMs));
    return {
      slug: record.slug,
      line,
      alerts: alerts.length,
      falseAlarmsAWeek: wrong.length / ((lastMs - firstEventAtMs) / (7 * dayMs)),
      planted: planted.map(({ revivals, delays }) => {
        const found = delays[at] ?? [];
        const medianMs = medianOf(found);
        const medianDelayDays = medianMs === null ? null : medianMs / dayMs;
        return { revivals, plantings: repetitions, found: found.length, medianDelayDays };
      }),
    };
  });
}

function deathsOf({ deathAtMs, deathsBefore, revivedAtMs }: EventRecord): Death[] {
  return Array.from(deathAtMs, (atMs, index) => ({
    atMs,
    count: (deathsBefore[index + 1] ?? 0) - (deathsBefore[index] ?? 0),
    revivedAtMs: revivedAtMs[index] ?? Number.NaN,
  }));
}

function lookAt(deaths: readonly Death[], firstEventAtMs: number, fromMs: number, toMs: number): Look[] {
  const judged: JudgedDeaths = {
    atMs: deaths.map(({ atMs }) => atMs),
    counts: deaths.map(({ count }) => count),
    revivedAtMs: deaths.map(({ revivedAtMs }) => revivedAtMs),
  };
  const looks: Look[] = [];
  for (let nowMs = Math.ceil(fromMs / stepMs) * stepMs; nowMs <= toMs; nowMs += stepMs) {
    const shares = regretShares(judged, { nowMs, windowMs, maturityMs: "auto", firstEventAtMs });
    const above = regretLines.map((line) => {
      const limits: RegretLimits = {
        warnAbove: line,
        failAbove: 1,
        minDeaths,
        windowMs,
        maturityMs: "auto",
      };
      return evaluateRegret({ slug: "", nowMs, limits, shares, appUrl: null }).severity !== "ok";
    });
    looks.push({ nowMs, maturityMs: shares.maturityMs, above });
  }
  return looks;
}

/** The stretches of deaths that the alerts are about. */
function alertsOf(looks: readonly Look[], line: number): { readonly afterMs: number; readonly untilMs: number }[] {
  const alerts: { afterMs: number; untilMs: number }[] = [];
  let isOpen = false;
  for (const { nowMs, maturityMs, above } of looks) {
    const untilMs = nowMs - maturityMs;
    const afterMs = untilMs - longWindows * windowMs;
    const last = alerts.at(-1);
    if (above[line] !== true) isOpen = false;
    else if (isOpen && last !== undefined) {
      last.afterMs = Math.min(last.afterMs, afterMs);
      last.untilMs = Math.max(last.untilMs, untilMs);
    } else {
      alerts.push({ afterMs, untilMs });
      isOpen = true;
    }
  }
  return alerts;
}

function isMostlyUndone(deaths: readonly Death[], afterMs: number, untilMs: number): boolean {
  let all = 0;
  let undone = 0;
  for (const { atMs, count, revivedAtMs } of deaths) {
    if (atMs <= afterMs || atMs > untilMs) continue;
    all += count;
    if (isUndone(atMs, revivedAtMs)) undone += count;
  }
  return undone * 2 >= all;
}

interface Planting {
  readonly firstEventAtMs: number;
  readonly lastMs: number;
  readonly revivals: PlantedRegret["revivals"];
  readonly repetitions: number;
  readonly random: () => number;
}

/** By line, from the first planted death to the alert, of those that were found. An alert that was standing counts for nothing. */
function plantAll(
  deaths: readonly Death[],
  { firstEventAtMs, lastMs, revivals, repetitions, random }: Planting,
): number[][] {
  const delays = regretLines.map((): number[] => []);
  const earliestMs = firstEventAtMs + 90 * dayMs;
  const latestMs = lastMs - foundWithinMs;
  const undone = deaths.filter(({ atMs, revivedAtMs }) => isUndone(atMs, revivedAtMs));
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const startMs = earliestMs + random() * (latestMs - earliestMs);
    const recent = undone.filter(({ atMs, revivedAtMs }) => atMs > startMs - revivalReachMs && revivedAtMs <= startMs);
    const like = revivals === "recent" && recent.length > 0 ? recent : undone;
    const near = deaths.filter(({ atMs }) => atMs > startMs - historyMs && atMs < startMs + foundWithinMs);
    const all = [...near, ...plant(startMs, like, random)].toSorted((left, right) => left.atMs - right.atMs);
    const looks = lookAt(all, firstEventAtMs, startMs - dayMs, startMs + foundWithinMs);
    for (const [line, found] of delays.entries()) {
      const first = looks.find(
        ({ nowMs, above }, at) => nowMs > startMs && above[line] === true && looks[at - 1]?.above[line] !== true,
      );
      if (first !== undefined) found.push(first.nowMs - startMs);
    }
  }
  return delays;
}

function plant(startMs: number, like: readonly Death[], random: () => number): Death[] {
  return Array.from({ length: plantedDays }, (_, day) =>
    Array.from({ length: Math.round(firstDayDeaths * growth ** day) }, (): Death => {
      const atMs = startMs + (day + random()) * dayMs;
      const { atMs: diedAtMs, revivedAtMs } = like[Math.floor(random() * like.length)] ?? { atMs: 0, revivedAtMs: NaN };
      return { atMs, count: 1, revivedAtMs: atMs + revivedAtMs - diedAtMs };
    }),
  ).flat();
}
