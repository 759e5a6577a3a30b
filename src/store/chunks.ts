// Far below SQLite's 32,766 parameters a statement, and the same statement text for all but the last chunk.
const chunkRows = 500;

/** `rows` in pieces that fit into one statement of at most some 50 parameters a row. */
export function* chunksOf<Row>(rows: readonly Row[]): Generator<readonly Row[], void, undefined> {
  for (let start = 0; start < rows.length; start += chunkRows) yield rows.slice(start, start + chunkRows);
}
