import { checkKey } from "../../contract/check-key.ts";
import type { CheckName } from "../../contract/report.ts";
import { rowStatement } from "../engine/row-statement.ts";
import type { PlainDb } from "../schema.ts";
import type { CheckKey } from "./check-state.ts";

const insertChecks = rowStatement(
  ["text", "text"],
  (values) => `insert into checks (check_name, slug) ${values} on conflict (check_name, slug) do nothing`,
);
const selectChecks = rowStatement<{ readonly check_id: number; readonly check_name: CheckName; readonly slug: string }>(
  ["text", "text"],
  (values) => `select check_id, check_name, slug from checks where (check_name, slug) in (${values})`,
);

/** Returns the numbers of these checks by checkKey, and creates missing ones, within a transaction or without. */
export async function addChecks(db: PlainDb, keys: readonly CheckKey[]): Promise<Map<string, number>> {
  const known = await findChecks(db, keys);
  const missing = keys.filter((key) => !known.has(checkKey(key)));
  if (missing.length === 0) return known;
  await insertChecks(
    db,
    missing.map(({ check, slug }) => [check, slug]),
  );
  return findChecks(db, keys);
}

/** Returns the numbers of these checks by checkKey; none for one that was never configured. */
export async function findChecks(db: PlainDb, keys: readonly CheckKey[]): Promise<Map<string, number>> {
  const rows = await selectChecks(
    db,
    keys.map(({ check, slug }) => [check, slug]),
  );
  return new Map(rows.map((row) => [checkKey({ check: row.check_name, slug: row.slug }), row.check_id]));
}
