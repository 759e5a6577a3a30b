import { dayMs, hourMs, minuteMs, secondMs } from "../src/base/time.ts";
import { weekMs } from "../src/alerting/decide/verdict.ts";
import type { Benchmark, Metric, Readings, Side } from "./harness/benchmark.ts";
import { randomOf } from "./harness/measure.ts";
import { ReplayedBook, type ReplayedIncident } from "./incidents/book.ts";
import { alertsOf, type Fleet, type Outage, type WorldOptions } from "./incidents/world.ts";

// Any will do; fixed, so that every run is the same.
const seed = 20_261_126;
const yearWeeks = 52;
// Of each fleet, so that all take a minute or two.
const alertsEach = 400_000;
const mostYears = 200;
// Of the platform, one each eight weeks.
const outageHours = [1 / 6, 1, 3, 12, 30, 60];
const breakShares = [0.05, 0.1, 0.3];
const breakSpansMs = [30 * secondMs, 10 * minuteMs, hourMs];
// As long as the rate looks back; and until what a break began must be over.
const historyMs = 29 * dayMs;
const afterwardsMs = 14 * dayMs;

/** Own incidents and mass deaths 0.09 per organization and week, false alarms 0.035 to 0.176 (docs/detection.md). */
const usual = { rate: (random: () => number): number => 0.09 + 0.035 * (0.176 / 0.035) ** random(), mean: 0.177 };
/** As many alerts as the project's two records have with the advised rule. */
const loud = { rate: (): number => 0.39, mean: 0.39 };

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

/** Verdicts a year of a fleet in which no alert shares its cause with another, but that they are looked at together. */
function measureChance(fleet: Fleet, years: number, random: () => number): number {
  const outages: Outage[] = outageHours.map((hours, index) => {
    const fromMs = (8 * (index + 1) - 1 + random()) * weekMs;
    return { fromMs, toMs: fromMs + hours * hourMs };
  });
  let verdicts = 0;
  for (let year = 0; year < years; year++) {
    const incidents = replay({ fleet, untilMs: yearWeeks * weekMs, outages, planted: null, random });
    verdicts += incidents.filter(({ verdict }) => verdict !== null).length;
  }
  return verdicts / years;
}

function measureBreaks(fleet: Fleet, each: number, random: () => number): Readings {
  const readings: Record<string, number> = {};
  const lateMinutes: number[] = [];
  for (const share of breakShares) {
    let found = 0;
    for (const spanMs of breakSpansMs)
      for (let repetition = 0; repetition < each; repetition++) {
        const planted = { atMs: historyMs + random() * dayMs, spanMs, share };
        const incidents = replay({ fleet, untilMs: planted.atMs + afterwardsMs, outages: [], planted, random });
        const own = incidents.flatMap(({ alerts }) => alerts.filter(({ isPlanted }) => isPlanted));
        const verdictAtMs = incidents.find(
          ({ verdict, alerts }) => (verdict?.startsAtMs ?? 0) >= planted.atMs && alerts.some((one) => one.isPlanted),
        )?.verdict?.startsAtMs;
        if (verdictAtMs === undefined) continue;
        found++;
        lateMinutes.push((verdictAtMs - Math.min(...own.map((one) => one.firingAtMs))) / minuteMs);
      }
    readings[`found${share * 100}`] = (100 * found) / (each * breakSpansMs.length);
  }
  const late = lateMinutes.toSorted((a, b) => a - b)[Math.floor(0.9 * lateMinutes.length)] ?? Number.NaN;
  return { ...readings, late };
}

function side(name: string, fleet: Omit<Fleet, "rate">, { rate, mean } = usual): Side {
  return {
    name: `${fleet.organizations.toLocaleString("en")}, each ${name}`,
    start: async (quick) =>
      Promise.resolve(async () => {
        const random = randomOf(seed);
        const aYear = fleet.organizations * mean * yearWeeks;
        const years = quick ? 1 : Math.min(mostYears, Math.ceil(alertsEach / aYear));
        const breaks = quick ? 1 : Math.max(2, Math.min(20, Math.round(20_000 / fleet.organizations)));
        const chance = measureChance({ ...fleet, rate }, years, random);
        return Promise.resolve({ years, chance, ...measureBreaks({ ...fleet, rate }, breaks, random) });
      }),
  };
}

const scheduled = [20, 300, 2_000, 20_000].flatMap((organizations) =>
  schedules.map(([title, intervalMs]) => side(title, { organizations, intervalMs })),
);
const variants = [2_000, 20_000].flatMap((organizations) => [
  side("5 minutes, 0.39 a week", { organizations, intervalMs: 5 * minuteMs }, loud),
  side("5 minutes, at night", { organizations, intervalMs: 5 * minuteMs, isAtNight: true }),
]);

/** The rules of CONTRACT 15, on fleets that are made up. */
export const benchmark: Benchmark = {
  name: "incidents",
  title: "Incidents and fleet verdicts by chance, and breaks that are found",
  metrics: [
    { name: "years", title: "years", unit: "n", better: "more" },
    { name: "chance", title: "all verdicts by chance", unit: "a year", better: "less" },
    ...breakShares.map((share): Metric => ({
      name: `found${share * 100}`,
      title: `breaks of ${share * 100} % found`,
      unit: "%",
      better: "more",
    })),
    { name: "late", title: "first alert to verdict, 9 of 10 within", unit: "min", better: "less" },
  ],
  sides: [...scheduled, ...variants],
  repetitions: 1,
  goals: scheduled.map(({ name }) => ({
    title: `verdicts by chance a year, ${name}`,
    metric: "chance",
    side: name,
    bound: "at most",
    goal: 0.1,
  })),
};
