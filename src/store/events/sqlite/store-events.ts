import type { DatabaseSync } from "node:sqlite";

import { FlatlineError } from "../../../base/errors.ts";
import { retrying } from "../../../base/retry.ts";
import type { Clock } from "../../../base/time.ts";
import { isBusy, storeError } from "../../engine/sqlite-file.ts";
import { noteChange } from "./changes.ts";
import { noNameIds, resolveNames } from "./name-ids.ts";
import { writeBlocks, type EventReading } from "./reading.ts";
import { stopped } from "../input/check.ts";
import { createTally, type WriteTally } from "../tally.ts";
import { directImportId, type EventWriter } from "./writer.ts";

export interface EventWriting extends EventReading {
  readonly db: DatabaseSync;
  readonly databasePath: string;
  /** On the same connection; can be reused, also after an error. */
  readonly writer: EventWriter;
  readonly clock: Clock;
  /** Posted rows arrive now; others form an import, which arrives when it is complete. */
  readonly arePosted: boolean;
  /** Maximum wait for another writer of events. */
  readonly waitMs: number;
  readonly onRows: (rows: number) => void;
  /** Runs last in the transaction; may reject by throwing. */
  readonly onEnd: (importId: number, tally: WriteTally) => void;
}

// Up to this number of rows (about 400 KB of text) the journal lists them; otherwise it only names their organizations.
const mostJournalRows = 16_384;
// Time after which the event loop gets a turn.
const sliceMs = 20;
// As SQLite polls a lock.
const firstPollMs = 5;
const longestPollMs = 100;

/**
 * Stores checked input in one transaction, however large: all of it counts from its commit on, and a killed process leaves
 * nothing. No other connection writes events meanwhile.
 * @throws store_busy when another one writes for longer than `waitMs`, unavailable when the signal aborts, store_unusable
 */
export async function writeEvents(writing: EventWriting): Promise<WriteTally> {
  const { db, databasePath, writer } = writing;
  try {
    await begin(writing);
    const tally = await writeAll(writing);
    db.exec("COMMIT");
    return tally;
  } catch (error) {
    writer.discard();
    if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
    throw storeError(error, databasePath);
  }
}

async function begin({ db, clock, signal, waitMs }: EventWriting): Promise<void> {
  const polling = {
    clock,
    withinMs: waitMs,
    firstMs: firstPollMs,
    longestMs: longestPollMs,
    isPassing: isBusy,
    signal,
  };
  try {
    await retrying(async () => db.exec("BEGIN IMMEDIATE"), polling);
  } catch (error) {
    if (signal.aborted) throw stopped();
    if (!isBusy(error)) throw error;
    throw new FlatlineError("store_busy", "another process stores events, as an import does: send them again later", {
      cause: error,
    });
  }
}

async function writeAll(writing: EventWriting): Promise<WriteTally> {
  const { db, checked, clock, arePosted } = writing;
  const tally = createTally();
  const importId = arePosted ? directImportId : beginImport(db);
  const firstOrdinal = arePosted ? takeOrdinals(db, checked.rows, clock.nowMs()) : 0;
  const ids = noNameIds();
  await work(resolveNames(db, checked.names, ids), writing);
  // Those added to event_minutes, for the journal; null: too many.
  const cells: number[] | null = checked.rows <= mostJournalRows ? [] : null;
  await writeBlocks(writing, { firstOrdinal, tally }, (block, written) => {
    block.sort();
    const steps = writing.writer.block(block, importId, checked.names, ids, tally, cells);
    return work(steps, writing, (share) => writing.onRows(Math.round(written + share * block.rows)), block.rows);
  });
  writing.onRows(checked.rows);
  if (!arePosted) {
    const end = db.prepare(`UPDATE event_imports SET arrived_at_ms = ? WHERE import_id = ?`);
    end.run(clock.nowMs(), importId);
  }
  if (cells === null) noteChange(db, { kind: "changed", detail: ids.slugs });
  else noteChange(db, { kind: "added", detail: cells });
  writing.onEnd(importId, tally);
  return tally;
}

function beginImport(db: DatabaseSync): number {
  const added = db.prepare(`INSERT INTO event_imports DEFAULT VALUES RETURNING import_id`);
  return Number(added.get()?.["import_id"]);
}

/** Returns the ordinal of the first posted row, and records the arrival of all of them. */
function takeOrdinals(db: DatabaseSync, rows: number, receivedAtMs: number): number {
  const last = db.prepare(
    `UPDATE event_imports SET next_ordinal = next_ordinal + ? WHERE import_id = ? RETURNING next_ordinal`,
  );
  const firstOrdinal = Number(last.get(rows, directImportId)?.["next_ordinal"]) - rows;
  const receipt = db.prepare(`INSERT INTO event_receipts (first_ordinal, received_at_ms) VALUES (?, ?)`);
  if (rows > 0) receipt.run(firstOrdinal, receivedAtMs);
  return firstOrdinal;
}

/** Runs `steps` to their end, with turns for the event loop. `onShare` gets the share of them that is done. */
async function work(
  steps: Iterator<void>,
  { clock, signal }: EventWriting,
  onShare: (share: number) => void = () => undefined,
  rows = 0,
): Promise<void> {
  // Four passes over the rows of a block, 64 to 128 rows per step.
  const expected = Math.max((rows / 64) * 3.5, 1);
  let done = 0;
  for (let untilMs = clock.monotonicMs() + sliceMs; steps.next().done !== true; done++) {
    if (clock.monotonicMs() < untilMs) continue;
    onShare(Math.min(done / expected, 1));
    await clock.sleep(0);
    if (signal.aborted) throw stopped();
    untilMs = clock.monotonicMs() + sliceMs;
  }
}
