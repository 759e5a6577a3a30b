import type { Board } from "./board.ts";
import type { HourRecord, RunStore } from "./runs.ts";

export interface FoldRequest {
  readonly runs: RunStore;
  readonly board: Board;
  readonly ownerId: number;
  /** The last commit to move: the board has applied it, and no later row refers to an earlier one. */
  readonly throughSeq: number;
  /**
   * Called between slices, which hold the store's lock for about 10 ms each; false stops the fold, which can be repeated.
   */
  readonly pause: () => Promise<boolean>;
}

const sliceRows = 200;

/**
 * Moves the runs of an owner's journal into the history, and its last states into the table `board`. Every slice can be
 * repeated by any process: hours are merged, and the journal's rows are deleted last.
 */
export async function foldJournal({ runs, board, ownerId, throughSeq, pause }: FoldRequest): Promise<void> {
  const { hours, states, areOwnersInTurn } = board.toFold(ownerId);
  for (const slice of slicesOf<HourRecord>(hours())) {
    await runs.mergeHours(slice);
    if (!(await pause())) return;
  }
  for (const slice of slicesOf(states)) {
    await runs.saveBoard(slice, { areOwnersInTurn });
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
