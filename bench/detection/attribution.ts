import type { EventRecord } from "../../src/backtest/event-record.ts";
import type { Incident, Truth } from "../../src/backtest/truth.ts";
import { dayMs, hourMs } from "../../src/base/time.ts";
import { builtinSettings } from "../../src/config/schema/organization.ts";
import { largestRise, rankCarriers, type ValueCounts } from "../../src/evidence/attribution.ts";
import { likelyCause, type LikelyCause } from "../../src/evidence/likely-cause.ts";
import { attributionSlices, quietSlices, unjudgedSlices, type Slice } from "../../src/evidence/quiet-days.ts";

/** How often the likely cause of a labelled stretch was right, with one way to choose what is usual. */
export interface AttributionResult {
  readonly name: string;
  /** Incidents under each planting: `checker` is right, `assets` the error that costs most. */
  readonly incidents: Readonly<Record<LikelyCause, number>>;
  /** Days on which many assets really died, the same: `assets` is right. */
  readonly massDeaths: Readonly<Record<LikelyCause, number>>;
}

// How deaths usually are: shares of 0 to 1.
const usual = {
  reason: { dns: 0.55, http_404: 0.25, timeout: 0.15, tls_handshake: 0.05 },
  checker: { "eu-1": 0.4, "us-1": 0.35, "ap-1": 0.25 },
} as const;
// What a broken checker gives to nearly all of its false deaths: a rare reason, a reason that is new, or its own name.
const plantings: readonly Partial<Record<Attribute, string>>[] = [
  { reason: "tls_handshake" },
  { reason: "captcha" },
  { checker: "ap-1" },
];
const brokenShare = 0.9;
const thresholds = { warnMultiplier: 2.5, minSpikeCount: 20 };

type Attribute = keyof typeof usual;
type Planted = Readonly<Record<Attribute, string>>;

/**
 * Plants attributes into every death: as usual, but for the false deaths of incidents, nine of ten of which share a value.
 * Then the cause of each incident and each mass death is looked for at its loudest hour, before anything of it is undone.
 */
export function measureAttribution(
  series: readonly { readonly record: EventRecord; readonly truth: Truth }[],
  random: () => number,
): AttributionResult[] {
  const planted = plantings.flatMap((broken) =>
    series.map(({ record, truth }) => ({ record, truth, attributes: plant(record, truth, broken, random) })),
  );
  const days = `the quiet ones of the ${builtinSettings.attributionDays} days before`;
  const ways: readonly [name: string, choose: Choose][] = [
    ["the seven days before, pooled", ({ afterMs }) => attributionSlices(afterMs, 7)],
    [days, ({ afterMs }, record) => quietBefore(afterMs, record, [])],
    [
      `${days}, earlier incidents judged`,
      ({ afterMs }, record, incidents) => {
        const before = incidents.filter(({ fromMs }) => fromMs <= afterMs);
        return quietBefore(afterMs, record, before);
      },
    ],
  ];
  return ways.map(([name, choose]) => {
    const causes = (kind: "incidents" | "massDeaths"): Record<LikelyCause, number> => {
      const found = { checker: 0, assets: 0, unclear: 0 };
      for (const { record, truth, attributes } of planted)
        for (const one of truth[kind]) found[causeOf(one, record, truth.incidents, attributes, choose)]++;
      return found;
    };
    return { name, incidents: causes("incidents"), massDeaths: causes("massDeaths") };
  });
}

type Choose = (window: Slice, record: EventRecord, incidents: readonly Incident[]) => readonly Slice[];

function quietBefore(windowStartMs: number, record: EventRecord, judged: readonly Incident[]): Slice[] {
  const slices = unjudgedSlices(attributionSlices(windowStartMs, builtinSettings.attributionDays), judged);
  const deaths = slices.map((slice) => indexesIn(record, slice).reduce((sum, at) => sum + countAt(record, at), 0));
  return quietSlices(slices, deaths, { thresholds, firstEventAtMs: record.seenAtMs[0] ?? null });
}

function plant(record: EventRecord, { incidents }: Truth, broken: Partial<Planted>, random: () => number): Planted[] {
  return Array.from(record.deathAtMs, (atMs, index) => {
    const isFalse = incidents.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs);
    const isBroken = isFalse && !Number.isNaN(record.revivedAtMs[index]) && random() < brokenShare;
    const attributes = { reason: draw(usual.reason, random), checker: draw(usual.checker, random) };
    return isBroken ? { ...attributes, ...broken } : attributes;
  });
}

function draw(shares: Readonly<Record<string, number>>, random: () => number): string {
  let left = random();
  for (const [name, share] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return name;
  }
  return Object.keys(shares)[0] ?? "";
}

function causeOf(
  incident: Incident,
  record: EventRecord,
  incidents: readonly Incident[],
  attributes: readonly Planted[],
  choose: Choose,
): LikelyCause {
  const window = loudestDay(incident, record);
  const current = tally(record, attributes, [window]);
  const before = tally(record, attributes, choose(window, record, incidents));
  const totals = { currentCount: current.all, baselineCount: before.all };
  const values: ValueCounts[] = [...new Set([...current.values.keys(), ...before.values.keys()])].map((key) => {
    const [attribute = "", value = ""] = key.split("=");
    return {
      attribute,
      value,
      currentCount: current.values.get(key) ?? 0,
      baselineCount: before.values.get(key) ?? 0,
    };
  });
  return likelyCause({
    carriers: rankCarriers(values, totals),
    largestRise: largestRise(values, totals),
    baselineCount: before.all,
    attributedShare: 1,
    isFleet: false,
    opinion: null,
    judgedCount: current.all,
    revivedCount: 0,
  }).cause;
}

/** The 24 h until a full hour of the stretch with most deaths. */
function loudestDay({ fromMs, toMs }: Incident, record: EventRecord): Slice {
  let loudest: Slice = { afterMs: fromMs, untilMs: fromMs };
  let most = -1;
  for (let untilMs = Math.ceil(fromMs / hourMs) * hourMs; untilMs < toMs + hourMs; untilMs += hourMs) {
    const slice = { afterMs: untilMs - dayMs, untilMs };
    const deaths = indexesIn(record, slice).reduce((sum, index) => sum + countAt(record, index), 0);
    if (deaths > most) loudest = slice;
    most = Math.max(most, deaths);
  }
  return loudest;
}

function tally(record: EventRecord, attributes: readonly Planted[], slices: readonly Slice[]) {
  const values = new Map<string, number>();
  let all = 0;
  for (const index of slices.flatMap((slice) => indexesIn(record, slice))) {
    const count = countAt(record, index);
    all += count;
    for (const [attribute, value] of Object.entries(attributes[index] ?? {}))
      values.set(`${attribute}=${value}`, (values.get(`${attribute}=${value}`) ?? 0) + count);
  }
  return { all, values };
}

function indexesIn({ deathAtMs }: EventRecord, { afterMs, untilMs }: Slice): number[] {
  const indexes: number[] = [];
  for (const [index, atMs] of deathAtMs.entries()) if (atMs > afterMs && atMs <= untilMs) indexes.push(index);
  return indexes;
}

function countAt({ deathsBefore }: EventRecord, index: number): number {
  return (deathsBefore[index + 1] ?? 0) - (deathsBefore[index] ?? 0);
}
