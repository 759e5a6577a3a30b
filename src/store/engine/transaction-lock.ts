import { sql } from "kysely";
import { engineOf } from "./engine.ts";
import type { Db } from "../schema.ts";

// An arbitrary number; the second number of the advisory lock is the hash of the name.
const lockClass = 0x66_6c_74_75;

/**
 * Takes the lock of this name until the transaction ends; returns false if another transaction holds it. For housekeeping
 * that one replica does for all, so the others need not wait. SQLite has one write transaction at a time anyway.
 */
export async function tryTransactionLock(transaction: Db, name: string): Promise<boolean> {
  if (engineOf(transaction) === "sqlite") return true;
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${lockClass}::int, hashtext(${name})) as is_ours`.execute(transaction);
  return rows[0]?.is_ours === true;
}
