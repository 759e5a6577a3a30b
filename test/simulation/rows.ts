import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Outbox rows that are no dead letters; the others count as `dead letters`. */
export const waiting = "outbox that waits";
export const deadLetters = "dead letters";

/** Counts the rows of every table of the store at `path`, on a connection of its own that sees what is committed. */
export function countRows(path: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (!existsSync(path)) return counts;
  using database = new DatabaseSync(path, { readOnly: true });
  const count = (from: string): number =>
    Number(database.prepare(`select count(*) as rows from ${from}`).get()?.["rows"]);
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .all();
  for (const { name } of tables)
    if (name === "outbox") {
      counts.set(waiting, count("outbox where state <> 'dead'"));
      counts.set(deadLetters, count("outbox where state = 'dead'"));
    } else counts.set(String(name), count(String(name)));
  return counts;
}
