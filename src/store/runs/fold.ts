import type { Board } from "./board.ts";
import type { HourRecord, RunStore } from "./runs.ts";

export interface FoldRequest {
  readonly runs: RunStore;
  readonly board: Board;
  readonly ownerId: number;
  /** The last commit that is moved; the board has it, and no later row refers to it or one before it. */
  readonly throughSeq: number;
  /** Awaited between two slices, which hold the store's lock for some 10 ms; false ends the work, which can be done again. */
  readonly pause: () => Promise<boolean>;
}

const sliceRows = 200;

/**
 * Moves the runs of an owner's journal into the history, and its last states onto the board's table. In slices that are safe to
 * do again, by anybody: hours are merged, and the rows of the journal go at the end.
 */
export async function foldJournal({ runs, board, ownerId, throughSeq, pause }: FoldRequest): Promise<void> {
  const { hours, states } = board.toFold(ownerId);
  for (const slice of slicesOf<HourRecord>(hours())) {
    await runs.mergeHours(slice);
    if (!(await pause())) return;
  }
  for (const slice of slicesOf(states)) {
    await runs.saveBoard(slice);
    if (!(await pause())) return;
  }
  await runs.endFold(ownerId, throughSeq);
  board.noteFolded({ ownerId, foldedSeq: throughSeq });
}

function* slicesOf<Row>(rows: Iterable<Row>): Generator<Row[]> {
  let slice: Row[] = [];
  for (const row of rows) {
    slice.push(row);
    if (slice.length < sliceRows) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
