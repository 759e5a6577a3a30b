import { tmpdir } from "node:os";
import { dirname } from "node:path";

import { FlatlineError } from "../../base/errors.ts";
import { latestInstantMs } from "../../base/instant.ts";
import type { Clock } from "../../base/time.ts";
import { checkInputs, type CheckedInputs } from "./input/check.ts";
import { importIntoFile, type ImportWork } from "./sqlite/import-file.ts";
import { inputOfFile, type EventFile, type EventInput } from "./input/input.ts";
import type { WriteTally } from "./tally.ts";
import type { PostgresLocation, StoreLocation } from "../engine/location.ts";
import { openStore } from "../open.ts";

export interface ImportOptions {
  /** Location of the store; created if it is missing. */
  readonly location: StoreLocation;
  readonly files: readonly EventFile[];
  /** Shifts all events by the same time, so that the newest is at this instant. */
  readonly rebaseToMs: number | null;
  /** Imports content again that has events without an id. */
  readonly again: boolean;
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

export interface ImportOutcome {
  readonly files: number;
  readonly received: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Time of the first received event, after the shift; null without events. */
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
  /** Number of organizations with events. */
  readonly slugs: number;
}

/**
 * Imports files of events as one: readers see all of them or none (CONTRACT 10). The input is checked completely before the
 * first row is written. Measured 2026-11 on two shared cores, with fsync: 5 million rows of CSV with ids over 20 organizations
 * in 39 s, within 340 MB of memory.
 * @throws invalid_data with one issue per line, already_imported, no_input, too_large, usage, unavailable (signal), store_*
 */
export async function importEvents(options: ImportOptions): Promise<ImportOutcome> {
  const { location, signal, clock } = options;
  // Creates the database, or migrates it.
  await (await openStore({ ...location, clock })).close();
  const spoolFolder = "url" in location ? tmpdir() : dirname(location.path);
  const inputs: EventInput[] = [];
  try {
    for (const file of options.files) inputs.push(await inputOfFile(file, spoolFolder, signal));
    const progress = throttle(options.onProgress, clock);
    const checked = await checkInputs(inputs, signal, (rows) => progress({ phase: "checking", rows, totalRows: null }));
    progress({ phase: "checking", rows: checked.rows, totalRows: checked.rows });
    const shiftMs = shiftOf(checked, options.rebaseToMs);
    const work: ImportWork = {
      inputs,
      checked,
      shiftMs,
      signal,
      clock,
      again: options.again,
      onRows: (rows) => progress({ phase: "writing", rows, totalRows: checked.rows }),
    };
    const tally = await ("url" in location ? importShared(location, work) : importIntoFile(location.path, work));
    return {
      files: inputs.length,
      received: checked.rows,
      stored: checked.rows - tally.duplicates,
      duplicates: tally.duplicates,
      firstAtMs: checked.rows === 0 ? null : checked.firstAtMs + shiftMs,
      lastAtMs: checked.rows === 0 ? null : checked.lastAtMs + shiftMs,
      slugs: checked.slugFirstAtMs.filter((atMs) => atMs !== Infinity).length,
    };
  } finally {
    for (const input of inputs) await input.close();
  }
}

async function importShared(location: PostgresLocation, work: ImportWork): Promise<WriteTally> {
  // Loaded on demand.
  const { importIntoPostgres } = await import("./postgres/import.ts");
  return importIntoPostgres(location, work);
}

function shiftOf(checked: CheckedInputs, rebaseToMs: number | null): number {
  if (rebaseToMs === null || checked.rows === 0) return 0;
  const shiftMs = rebaseToMs - checked.lastAtMs;
  if (checked.firstAtMs + shiftMs < 0 || rebaseToMs > latestInstantMs) {
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
