import { sql } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import { createSystemClock } from "../../base/time.ts";
import type { PlainDb, PlainTables } from "../schema.ts";
import type { Tables } from "../tables.ts";

// Read completely at about 200 MB/s (measured 2026-11 on two shared cores, from memory): a tenth of a second.
const wholeBytes = 16 * 1_024 * 1_024;
// Time limit, checked between tables; the start of a daemon takes about as long.
const budgetMs = 250;

/** The tables that alerting needs; they stay small while events, history and records grow. */
export const decidingTables = [
  "meta",
  "checks",
  "runs",
  "alerts",
  "alert_log",
  "act_notices",
  "queued_alerts",
  "silences",
  "queued_incidents",
  "receiver_messages",
  "receiver_pauses",
  "outbox",
  "api_keys",
  "markers",
  "sessions",
] as const satisfies readonly (keyof Tables | keyof PlainTables | "runs")[];

/**
 * Checks a file of up to 16 MiB completely; of a larger one the given tables, within 250 ms. SQLite finds a
 * damaged page only when it reads it. A backup checks everything.
 * @throws store_unusable for damage
 */
export async function checkForDamage(db: PlainDb, path: string, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
  const isSmall = (rows[0]?.bytes ?? 0) <= wholeBytes;
  // Real time, even in tests with a virtual clock.
  const clock = createSystemClock();
  const endsMs = clock.monotonicMs() + budgetMs;
  for (const table of isSmall ? [""] : tables) {
    if (clock.monotonicMs() > endsMs) return;
    const [found] = (
      await sql<{ quick_check: string }>`pragma quick_check(${sql.raw(table === "" ? "1" : table)})`.execute(db)
    ).rows;
    if (found === undefined || found.quick_check === "ok") continue;
    const where = found.quick_check.split("\n").at(-1) ?? "";
    throw new FlatlineError(
      "store_unusable",
      `the store ${path} cannot be used: it is damaged (${where}); restore it from a backup, or move it away to start with an empty store`,
    );
  }
}
