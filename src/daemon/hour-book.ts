import { hourMs, type Clock } from "../base/time.ts";
import type { CheckState } from "../store/runs/check-state.ts";
import type { History } from "../store/runs/history.ts";
import type { HourRun, HourSeries } from "../store/runs/hour-series.ts";

/** The last week of every organization's spike check by hours, read once and kept current by the runs. */
export interface HourBook {
  /** Returns what was read of an organization; null: nothing yet. */
  known(slug: string): HourSeries | null;
  /** Reads those that are not known yet, together; resolves with how many these were. Readings follow each other. */
  read(slugs: readonly string[]): Promise<number>;
  /** Notes a run that was recorded. */
  note(state: Pick<CheckState, "check" | "slug" | "lastRunAtMs" | "severity" | "currentCount">): void;
  /** Forgets the hours of this organization, which have changed; without a slug, of all. */
  forget(slug?: string): void;
}

/** A week, and what its edges need. */
const mostHours = 7 * 24 + 3;
const check = "dead-asset-spike" as const;

/** A reading that goes on; runs that are recorded meanwhile wait for it. */
interface Reading {
  readonly slugs: Set<string>;
  readonly noted: (readonly [slug: string, run: HourRun])[];
}

/** Over the history: no hour outlives its retention here either. */
export function createHourBook(
  history: Pick<History, "hours">,
  clock: Pick<Clock, "nowMs">,
  retentionMs: () => number,
): HourBook {
  const keptHours = (): number => Math.min(mostHours, Math.ceil(retentionMs() / hourMs));
  const book = new Map<string, HourSeries>();
  let reading: Reading | null = null;
  let last: Promise<unknown> = Promise.resolve();

  async function readMissing(slugs: readonly string[]): Promise<number> {
    const missing = slugs.filter((slug) => !book.has(slug));
    if (missing.length === 0) return 0;
    const own: Reading = { slugs: new Set(missing), noted: [] };
    reading = own;
    try {
      const toMs = clock.nowMs();
      const found = await history.hours({ check, slugs: missing, fromMs: toMs - keptHours() * hourMs, toMs });
      // Hours that were forgotten meanwhile are read again at the next question.
      for (const [slug, hours] of found) if (own.slugs.has(slug)) book.set(slug, hours);
    } finally {
      reading = null;
    }
    for (const [slug, run] of own.noted) amend(book.get(slug), run, keptHours());
    return missing.length;
  }

  return {
    known: (slug) => book.get(slug) ?? null,
    read: (slugs) => {
      const done = last.then(() => readMissing(slugs));
      // A store that was busy is asked again at the next look.
      last = done.catch(() => undefined);
      return done;
    },
    note: ({ check: ran, slug, lastRunAtMs: atMs, severity, currentCount }) => {
      if (ran !== check) return;
      if (reading?.slugs.has(slug) === true) reading.noted.push([slug, { atMs, severity, currentCount }]);
      else amend(book.get(slug), { atMs, severity, currentCount }, keptHours());
    },
    forget: (slug) => {
      if (slug === undefined) {
        book.clear();
        reading?.slugs.clear();
      } else {
        book.delete(slug);
        reading?.slugs.delete(slug);
      }
    },
  };
}

function amend(hours: HourSeries | undefined, run: HourRun, keptHours: number): void {
  if (hours === undefined) return;
  hours.add(run);
  hours.dropBefore(Math.floor(run.atMs / hourMs) - keptHours);
}
