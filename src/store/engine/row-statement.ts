import { CompiledQuery, type Kysely } from "kysely";
import { dialectOf, type StoreDialect, type ValueType } from "./dialect.ts";

/** Type of a cell in a value list. */
export type CellValue = string | number | Uint8Array | null;

/**
 * Creates a statement over a list of rows whose text is built once per engine and per length. Kysely's builder takes three
 * times as long as SQLite itself (20 µs against 7 µs per row, measured 2026-11). `textOf` receives the list as `values (…),
 * (…)`. Returns the rows of the statement.
 */
export function rowStatement<Row>(
  types: readonly ValueType[],
  textOf: (values: string) => string,
): <Tables>(db: Kysely<Tables>, rows: readonly (readonly CellValue[])[]) => Promise<Row[]> {
  const texts = { sqlite: new Map<number, string>(), postgres: new Map<number, string>() };

  function textFor(dialect: StoreDialect, length: number): string {
    const known = texts[dialect.engine].get(length);
    if (known !== undefined) return known;
    const text = textOf(valuesText(dialect, types, length));
    texts[dialect.engine].set(length, text);
    return text;
  }

  return async (db, rows) => {
    const dialect = dialectOf(db);
    const answers: Row[] = [];
    for (const slice of rowSlices(rows)) {
      const query = CompiledQuery.raw(textFor(dialect, slice.length), slice.flat());
      const { rows: answered } = await db.executeQuery<Row>(query);
      answers.push(...answered);
    }
    return answers;
  };
}

function valuesText({ parameter }: StoreDialect, types: readonly ValueType[], length: number): string {
  const cells = (row: number): string[] =>
    types.map((type, column) => parameter(row * types.length + column + 1, row === 0 ? type : null));
  return `values ${Array.from({ length }, (_, row) => `(${cells(row).join(", ")})`).join(", ")}`;
}

// A few lengths, so that their statements stay prepared.
const sliceLengths = [256, 64, 16, 4, 1] as const;

function* rowSlices<Row>(rows: readonly Row[]): Generator<readonly Row[], void, undefined> {
  let start = 0;
  for (const length of sliceLengths) {
    for (; rows.length - start >= length; start += length) yield rows.slice(start, start + length);
  }
}
