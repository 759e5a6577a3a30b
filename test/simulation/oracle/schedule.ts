import { hourMs, minuteMs } from "../../../src/base/time.ts";
import { intervalMinutesOf, slugs } from "../fleet.ts";
import type { Batch } from "../stream.ts";
import type { NamedRun } from "../world.ts";
import { iso, longestRunMs, type Facts } from "./facts.ts";

interface LastRun {
  readonly dueAtMs: number;
  /** Not after a suspension, or a time without a process. */
  readonly isOnTime: boolean;
  /** By the monotonic clock. */
  readonly recordedAtMs: number;
}

// A refused run takes a minute of attempts; a clock set back by an hour is followed within it.
const slackMs = 8 * minuteMs;
// What was refused is run again within seconds; a run takes a minute or two, then it is stored.
const beforeMs = 2 * minuteMs;
const afterMs = 3 * minuteMs;
// An import is forgotten half a minute after it was renewed last, and is renewed with each of its requests.
const importEndsMs = minuteMs;

/** Which runs were due: none is lost, none is recorded twice. */
export class ScheduleOracle {
  readonly #facts: Facts;
  /** When scheduled runs were recorded, by the monotonic clock; `slug due`. */
  readonly #recorded = new Map<string, number>();
  readonly #last = new Map<string, LastRun>();
  /** Since when each organization is configured, by the monotonic clock. */
  readonly #since = new Map<string, number>();
  readonly #late = new Set<string>();
  /** The imports, by the monotonic clock, amid which the checks of their organizations are skipped (CONTRACT 10). */
  readonly #imports: { readonly slugs: ReadonlySet<string>; readonly fromMs: number; untilMs: number }[] = [];

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** To be called when the facts have the configuration. */
  configured(): void {
    const { organizations, monotonicMs } = this.#facts;
    for (const slug of this.#since.keys()) if (!organizations.has(slug)) this.#since.delete(slug);
    for (const slug of organizations.keys()) if (!this.#since.has(slug)) this.#since.set(slug, monotonicMs);
  }

  /** It is new again, though it stayed in the configuration: a reload that removes it was taken back halfway. */
  removed(slug: string): void {
    this.#since.set(slug, this.#facts.monotonicMs);
  }

  /** An import whose end is not heard of holds its organizations until it is no longer renewed. */
  streamed({ way, events }: Batch, state: "sent" | "taken"): void {
    const { monotonicMs } = this.#facts;
    if (way === "post") return;
    const last = this.#imports.at(-1);
    if (state === "taken" && last !== undefined) last.untilMs = monotonicMs;
    if (state === "taken") return;
    const imported = new Set(events.map(({ slug }) => slug));
    this.#imports.push({ slugs: imported, fromMs: monotonicMs, untilMs: monotonicMs + importEndsMs });
    if (this.#imports.length > 50) this.#imports.shift();
  }

  run({ slug, dueAtMs, isAsked, report: { startedAtMs, finishedAtMs } }: NamedRun): void {
    const { monotonicMs, world } = this.#facts;
    this.#late.delete(slug);
    const last = this.#last.get(slug);
    if (isAsked) {
      if (last === undefined) return;
      // It stands for what was due before it began and had not begun yet, and for what was due while it ran.
      const stoodForMs = Math.max(last.dueAtMs, lastDueAtMs(slug, finishedAtMs));
      this.#last.set(slug, { ...last, dueAtMs: stoodForMs, recordedAtMs: monotonicMs });
      return;
    }
    this.#checkDue(slug, dueAtMs, last);
    const run = `${slug} ${dueAtMs}`;
    const before = this.#recorded.get(run);
    // A clock that was set back, maybe amid the run, comes by the same instants again.
    if (before !== undefined && world.clockSetAtMs < before - longestRunMs)
      this.#facts.violate(`the run of ${slug} due at ${iso(dueAtMs)} is recorded twice`);
    this.#recorded.set(run, monotonicMs);
    const lateMs = startedAtMs - dueAtMs;
    // The clock may have been set while it ran.
    const isSameClock = monotonicMs - world.clockSetAtMs > longestRunMs;
    const isOnTime = isSameClock && 0 <= lateMs && lateMs < intervalMinutesOf(slug) * minuteMs;
    this.#last.set(slug, { dueAtMs, isOnTime, recordedAtMs: monotonicMs });
    if (last?.isOnTime !== true || dueAtMs <= last.dueAtMs) return;
    // None is missing while the process was up and the organization configured: what the disk refused is run again,
    // until the next one is due.
    const { upSinceMs, clockSetAtMs } = world;
    if (Math.max(upSinceMs ?? Infinity, clockSetAtMs, this.#since.get(slug) ?? Infinity) >= last.recordedAtMs) return;
    const intervalMs = intervalMinutesOf(slug) * minuteMs;
    // A first run comes at once, between two times of the schedule, and may still be under way at the next of them.
    const firstAtMs = lastDueAtMs(slug, last.dueAtMs + intervalMs - 1) + intervalMs;
    for (let missedAtMs = firstAtMs; missedAtMs < dueAtMs; missedAtMs += intervalMs) {
      const atMs = monotonicMs - (this.#facts.nowMs - missedAtMs);
      // The one before it may have waited for the disk, and have been under way then.
      const isExcused = this.#isDiskAtFault(atMs) || this.#isDiskAtFault(atMs + intervalMs);
      if (!isExcused && !this.#isImported(slug, atMs))
        this.#facts.violate(`the run of ${slug} due at ${iso(missedAtMs)} is missing`);
    }
  }

  #isImported(slug: string, atMs: number): boolean {
    return this.#imports.some(({ slugs, fromMs, untilMs }) => slugs.has(slug) && fromMs <= atMs && atMs <= untilMs);
  }

  /** Whether the disk refused something around that time, by the monotonic clock. */
  #isDiskAtFault(atMs: number): boolean {
    return this.#facts.world.diskFailuresMs.some(
      (failedAtMs) => atMs - beforeMs < failedAtMs && failedAtMs < atMs + afterMs,
    );
  }

  #checkDue(slug: string, dueAtMs: number, last: LastRun | undefined): void {
    const { organizations, monotonicMs, world } = this.#facts;
    // The first one comes at once, also in the process after one that died before it had recorded that. After a
    // suspension the one before it was removed may be recorded at the same instant.
    const sinceMs = this.#since.get(slug) ?? Infinity;
    const isNew = last === undefined || last.recordedAtMs <= sinceMs || monotonicMs - sinceMs < 2 * minuteMs;
    const isDue = isNew || world.isReloading || lastDueAtMs(slug, dueAtMs) === dueAtMs;
    if (!isDue) this.#facts.violate(`${slug} was run for ${iso(dueAtMs)}, which is no time of its schedule`);
    if (!organizations.has(slug) && this.#facts.isSettled) this.#facts.violate(`${slug} is run, and is not configured`);
  }

  /** Every organization is run again in time. */
  minute(): void {
    const { organizations, monotonicMs } = this.#facts;
    for (const slug of organizations.keys()) {
      const importedUntilMs = this.#imports.findLast((one) => one.slugs.has(slug))?.untilMs ?? -Infinity;
      const since = Math.max(
        this.#undisturbedSince(slug),
        this.#last.get(slug)?.recordedAtMs ?? -Infinity,
        importedUntilMs,
      );
      if (this.#late.has(slug) || monotonicMs - since <= intervalMinutesOf(slug) * minuteMs + slackMs) continue;
      this.#late.add(slug);
      this.#facts.violate(`${slug} was not run for ${Math.round((monotonicMs - since) / minuteMs)} minutes`);
    }
  }

  /** By the monotonic clock; Infinity: it is disturbed now. */
  #undisturbedSince(slug: string): number {
    const { upSinceMs, clockSetAtMs, diskFailedAtMs } = this.#facts.world;
    if (upSinceMs === null) return Infinity;
    return Math.max(upSinceMs, clockSetAtMs, diskFailedAtMs, this.#since.get(slug) ?? Infinity);
  }
}

/** The last instant of its schedule up to this one. */
export function lastDueAtMs(slug: string, untilMs: number): number {
  const intervalMs = intervalMinutesOf(slug) * minuteMs;
  const offsetMs = intervalMs === hourMs ? slugs.indexOf(slug) * minuteMs : 0;
  return Math.floor((untilMs - offsetMs) / intervalMs) * intervalMs + offsetMs;
}
