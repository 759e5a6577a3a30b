import { CompiledQuery } from "kysely";
import { rowSlices } from "./chunks.ts";
import { engineOf } from "./engine.ts";
import type { StoreEngine } from "./location.ts";
import type { Db } from "../schema.ts";

/** Column types that both engines know, for value lists on PostgreSQL. */
export type ValueType = "bigint" | "text" | "double precision" | "bytea";
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
): (db: Db, rows: readonly (readonly CellValue[])[]) => Promise<Row[]> {
  const texts: Record<StoreEngine, Map<number, string>> = { sqlite: new Map(), postgres: new Map() };

  function textFor(engine: StoreEngine, length: number): string {
    const known = texts[engine].get(length);
    if (known !== undefined) return known;
    const text = textOf(valuesText(engine, types, length));
    texts[engine].set(length, text);
    return text;
  }

  return async (db, rows) => {
    const engine = engineOf(db);
    const answers: Row[] = [];
    for (const slice of rowSlices(rows)) {
      const query = CompiledQuery.raw(textFor(engine, slice.length), slice.flat());
      const { rows: answered } = await db.executeQuery<Row>(query);
      answers.push(...answered);
    }
    return answers;
  };
}

function valuesText(engine: StoreEngine, types: readonly ValueType[], length: number): string {
  // PostgreSQL takes the types of a column from its first row.
  const cell = (type: ValueType, row: number, column: number): string =>
    engine === "sqlite" ? "?" : `$${row * types.length + column + 1}${row === 0 ? `::${type}` : ""}`;
  const rows = Array.from(
    { length },
    (_, row) => `(${types.map((type, column) => cell(type, row, column)).join(", ")})`,
  );
  return `values ${rows.join(", ")}`;
}
