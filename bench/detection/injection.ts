import { EventRecorder, type EventRecord } from "../../src/backtest/event-record.ts";
import { medianOf } from "../../src/base/numbers.ts";
import { dayMs, hourMs } from "../../src/base/time.ts";
import { detectionRules, episodesOf } from "./rules.ts";

/** How one rule did on regressions of one size. */
export interface InjectionResult {
  readonly rule: string;
  readonly share: number;
  readonly regressions: number;
  readonly found: number;
  readonly medianDelayHours: number | null;
}

export interface InjectionOptions {
  /** Regressions of each size and series. */
  readonly repetitions: number;
  /** [0, 1) */
  readonly random: () => number;
}

/** Shares of the live assets that are flipped. */
export const flippedShares = [0.01, 0.05, 0.2] as const;
const flipHours = 6;
const foundWithinMs = 2 * dayMs;
// A baseline, and alerts that were standing before.
const warmUpMs = 4 * dayMs;
const baselineMs = 30 * dayMs;

/**
 * Plants regressions into real histories: at a random time a share of the assets that are alive then is declared dead within
 * six hours. Found is one of which an alert begins within 48 hours; an alert that was standing before tells nothing new.
 */
export function injectRegressions(records: readonly EventRecord[], options: InjectionOptions): InjectionResult[] {
  const { repetitions, random } = options;
  return flippedShares.flatMap((share) => {
    const delays = detectionRules.map((): number[] => []);
    let regressions = 0;
    for (const record of records) {
      const firstMs = (record.seenAtMs[0] ?? 0) + baselineMs + warmUpMs;
      const lastMs = (record.seenAtMs.at(-1) ?? 0) - foundWithinMs;
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const atMs = Math.floor(firstMs + random() * (lastMs - firstMs));
        const flipped = Math.max(1, Math.round(share * aliveAt(record, atMs)));
        const planted = plant(record, atMs, flipped, random);
        regressions++;
        for (const [index, episodes] of episodesOf(planted, {
          fromMs: atMs - warmUpMs,
          toMs: atMs + foundWithinMs,
        }).entries()) {
          const first = episodes.find(({ firedAtMs }) => firedAtMs >= atMs);
          if (first !== undefined) delays[index]?.push(first.firedAtMs - atMs);
        }
      }
    }
    return detectionRules.map(({ name }, index) => {
      const found = delays[index] ?? [];
      const delayMs = medianOf(found);
      return {
        rule: name,
        share,
        regressions,
        found: found.length,
        medianDelayHours: delayMs === null ? null : delayMs / hourMs,
      };
    });
  });
}

/** How many assets are alive: those that the record ever names, without those that are dead then. */
function aliveAt({ deathAtMs, revivedAtMs, assets }: EventRecord, atMs: number): number {
  let dead = 0;
  for (const [index, diedAtMs] of deathAtMs.entries()) {
    if (diedAtMs > atMs) break;
    const revived = revivedAtMs[index] ?? Number.NaN;
    if (Number.isNaN(revived) || revived > atMs) dead++;
  }
  return Math.max(0, assets - dead);
}

/** The stretch of the record that matters, with the deaths of the regression. */
function plant(record: EventRecord, atMs: number, flipped: number, random: () => number): EventRecord {
  const recorder = new EventRecorder(record.slug);
  const fromMs = atMs - warmUpMs - baselineMs;
  const add = (at: number, count: number): void =>
    recorder.add({ atMs: at, status: "DETECTED_AS_DEAD", count, typeId: 0, asset: null });
  // So that the series is as old as it is.
  recorder.add({ atMs: record.seenAtMs[0] ?? 0, status: "SEEN", count: 1, typeId: 0, asset: null });
  for (const [index, diedAtMs] of record.deathAtMs.entries()) {
    if (diedAtMs <= fromMs) continue;
    if (diedAtMs > atMs + foundWithinMs) break;
    add(diedAtMs, (record.deathsBefore[index + 1] ?? 0) - (record.deathsBefore[index] ?? 0));
  }
  for (let index = 0; index < flipped; index++) add(Math.floor(atMs + random() * flipHours * hourMs), 1);
  return recorder.finish();
}
