import { FlatlineError } from "../../base/errors.ts";
import { holdHeap, releaseHeap } from "../../base/heap-growth.ts";
import { latestInstantMs } from "../../base/instant.ts";
import type { Clock } from "../../base/time.ts";
import { EqualEvents, mostConflictsNamed, type Added } from "./add.ts";
import type { EventLayout } from "./layout.ts";
import { inputOfFile, readAll, type EventFile, type EventInput } from "./read.ts";
import { ingestedStatus, type LivenessEvent } from "./rules.ts";

/** What was found out of an import before it begins. */
export interface ImportPlan {
  readonly name: string;
  readonly slugs: readonly string[];
  readonly rows: number;
}

/** What became of some events of an import. */
export type ImportAnswer = Omit<Added, "storedByStatus">;

export const noAnswer: ImportAnswer = { received: 0, stored: 0, duplicates: 0, conflicts: 0, someConflicts: [] };

export function addAnswers(left: ImportAnswer, right: ImportAnswer): ImportAnswer {
  return {
    received: left.received + right.received,
    stored: left.stored + right.stored,
    duplicates: left.duplicates + right.duplicates,
    conflicts: left.conflicts + right.conflicts,
    someConflicts: [...left.someConflicts, ...right.someConflicts].slice(0, mostConflictsNamed),
  };
}

/** Where the events of an import go. */
export interface ImportTarget {
  /** Begins an import; returns its number. */
  begin(plan: ImportPlan): Promise<number>;
  add(id: number, events: readonly LivenessEvent[]): Promise<ImportAnswer>;
  end(id: number): Promise<void>;
}

export interface ImportOptions {
  readonly files: readonly EventFile[];
  /** How the files are written [as documented, with offsets]. */
  readonly layout?: EventLayout;
  /** Shifts all events by the same time, so that the newest is at this instant. */
  readonly rebaseToMs: number | null;
  /** null: nothing is stored. */
  readonly target: ImportTarget | null;
  readonly onProgress?: (progress: ImportProgress) => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface ImportProgress {
  /** checking: the input is read to its end first; writing: its events are stored. */
  readonly phase: "checking" | "writing";
  readonly rows: number;
  /** null until the check is complete. */
  readonly totalRows: number | null;
}

export interface ImportOutcome extends ImportAnswer {
  readonly files: number;
  /** Time of the first received event, after the shift; null without events. */
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
  /** Number of organizations with events. */
  readonly slugs: number;
  /** Received events by their status, where that is neither a death nor a sign of life. */
  readonly otherStatuses: Readonly<Record<string, number>>;
}

// What is given at a time: enough for the store to sort them by organization, and some megabytes.
const rowsABatch = 50_000;
const lettersABatch = 16 * 1_024 * 1_024;
const lettersARow = 128;

/**
 * Imports files of events as one: they are read and checked to their end, and then read again and stored, in order. What is cut off
 * is completed by the same again (CONTRACT 10).
 * @throws invalid_data with one issue per line, no_input, too_large, usage, unavailable (signal), and what the target does
 */
export async function importEvents(options: ImportOptions): Promise<ImportOutcome> {
  const { files, layout, rebaseToMs, target, signal, clock } = options;
  const progress = throttle(options.onProgress, clock);
  const inputs: EventInput[] = [];
  holdHeap();
  try {
    for (const file of files) inputs.push(await inputOfFile(file, signal, layout, true));
    const totals = new Totals();
    await readAll(
      inputs,
      (event) => totals.add(event),
      signal,
      () => progress({ phase: "checking", rows: totals.rows, totalRows: null }),
    );
    progress({ phase: "checking", rows: totals.rows, totalRows: totals.rows });
    const shiftMs = shiftOf(totals, rebaseToMs);
    const summary = { files: files.length, ...totals.summary(shiftMs) };
    if (target === null || totals.rows === 0) return { ...summary, ...noAnswer, received: totals.rows };
    const name = inputs.map((input) => input.name).join(", ");
    const id = await target.begin({ name, rows: totals.rows, slugs: totals.slugs });
    const sender = new Sender(id, target);
    const equal = new EqualEvents((slug) => totals.isInOrder(slug));
    await readAll(
      inputs,
      (event) => {
        const moved = shiftMs === 0 ? event : { ...event, atMs: event.atMs + shiftMs };
        const number = equal.numberOf(moved);
        sender.take(number === 0 ? moved : { ...moved, number });
      },
      signal,
      async () => {
        if (sender.isFull) await sender.send();
        progress({ phase: "writing", rows: sender.answer.received, totalRows: totals.rows });
      },
    );
    await sender.send();
    progress({ phase: "writing", rows: sender.answer.received, totalRows: totals.rows });
    await target.end(id);
    return { ...summary, ...sender.answer };
  } finally {
    releaseHeap();
    for (const input of inputs) await input.close();
  }
}

/** Sends events to where they go, in batches. */
class Sender {
  answer = noAnswer;
  readonly #id: number;
  readonly #target: ImportTarget;
  #waiting: LivenessEvent[] = [];
  #letters = 0;

  constructor(id: number, target: ImportTarget) {
    this.#id = id;
    this.#target = target;
  }

  take(event: LivenessEvent): void {
    this.#waiting.push(event);
    this.#letters += lettersARow + (event.asset?.length ?? 0) + (event.id?.length ?? 0);
  }

  get isFull(): boolean {
    return this.#waiting.length >= rowsABatch || this.#letters >= lettersABatch;
  }

  async send(): Promise<void> {
    const events = this.#waiting;
    this.#waiting = [];
    this.#letters = 0;
    if (events.length > 0) this.answer = addAnswers(this.answer, await this.#target.add(this.#id, events));
  }
}

/** What is known of all events of an import. */
class Totals {
  rows = 0;
  /** Over all events; Infinity and -Infinity without any. */
  firstAtMs = Infinity;
  lastAtMs = -Infinity;
  readonly #byStatus = new Map<string, number>();
  /** The last instant of each organization, and whether none was before one before. */
  readonly #bySlug = new Map<string, { atMs: number; isInOrder: boolean }>();

  add({ atMs, slug, status }: LivenessEvent): void {
    this.rows++;
    if (atMs < this.firstAtMs) this.firstAtMs = atMs;
    if (atMs > this.lastAtMs) this.lastAtMs = atMs;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    const own = this.#bySlug.get(slug);
    if (own === undefined) this.#bySlug.set(slug, { atMs, isInOrder: true });
    else {
      own.isInOrder &&= atMs >= own.atMs;
      own.atMs = atMs;
    }
  }

  get slugs(): readonly string[] {
    return [...this.#bySlug.keys()];
  }

  isInOrder(slug: string): boolean {
    return this.#bySlug.get(slug)?.isInOrder === true;
  }

  /** What is said of the events when all are received, at times that are shifted. */
  summary(shiftMs: number) {
    const { rows, firstAtMs, lastAtMs } = this;
    return {
      firstAtMs: rows === 0 ? null : firstAtMs + shiftMs,
      lastAtMs: rows === 0 ? null : lastAtMs + shiftMs,
      slugs: this.#bySlug.size,
      otherStatuses: Object.fromEntries([...this.#byStatus].filter(([name]) => ingestedStatus(name) === "other")),
    };
  }
}

function shiftOf({ rows, firstAtMs, lastAtMs }: Totals, rebaseToMs: number | null): number {
  if (rebaseToMs === null || rows === 0) return 0;
  const shiftMs = rebaseToMs - lastAtMs;
  if (firstAtMs + shiftMs < 0 || rebaseToMs > latestInstantMs) {
    throw new FlatlineError("usage", "--rebase would move events out of the years 1970 to 9999");
  }
  return shiftMs;
}

// Sufficient for a progress line on a terminal.
const progressEveryMs = 100;

function throttle(onProgress: ImportOptions["onProgress"], clock: Clock): (progress: ImportProgress) => void {
  let lastAtMs = -Infinity;
  let lastPhase = "";
  return (progress) => {
    const nowMs = clock.monotonicMs();
    const isDue =
      nowMs - lastAtMs >= progressEveryMs || progress.phase !== lastPhase || progress.rows === progress.totalRows;
    if (onProgress === undefined || !isDue) return;
    lastAtMs = nowMs;
    lastPhase = progress.phase;
    onProgress(progress);
  };
}
