import { sql, type Kysely } from "kysely";
import { postgresPlace } from "../base/postgres-url.ts";
import { secondMs } from "../base/time.ts";
import { inTransaction } from "./engine/dialect.ts";
import { noStore, type PostgresLocation, type Store } from "./store.ts";
import { currentVersion, migrate, readVersion } from "./engine/migrations/migrations.ts";
import { Fence } from "./engine/fence.ts";
import { createPostgresPool, databaseOver, patientTimeoutMs } from "./engine/postgres-pool.ts";
import { takeWriterRow } from "./engine/postgres-writer.ts";
import type { PlainTables } from "./tables.ts";
import { createPartsFactory } from "./store-parts.ts";
import type { Writer } from "./writer.ts";

export interface OpenPostgresOptions extends PostgresLocation {
  readonly mustExist?: boolean;
}

// A database that is started together with flatline needs some seconds.
const firstConnectionWithinMs = 10 * secondMs;

/**
 * Opens the store in PostgreSQL, read-only, and creates its tables if there are none. `takeWriter` migrates them to the
 * current version, and lets it write. @throws FlatlineError store_newer, store_unusable, store_busy, no_input
 */
export async function openPostgresStore(options: OpenPostgresOptions): Promise<Store> {
  const { mustExist = false, ...location } = options;
  const fence = new Fence(postgresPlace(location.url.reveal()));
  const pool = createPostgresPool({ ...location, fence, firstConnectionWithinMs });
  const db = databaseOver<PlainTables>(pool);
  let version: number;
  let writer: Writer | null = null;
  try {
    version = await readVersion(db as unknown as Kysely<unknown>, pool.place);
    if (version === 0 && mustExist) throw noStore(pool.place);
    if (version === 0) await migratePatiently(location);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const createParts = createPartsFactory(null);
  return {
    isRemote: true,
    ...createParts(db),
    transaction: (work) => inTransaction(db, (transaction) => work(createParts(transaction))),
    takeWriter: async (options = {}) => {
      writer = await takeWriterRow({ ...options, location, fence });
      // Only the writer migrates: an older flatline may still write until then.
      if (version > 0 && version < currentVersion) await migratePatiently(location);
      return writer;
    },
    nowMs: async () => {
      const { rows } = await sql<{ now_ms: number }>`
        select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`.execute(db);
      return rows[0]?.now_ms ?? 0;
    },
    bytes: async () => {
      const { rows } = await sql<{ bytes: number }>`
        select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) as bytes from pg_class
        join pg_namespace on pg_namespace.oid = pg_class.relnamespace
        where pg_namespace.nspname = current_schema() and pg_class.relkind = 'r'`.execute(db);
      return rows[0]?.bytes ?? 0;
    },
    problem: async () => null,
    check: async () => undefined,
    failures: () => 0,
    // The pool waits for running queries. After Kysely's destroy a later query would throw an untyped error.
    close: async () => {
      await writer?.release();
      await pool.end();
    },
  };
}

/** Migrates by a connection of its own, whose statements may take minutes. */
async function migratePatiently(location: PostgresLocation): Promise<void> {
  const pool = createPostgresPool({ ...location, poolSize: 1, timeoutMs: patientTimeoutMs });
  const db = databaseOver<unknown>(pool);
  try {
    await migrate(db, pool.place);
  } finally {
    await db.destroy();
  }
}
