import { sql } from "kysely";

import { FlatlineError } from "../../base/errors.ts";
import { holdHeap, releaseHeap } from "../../base/heap-growth.ts";
import { latestInstantMs } from "../../base/instant.ts";
import type { Clock } from "../../base/time.ts";
import { dialectOf } from "../engine/dialect.ts";
import type { StoreLocation } from "../engine/location.ts";
import type { PlainDb } from "../schema.ts";
import { openEventDatabase, untilWritten, writeEvents } from "./database.ts";
import { mergeStaged, type Conflicts, type Merged } from "./merge.ts";
import { inputOfFile, readAll, type EventFile, type EventInput, type ReadInput } from "./read.ts";
import type { EventLayout } from "./layout.ts";
import { openStage, Staging, Totals } from "./stage.ts";

export interface ImportOptions {
  /** Location of an open store that this process writes to. */
  readonly location: StoreLocation;
  /** The writer's [0, of a file]. */
  readonly epoch?: number;
  readonly files: readonly EventFile[];
  /** How the files are written [as documented, with offsets]. */
  readonly layout?: EventLayout;
  /** Shifts all events by the same time, so that the newest is at this instant. */
  readonly rebaseToMs: number | null;
  /** Imports content again that has events without an id, as a preload into an empty store does. */
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
  /** Rows whose id is stored, or is in an earlier row, with other content; they are left out, too. */
  readonly conflicts: number;
  readonly someConflicts: Conflicts["some"];
  /** Time of the first received event, after the shift; null without events. */
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
  /** Number of organizations with events. */
  readonly slugs: number;
  /** Received events by their status, where that is neither a death nor a sign of life. */
  readonly otherStatuses: Readonly<Record<string, number>>;
}

/**
 * Reads files of events as an import does, and stores nothing: `stored` is 0, and nothing is known of duplicates.
 * @throws invalid_data with one issue per line, no_input, too_large, usage, unavailable (signal)
 */
export async function checkEvents({
  files,
  layout,
  rebaseToMs,
  signal,
}: Pick<ImportOptions, "files" | "layout" | "rebaseToMs" | "signal">): Promise<ImportOutcome> {
  const inputs: EventInput[] = [];
  const totals = new Totals();
  try {
    for (const file of files) inputs.push(await inputOfFile(file, signal, layout));
    await readAll(inputs, totals, signal);
    const shiftMs = shiftOf(totals, rebaseToMs);
    return {
      files: files.length,
      stored: 0,
      duplicates: 0,
      conflicts: 0,
      someConflicts: [],
      ...totals.summary(shiftMs),
    };
  } finally {
    for (const { stream } of inputs) stream.destroy();
  }
}

/**
 * Imports files of events as one: readers see all of them or none (CONTRACT 10). Each line is read once, checked and staged;
 * the first row is stored when all are.
 * @throws invalid_data with one issue per line, already_imported, no_input, too_large, usage, unavailable (signal), store_*
 */
export async function importEvents(options: ImportOptions): Promise<ImportOutcome> {
  const { location, epoch = 0, signal, clock } = options;
  const inputs: EventInput[] = [];
  holdHeap();
  try {
    for (const file of options.files) inputs.push(await inputOfFile(file, signal, options.layout));
    const db = await openEventDatabase(location, { clock, epoch, staging: "disk" });
    try {
      return await db.connection().execute((connection) => importInputs(connection, inputs, options));
    } finally {
      await db.destroy();
    }
  } finally {
    releaseHeap();
    for (const { stream } of inputs) stream.destroy();
  }
}

async function importInputs(
  connection: PlainDb,
  inputs: readonly EventInput[],
  { rebaseToMs, again, signal, clock, onProgress }: ImportOptions,
): Promise<ImportOutcome> {
  const progress = throttle(onProgress, clock);
  const staging = new Staging();
  await openStage(connection, "connection");
  const writing = { clock, signal, waitMs: Infinity };
  const stage = async (): Promise<void> => {
    await untilWritten(() => staging.number(connection), writing);
    await staging.write(connection, "connection");
  };
  const files = await readAll(inputs, staging, signal, async () => {
    if (staging.isFull) await stage();
    progress({ phase: "checking", rows: staging.rows, totalRows: null });
  });
  await stage();
  const { rows: received } = staging;
  progress({ phase: "checking", rows: received, totalRows: received });
  const shiftMs = shiftOf(staging, rebaseToMs);
  if (!again) await refuseKnownFiles(connection, files);

  const store = async (transaction: PlainDb): Promise<Pick<Merged, "duplicates" | "conflicts">> => {
    progress({ phase: "writing", rows: 0, totalRows: received });
    const { importId, duplicates, conflicts } = await mergeStaged(transaction, {
      staging,
      arePosted: false,
      shiftMs,
      signal,
      onRows: (rows) => progress({ phase: "writing", rows, totalRows: received }),
    });
    if (!again) await refuseKnownFiles(transaction, files);
    await registerFiles(transaction, files, importId, clock.nowMs());
    return { duplicates, conflicts };
  };
  const { duplicates, conflicts } = await writeEvents(connection, staging, store, writing);
  await dialectOf(connection).shortenLog(connection);
  return {
    files: inputs.length,
    stored: received - duplicates - conflicts.rows,
    duplicates,
    conflicts: conflicts.rows,
    someConflicts: conflicts.some,
    ...staging.summary(shiftMs),
  };
}

/** Rejects content that was imported before, or is there twice, and would count twice. @throws already_imported */
async function refuseKnownFiles(db: PlainDb, files: readonly ReadInput[]): Promise<void> {
  const own = new Map<string, string>();
  for (const { sha256, name, rowsWithoutId } of files) {
    const same = own.get(sha256);
    own.set(sha256, name);
    if (rowsWithoutId === 0) continue;
    const { rows } = await sql<{ name: string; imported_at_ms: number }>`
      SELECT name, imported_at_ms FROM event_files WHERE sha256 = ${sha256} ORDER BY imported_at_ms DESC LIMIT 1`.execute(
      db,
    );
    const [before] = rows;
    if (before === undefined && same === undefined) continue;
    const when =
      before === undefined
        ? `is the same as ${same ?? ""}`
        : `was imported as ${before.name} at ${new Date(before.imported_at_ms).toISOString()}`;
    throw new FlatlineError(
      "already_imported",
      `${name}: ${when}, and its ${rowsWithoutId} rows without an id would count twice; nothing was imported: leave it out, or give its rows ids`,
    );
  }
}

async function registerFiles(db: PlainDb, files: readonly ReadInput[], importId: number, nowMs: number): Promise<void> {
  for (const { sha256, name, rowsWithoutId } of files) {
    await sql`
      INSERT INTO event_files (sha256, import_id, name, rows_without_id, imported_at_ms)
      VALUES (${sha256}, ${importId}, ${name}, ${rowsWithoutId}, ${nowMs}) ON CONFLICT DO NOTHING`.execute(db);
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
