import { CompiledQuery, type Kysely } from "kysely";
import { dialectOf, type CellValue, type StoreDialect, type ValueType } from "./dialect.ts";

/**
 * Creates a statement over a list of rows whose text is built once per engine and per length. Kysely's builder takes three
 * times as long as SQLite itself (20 µs against 7 µs per row, measured 2026-11). `textOf` receives a query of the rows.
 * Returns the rows of the statement.
 */
export function rowStatement<Row>(
  types: readonly ValueType[],
  textOf: (rows: string) => string,
): <Tables>(db: Kysely<Tables>, rows: readonly (readonly CellValue[])[]) => Promise<Row[]> {
  const texts = { sqlite: new Map<number, string>(), postgres: new Map<number, string>() };

  function textFor({ engine, rowsText }: StoreDialect, length: number): string {
    const known = texts[engine].get(length);
    if (known !== undefined) return known;
    const text = textOf(rowsText(types, length));
    texts[engine].set(length, text);
    return text;
  }

  return async (db, rows) => {
    const dialect = dialectOf(db);
    const answers: Row[] = [];
    for (let start = 0; start < rows.length;) {
      const length = dialect.rowsAtOnce(rows.length - start);
      const slice = rows.slice(start, start + length);
      const query = CompiledQuery.raw(textFor(dialect, length), dialect.rowsParameters(types, slice));
      const { rows: answered } = await db.executeQuery<Row>(query);
      answers.push(...answered);
      start += length;
    }
    return answers;
  };
}
