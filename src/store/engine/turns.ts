import { sql } from "kysely";
import { engineOf } from "./engine.ts";
import type { Db } from "../schema.ts";

// Of our own choice; the second number of the advisory lock is the name's hash.
const lockClass = 0x66_6c_74_75;

/**
 * Whether nobody else's transaction has the turn of this name; then it is this transaction's until it ends. For housekeeping
 * that one replica does for all: who does not get it need not wait. In SQLite one transaction writes at a time anyway.
 */
export async function takesTurn(transaction: Db, name: string): Promise<boolean> {
  if (engineOf(transaction) === "sqlite") return true;
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${lockClass}::int, hashtext(${name})) as is_ours`.execute(transaction);
  return rows[0]?.is_ours === true;
}
