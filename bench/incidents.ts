import { dayMs, hourMs, minuteMs, secondMs } from "../src/base/time.ts";
import { weekMs } from "../src/alerting/decide/verdict.ts";
import type { Benchmark, Metric, Side } from "./harness/benchmark.ts";
import { median } from "./harness/harness.ts";
import { randomOf } from "./harness/random.ts";
import { ReplayedBook, type ReplayedIncident } from "./incidents/book.ts";
import { alertsOf, type Fleet, type Outage, type WorldOptions } from "./incidents/world.ts";

// Any will do; fixed, so that every run is the same.
const seed = 20_261_126;
const yearWeeks = 52;
// Of each fleet, so that all take a minute or two.
const alertsEach = 400_000;
const mostYears = 200;
const firstWeekMs = weekMs;
// Of the platform, one each eight weeks.
const outageHours = [1 / 6, 1, 3, 12, 30, 60];
const breakShares = [0.05, 0.1, 0.3, 1];
const breakSpansMs = [30 * secondMs, 10 * minuteMs, hourMs];
// As long as the rate looks back; and until what a break began must be over.
const historyMs = 29 * dayMs;
const afterwardsMs = 14 * dayMs;

/** Own incidents and mass deaths 0.09 per organization and week, false alarms 0.035 to 0.176 (docs/detection.md). */
const usualRate = (random: () => number): number => 0.09 + 0.035 * (0.176 / 0.035) ** random();
const usualMean = 0.177;
/** As many alerts as the project's two records have with the advised rule. */
const loudRate = (): number => 0.39;

const sizes = [20, 300, 2_000, 20_000];
const schedules = [
  ["5 minutes", 5 * minuteMs],
  ["hour", hourMs],
  ["day", dayMs],
] as const;

function replay(options: WorldOptions): readonly ReplayedIncident[] {
  const book = new ReplayedBook(options.fleet);
  for (const alert of alertsOf(options)) book.take(alert);
  return book.incidents;
}

/** Years of a fleet in which no alert shares its cause with another, but that they are looked at together. */
function measureChance(fleet: Fleet, years: number, random: () => number): Readonly<Record<string, number>> {
  const outages: Outage[] = outageHours.map((hours, index) => {
    const fromMs = (8 * (index + 1) - 1 + random()) * weekMs;
    return { fromMs, toMs: fromMs + hours * hourMs };
  });
  const counts = { first: 0, outage: 0, other: 0, alerts: 0, incidents: 0 };
  for (let year = 0; year < years; year++) {
    const incidents = replay({ fleet, untilMs: yearWeeks * weekMs, outages, planted: null, random });
    counts.incidents += incidents.length;
    counts.alerts += incidents.reduce((sum, { alerts }) => sum + alerts.length, 0);
    for (const { verdict } of incidents) {
      if (verdict === null) continue;
      const { startsAtMs } = verdict;
      const isAfterOutage = outages.some(({ toMs }) => startsAtMs >= toMs && startsAtMs - toMs <= fleet.intervalMs);
      counts[startsAtMs < firstWeekMs ? "first" : isAfterOutage ? "outage" : "other"]++;
    }
  }
  return {
    years,
    chance: (counts.first + counts.outage + counts.other) / years,
    first: counts.first / years,
    outage: counts.outage / years,
    joined: 100 * (1 - counts.incidents / counts.alerts),
  };
}

function measureBreaks(fleet: Fleet, each: number, random: () => number): Readonly<Record<string, number>> {
  const readings: Record<string, number> = {};
  const lateMinutes: number[] = [];
  const lastsHours: number[] = [];
  for (const share of breakShares) {
    let found = 0;
    for (const spanMs of breakSpansMs)
      for (let repetition = 0; repetition < each; repetition++) {
        const planted = { atMs: historyMs + random() * dayMs, spanMs, share };
        const untilMs = planted.atMs + afterwardsMs;
        const incidents = replay({ fleet, untilMs, outages: [], planted, random });
        const own = incidents.flatMap(({ alerts }) => alerts.filter(({ isPlanted }) => isPlanted));
        const said = incidents.find(
          ({ verdict, alerts }) => (verdict?.startsAtMs ?? 0) >= planted.atMs && alerts.some((one) => one.isPlanted),
        );
        if (said === undefined || said.verdict === null) continue;
        found++;
        const { verdict } = said;
        lateMinutes.push((verdict.startsAtMs - Math.min(...own.map((one) => one.firingAtMs))) / minuteMs);
        const overAtMs = own.reduce((latest, one) => Math.max(latest, one.endsAtMs), 0);
        lastsHours.push(Math.max(0, Math.min(said.endsAtMs, untilMs) - overAtMs) / hourMs);
      }
    readings[`found${share * 100}`] = (100 * found) / (each * breakSpansMs.length);
  }
  return {
    ...readings,
    late: lateMinutes.toSorted((a, b) => a - b)[Math.floor(0.9 * lateMinutes.length)] ?? Number.NaN,
    lasts: median(lastsHours),
  };
}

function side(name: string, fleet: Fleet, meanRate: number): Side {
  return {
    name,
    kind: "flatline",
    start: async ({ quick }) =>
      Promise.resolve({
        measure: async () => {
          const random = randomOf(seed);
          const aYear = fleet.organizations * meanRate * yearWeeks;
          const years = quick ? 1 : Math.min(mostYears, Math.ceil(alertsEach / aYear));
          const breaks = quick ? 1 : Math.max(2, Math.min(20, Math.round(20_000 / fleet.organizations)));
          const chance = measureChance(fleet, years, random);
          return Promise.resolve({ ...chance, ...measureBreaks(fleet, breaks, random) });
        },
        stop: async () => Promise.resolve(),
      }),
  };
}

const sides = [
  ...sizes.flatMap((organizations) =>
    schedules.map(([title, intervalMs]) =>
      side(
        `${organizations.toLocaleString("en")}, each ${title}`,
        { organizations, intervalMs, rate: usualRate },
        usualMean,
      ),
    ),
  ),
  ...[2_000, 20_000].flatMap((organizations) => [
    side(
      `${organizations.toLocaleString("en")}, each 5 minutes, 0.39 a week`,
      { organizations, intervalMs: 5 * minuteMs, rate: loudRate },
      0.39,
    ),
    side(
      `${organizations.toLocaleString("en")}, each 5 minutes, at night`,
      { organizations, intervalMs: 5 * minuteMs, rate: usualRate, isAtNight: true },
      usualMean,
    ),
  ]),
];

const metrics: readonly Metric[] = [
  { name: "years", title: "years", unit: "n", better: "more" },
  { name: "first", title: "first week", unit: "a start", better: "less" },
  { name: "chance", title: "all verdicts by chance", unit: "a year", better: "less" },
  { name: "outage", title: "after outages", unit: "a year", better: "less" },
  { name: "joined", title: "alerts that joined another's incident", unit: "%", better: "less" },
  ...breakShares.map((share) => ({
    name: `found${share * 100}`,
    title: `breaks of ${share * 100} % found`,
    unit: "%",
    better: "more" as const,
  })),
  { name: "late", title: "first alert to verdict, 9 of 10 within", unit: "min", better: "less" },
  { name: "lasts", title: "incident after the break's last alert", unit: "h", better: "less" },
];

/** The rules of CONTRACT 15, on fleets that are made up. */
export const benchmark: Benchmark = {
  name: "incidents",
  title: "Incidents and fleet verdicts by chance, and breaks that are found",
  metrics,
  sides,
  repetitions: 1,
  isolated: true,
  goals: ["20", "300", "2,000", "20,000"].flatMap((organizations) =>
    schedules.map(([title]) => ({
      title: `verdicts by chance a year, ${organizations} organizations, each ${title}`,
      of: { side: `${organizations}, each ${title}`, metric: "chance" },
      bound: "at most" as const,
      goal: 0.1,
    })),
  ),
};
