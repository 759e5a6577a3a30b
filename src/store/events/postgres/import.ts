import { sql } from "kysely";
import { FlatlineError } from "../../../base/errors.ts";
import type { CheckedInputs } from "../input/check.ts";
import type { ImportWork } from "../sqlite/import-file.ts";
import { refuseKnownFiles, type KnownFile } from "../input/known-files.ts";
import { writeToPostgres } from "./writing.ts";
import type { WriteTally } from "../tally.ts";
import type { PostgresLocation } from "../../engine/location.ts";
import { openPostgresDatabase } from "../../engine/postgres-database.ts";
import type { PlainDb } from "../../schema.ts";

// One connection writes, the other one cancels a blocked statement.
const poolSize = 2;
// An arbitrary number; advisory locks are numbers within one database.
const registerLock = 0x66_6c_69_6d;

/** Stores checked input in PostgreSQL in one transaction. @throws already_imported, unavailable, store_* */
export async function importIntoPostgres(
  location: PostgresLocation,
  { again, ...work }: ImportWork,
): Promise<WriteTally> {
  const { checked, clock } = work;
  const db = openPostgresDatabase({ ...location, poolSize, isPatient: true });
  const refuse = async (transaction: PlainDb): Promise<void> => {
    if (again) return;
    const known = await knownFiles(transaction, checked);
    refuseKnownFiles(checked.files, (sha256) => known.get(sha256));
  };
  try {
    await refuse(db);
    const tally = await writeToPostgres({
      ...work,
      db,
      directRows: 0,
      onBegin: async (transaction) => {
        // A concurrent transaction with the same ids may take minutes, and so may a block of this one.
        await sql`SET LOCAL lock_timeout = 0`.execute(transaction);
        await sql`SET LOCAL idle_in_transaction_session_timeout = '2min'`.execute(transaction);
        return true;
      },
      onEnd: async (transaction, importId) => {
        // From here to the commit imports run one after the other: of two with the same content, the later one sees the earlier.
        await sql`SELECT pg_advisory_xact_lock(${registerLock})`.execute(transaction);
        await refuse(transaction);
        await registerFiles(transaction, checked, importId, clock.nowMs());
      },
    });
    if (tally === null) throw new FlatlineError("internal", "an import was aborted");
    return tally;
  } finally {
    await db.destroy();
  }
}

async function knownFiles(db: PlainDb, { files }: CheckedInputs): Promise<ReadonlyMap<string, KnownFile>> {
  const { rows } = await sql<{ sha256: string; name: string; imported_at_ms: number }>`
    SELECT sha256, name, imported_at_ms FROM event_files WHERE sha256 = ANY(${files.map(({ sha256 }) => sha256)}::text[])
    ORDER BY imported_at_ms`.execute(db);
  return new Map(rows.map(({ sha256, name, imported_at_ms }) => [sha256, { name, importedAtMs: imported_at_ms }]));
}

async function registerFiles(db: PlainDb, { files }: CheckedInputs, importId: number, nowMs: number): Promise<void> {
  for (const { sha256, name, rowsWithoutId } of files) {
    await sql`
      INSERT INTO event_files (sha256, import_id, name, rows_without_id, imported_at_ms)
      VALUES (${sha256}, ${importId}, ${name}, ${rowsWithoutId}, ${nowMs}) ON CONFLICT DO NOTHING`.execute(db);
  }
}
