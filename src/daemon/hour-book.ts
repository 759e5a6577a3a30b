import { hourMs, type Clock } from "../base/time.ts";
import type { CheckState } from "../store/runs/board.ts";
import type { History, VerdictHour } from "../store/runs/history.ts";

/** The last week of every organization's spike check by hours, read once and kept current by the runs. */
export interface HourBook {
  read(slug: string): Promise<readonly VerdictHour[]>;
  /** After a run was recorded. */
  note(state: Pick<CheckState, "check" | "slug" | "lastReport">): void;
  /** What was read of this organization is no longer so; without a slug, of all. */
  forget(slug?: string): void;
}

/** A week, and what its edges need. */
const mostHours = 7 * 24 + 3;

/** Over the history: no hour outlives its retention here either. */
export function createHourBook(
  history: Pick<History, "hours">,
  clock: Pick<Clock, "nowMs">,
  retentionMs: () => number,
): HourBook {
  const keptHours = (): number => Math.min(mostHours, Math.ceil(retentionMs() / hourMs));
  const book = new Map<string, Promise<VerdictHour[]>>();
  return {
    read: (slug) => {
      const known = book.get(slug);
      if (known !== undefined) return known;
      const fromMs = clock.nowMs() - keptHours() * hourMs;
      const hours = history.hours({ check: "dead-asset-spike", slug, fromMs }).then((rows) => [...rows]);
      book.set(slug, hours);
      // A store that was busy is asked again.
      hours.catch(() => book.delete(slug));
      return hours;
    },
    note: (state) => {
      const known = state.check === "dead-asset-spike" ? book.get(state.slug) : undefined;
      if (known === undefined) return;
      const { lastReport } = state;
      const { finishedAtMs: atMs, severity } = lastReport;
      const counts = lastReport.kind === "result" ? lastReport.counts : { currentCount: null, expectedCount: null };
      const { currentCount, expectedCount } = counts;
      const run: VerdictHour = { hour: Math.floor(atMs / hourMs), atMs, severity, currentCount, expectedCount };
      void amend(known, run, keptHours());
    },
    forget: (slug) => {
      if (slug === undefined) book.clear();
      else book.delete(slug);
    },
  };
}

async function amend(known: Promise<VerdictHour[]>, run: VerdictHour, keptHours: number): Promise<void> {
  // Whoever asked for what could not be read hears of it.
  const hours = await known.catch(() => null);
  if (hours === null) return;
  if (hours.at(-1)?.hour === run.hour) hours.pop();
  hours.push(run);
  while ((hours[0]?.hour ?? run.hour) < run.hour - keptHours) hours.shift();
}
