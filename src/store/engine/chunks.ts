// Far below SQLite's limit of 32,766 parameters; all statements but the last have the same text.
const chunkRows = 500;

/** Splits `rows` into chunks of `size` [500] for one statement each, with at most about 50 parameters per row. */
export function* chunksOf<Row>(rows: readonly Row[], size = chunkRows): Generator<readonly Row[], void, undefined> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

/** Reads with one statement for each chunk of `values`; returns all rows, in order. */
export async function inChunks<Value, Row>(
  values: readonly Value[],
  read: (chunk: readonly Value[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const found: Row[] = [];
  for (const chunk of chunksOf(values)) found.push(...(await read(chunk)));
  return found;
}
