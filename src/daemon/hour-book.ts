import { hourMs, type Clock } from "../base/time.ts";
import type { CheckState } from "../store/runs/board.ts";
import type { History, VerdictHour } from "../store/runs/history.ts";

/** The last week of every organization's spike check by hours, read once and kept current by the runs. */
export interface HourBook {
  read(slug: string): Promise<readonly VerdictHour[]>;
  /** What was read already; null: nothing yet. */
  known(slug: string): readonly VerdictHour[] | null;
  /** Reads those that nobody has read yet, one by one; `onRead` is called once when all are. While it reads, it does nothing. */
  readAll(slugs: readonly string[], onRead: () => void): void;
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
  clock: Pick<Clock, "nowMs" | "sleep">,
  retentionMs: () => number,
): HourBook {
  const keptHours = (): number => Math.min(mostHours, Math.ceil(retentionMs() / hourMs));
  const book = new Map<string, Promise<VerdictHour[]>>();
  const done = new Map<string, readonly VerdictHour[]>();
  let isReading = false;

  function read(slug: string): Promise<readonly VerdictHour[]> {
    const known = book.get(slug);
    if (known !== undefined) return known;
    const hours = readHours(slug);
    book.set(slug, hours);
    // A store that was busy is asked again.
    hours.catch(() => book.delete(slug));
    return hours;
  }

  async function readHours(slug: string): Promise<VerdictHour[]> {
    const fromMs = clock.nowMs() - keptHours() * hourMs;
    const hours = [...(await history.hours({ check: "dead-asset-spike", slug, fromMs }))];
    done.set(slug, hours);
    return hours;
  }

  async function readThem(slugs: readonly string[], onRead: () => void): Promise<void> {
    isReading = true;
    try {
      for (const slug of slugs) {
        await read(slug);
        // SQLite answers within the call: whoever waits for something else gets a turn.
        await clock.sleep(0);
      }
      onRead();
    } catch {
      // The store could not be read; the next look begins again.
    } finally {
      isReading = false;
    }
  }

  return {
    read,
    known: (slug) => done.get(slug) ?? null,
    readAll: (slugs, onRead) => {
      if (!isReading) void readThem(slugs, onRead);
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
      if (slug === undefined) {
        book.clear();
        done.clear();
      } else {
        book.delete(slug);
        done.delete(slug);
      }
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
