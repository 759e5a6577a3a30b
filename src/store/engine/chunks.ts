// Far below SQLite's 32,766 parameters a statement, and the same statement text for all but the last chunk.
const chunkRows = 500;

/** `rows` in pieces that fit into one statement of at most some 50 parameters a row. */
export function* chunksOf<Row>(rows: readonly Row[]): Generator<readonly Row[], void, undefined> {
  for (let start = 0; start < rows.length; start += chunkRows) yield rows.slice(start, start + chunkRows);
}

// Few lengths, so that their statements stay prepared.
const sliceLengths = [256, 64, 16, 4, 1] as const;

/** `rows` in pieces of a few fixed lengths: for statements that are made for each length and run all the time. */
export function* rowSlices<Row>(rows: readonly Row[]): Generator<readonly Row[], void, undefined> {
  let start = 0;
  for (const length of sliceLengths) {
    for (; rows.length - start >= length; start += length) yield rows.slice(start, start + length);
  }
}
