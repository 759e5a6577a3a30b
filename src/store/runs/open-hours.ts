import { hourMs } from "../../base/time.ts";
import { HourPacker, unpackHour, type ExpectationRule, type RunPoint } from "./hour-runs.ts";
import type { JournalRecord, HourRecord } from "./runs.ts";
import type { RunTimes } from "./journal-row.ts";
import { countAmong, type SplitReport } from "./report-shape.ts";

/** The runs of one check and hour that are in one owner's journal and not yet in the history. */
interface OpenHour {
  readonly hour: number;
  readonly packer: HourPacker;
  lastSeq: number;
}

/** The runs that are in journals and not yet in the history, packed as they will be there. */
export class OpenHours {
  /** By owner and check. */
  readonly #owners = new Map<number, Map<number, OpenHour[]>>();

  /** Adds runs of one hour with the same report, up to the commit `seq`. */
  add(
    { ownerId, seq, checkId }: Pick<JournalRecord, "ownerId" | "seq"> & { readonly checkId: number },
    runs: readonly RunTimes[],
    report: SplitReport,
  ): void {
    let checks = this.#owners.get(ownerId);
    if (checks === undefined) this.#owners.set(ownerId, (checks = new Map()));
    let hours = checks.get(checkId);
    if (hours === undefined) checks.set(checkId, (hours = []));
    const hour = Math.floor((runs[0]?.finishedAtMs ?? 0) / hourMs);
    // Usually the last one, unless a clock was set back.
    let open = hours.findLast((one) => one.hour === hour);
    if (open === undefined) hours.push((open = { hour, packer: new HourPacker(), lastSeq: seq }));
    open.lastSeq = seq;
    for (const run of runs) open.packer.add(pointOf(run, report));
  }

  /** Returns the numbers of the checks that an owner ran. */
  checksOf(ownerId: number): number[] {
    return [...(this.#owners.get(ownerId)?.keys() ?? [])];
  }

  *hoursOf(ownerId: number): Generator<HourRecord> {
    for (const [checkId, hours] of this.#owners.get(ownerId) ?? [])
      for (const { hour, packer } of hours) yield { checkId, hour, points: unpackHour(packer.bytes()) };
  }

  /** Returns the runs of a check, in the order of each owner's commits. */
  runsOf(checkId: number): RunPoint[] {
    return [...this.#owners.values()].flatMap((checks) =>
      (checks.get(checkId) ?? []).flatMap(({ packer }) => unpackHour(packer.bytes())),
    );
  }

  /** Drops the hours of an owner whose last commit is in the history. */
  drop(ownerId: number, foldedSeq: number): void {
    const checks = this.#owners.get(ownerId);
    for (const [checkId, hours] of checks ?? []) {
      const left = hours.filter(({ lastSeq }) => lastSeq > foldedSeq);
      if (left.length === 0) checks?.delete(checkId);
      else if (left.length < hours.length) checks?.set(checkId, left);
    }
  }

  clear(): void {
    this.#owners.clear();
  }
}

/** Returns a run in the form of the history. */
function pointOf({ startedAtMs, finishedAtMs }: RunTimes, report: SplitReport): RunPoint {
  // A service reports the time of its own clock.
  const generatedAtMs = startedAtMs + (report.values[report.shape.slots.indexOf("generatedAt")] ?? 0);
  return {
    atMs: finishedAtMs,
    evaluatedAtMs: generatedAtMs >= startedAtMs && generatedAtMs <= finishedAtMs ? generatedAtMs : startedAtMs,
    severity: report.shape.severity,
    currentCount: countAmong(report, "currentCount"),
    baselineCount: countAmong(report, "baselineCount"),
    expectedCount: countAmong(report, "expectedCount"),
    rule: ruleOf(report),
  };
}

function ruleOf({ shape: { thresholds } }: SplitReport): ExpectationRule | null {
  if (thresholds === null) return null;
  const { windowHours, baselineDays } = thresholds;
  return Number.isSafeInteger(windowHours) && Number.isSafeInteger(baselineDays) ? { windowHours, baselineDays } : null;
}
