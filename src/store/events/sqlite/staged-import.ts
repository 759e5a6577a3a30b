import type { DatabaseSync } from "node:sqlite";

import type { Clock } from "../../../base/time.ts";
import { EventBlock } from "./block.ts";
import { noteChange } from "./changes.ts";
import { inTransaction, type Pace } from "./pace.ts";
import { both, readAgain, type EventReading } from "./reading.ts";
import { abandon, beginStaging, publish, removeImport } from "./staging.ts";
import { noNameIds, resolveNames, type NameIds } from "./name-ids.ts";
import { createTally, type WriteTally } from "../tally.ts";
import { directImportId, type EventWriter } from "./writer.ts";

export interface StageOptions extends EventReading {
  readonly db: DatabaseSync;
  readonly databasePath: string;
  /** On the same connection; can be reused, also after an error. */
  readonly writer: EventWriter;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Up to this number, rows are stored in one transaction. */
  readonly directRows: number;
  readonly onRows: (rows: number) => void;
  /** Runs in the transaction that publishes the rows; may reject by throwing. */
  readonly onPublish: (importId: number, tally: WriteTally) => void;
}

// Up to this number of rows (about 400 KB of text) the journal lists them; otherwise it only records the import.
const mostJournalRows = 16_384;

/** Stores checked input, completely or not at all. */
export async function stageEvents(options: StageOptions): Promise<WriteTally> {
  try {
    return options.checked.rows <= options.directRows ? await storeAtOnce(options) : await storeStaged(options);
  } catch (error) {
    options.writer.discard();
    throw error;
  }
}

/** Stores a few events in one transaction, without staging. */
async function storeAtOnce(options: StageOptions): Promise<WriteTally> {
  const { db, checked, writer } = options;
  const block = new EventBlock(checked.rows);
  block.clear(0);
  const tally = createTally();
  const reading = readAgain(options, () => block, tally);
  while ((await reading.next()).done !== true);
  block.sort();
  inTransaction(db, options.databasePath, () => {
    const ids = noNameIds();
    const last = db.prepare(
      `UPDATE event_imports SET next_ordinal = next_ordinal + ? WHERE import_id = ? RETURNING next_ordinal`,
    );
    block.firstOrdinal = Number(last.get(block.rows, directImportId)?.["next_ordinal"]) - block.rows;
    noteReceipt(db, block, options.clock.nowMs());
    drain(resolveNames(db, checked.names, ids));
    const cells: number[] = [];
    drain(writer.block(block, directImportId, checked.names, ids, tally, cells));
    noteChange(db, { kind: "added", detail: cells });
    drain(writer.extents(shifted(options), directImportId, ids));
    options.onPublish(directImportId, tally);
  });
  options.onRows(checked.rows);
  return tally;
}

async function storeStaged(options: StageOptions): Promise<WriteTally> {
  const { db, databasePath, pace, checked, clock, writer } = options;
  const tally = createTally();
  const staging = beginStaging(db, databasePath, clock.nowMs());
  try {
    const ids = noNameIds();
    const assertOurs = (): void => staging.assertOurs();
    await pace.run(resolveNames(db, checked.names, ids), assertOurs);
    const cells: number[] | null = checked.rows <= mostJournalRows ? [] : null;
    await writeBlocks(options, ids, staging.importId, tally, assertOurs, cells);
    await pace.run(writer.extents(shifted(options), staging.importId, ids), assertOurs);
    await publish(db, pace, staging, {
      tally,
      cells,
      nowMs: () => clock.nowMs(),
      before: () => options.onPublish(staging.importId, tally),
    });
    return tally;
  } catch (error) {
    // If this fails, the next import or the daemon's next start removes it.
    await removeOwn(options, staging.importId).catch(() => undefined);
    throw error;
  } finally {
    staging.release();
  }
}

async function removeOwn({ db, databasePath, pace, signal }: StageOptions, importId: number): Promise<void> {
  const state = db.prepare(`SELECT state FROM event_imports WHERE import_id = ?`).get(importId)?.["state"];
  if (state !== "staging") return;
  abandon(db, databasePath, importId);
  if (!signal.aborted) await removeImport(db, pace, importId);
}

/** Reads one block while the previous one is written: reading continues while the writer releases the lock. */
async function writeBlocks(
  options: StageOptions,
  ids: NameIds,
  importId: number,
  tally: WriteTally,
  begin: () => void,
  cells: number[] | null,
): Promise<void> {
  const { pace, checked, writer } = options;
  let filling = new EventBlock(checked.rows);
  let spare: EventBlock | null = null;
  let ordinal = 0;
  let written = 0;
  filling.clear(ordinal);
  const reading = readAgain(options, () => filling, tally);
  const fill = async (): Promise<boolean> => {
    let step = await reading.next();
    while (step.done !== true && !filling.isFull) step = await reading.next();
    filling.sort();
    return step.done === true;
  };
  let isEnd = await fill();
  for (;;) {
    const block = filling;
    ordinal += block.rows;
    filling = spare ?? (isEnd ? block : new EventBlock(checked.rows));
    const work = counted(writer.block(block, importId, checked.names, ids, tally, cells), block.rows, (share) => {
      options.onRows(Math.round(written + share * block.rows));
    });
    if (isEnd) {
      await pace.run(work, begin);
      options.onRows(checked.rows);
      return;
    }
    filling.clear(ordinal);
    const [, nextIsEnd] = await both(pace.run(work, begin), fill());
    written += block.rows;
    spare = block;
    isEnd = nextIsEnd;
  }

  function* counted(steps: Generator<void>, rows: number, onShare: (share: number) => void): Generator<void> {
    // Four passes over the rows of a block, 64 to 128 rows per step.
    const expected = Math.max((rows / 64) * 3.5, 1);
    let done = 0;
    for (const _ of steps) {
      if (++done % 64 === 0) onShare(Math.min(done / expected, 1));
      yield;
    }
  }
}

function shifted({ checked, shiftMs }: StageOptions): number[] {
  return checked.slugFirstAtMs.map((atMs) => atMs + shiftMs);
}

/** Records the arrival of posted rows; imported rows arrive when their import is published. */
function noteReceipt(db: DatabaseSync, { rows, firstOrdinal }: EventBlock, receivedAtMs: number): void {
  if (rows === 0) return;
  db.prepare(`INSERT INTO event_receipts (first_ordinal, received_at_ms) VALUES (?, ?)`).run(
    firstOrdinal,
    receivedAtMs,
  );
}

function drain(work: Generator<void>): void {
  while (work.next().done !== true);
}
