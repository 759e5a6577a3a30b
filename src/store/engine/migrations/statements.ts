import { sql, type Kysely } from "kysely";
import { dialectOf } from "../dialect.ts";

/**
 * One statement of a migration: in SQLite's dialect, or one per engine if they differ; a missing one is not needed for that
 * engine.
 */
export type MigrationStatement = string | { readonly sqlite?: string; readonly postgres?: string };

/** Runs the statements in order, in the dialect of the database. */
export async function runStatements(db: Kysely<unknown>, statements: readonly MigrationStatement[]): Promise<void> {
  const { engine, ddl } = dialectOf(db);
  for (const statement of statements) {
    const text = typeof statement === "string" ? ddl(statement) : statement[engine];
    if (text !== undefined) await sql.raw(text).execute(db);
  }
}
