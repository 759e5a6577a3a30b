import { sql, type Kysely } from "kysely";
import { z } from "zod";
import { FlatlineError } from "../../../base/errors.ts";
import { dialectOf, type StoreDialect } from "../dialect.ts";
import * as initial from "./0001-initial.ts";

/** One step of the schema. */
export interface Migration {
  readonly name: string;
  readonly up: (db: Kysely<unknown>) => Promise<void>;
}

/** Forward only; version n is the n-th entry. A released migration is never changed. */
export const migrations: readonly Migration[] = [{ name: "initial", ...initial }];

/** The schema version that this program writes. */
export const currentVersion = migrations.length;

// An arbitrary number; advisory locks are numbers within one database.
const migrationLock = 0x66_6c_61_74;
// Queries must not wait long behind a schema change.
const longestTableLockMs = 10_000;

/**
 * Migrates the database to the current version in one transaction; does nothing if it is current. Safe when two processes
 * open the store at once: the second one finds the work done. `place` is the store's name in messages.
 * @throws FlatlineError store_newer, store_unusable, store_busy
 */
export async function migrate(db: Kysely<unknown>, place: string): Promise<void> {
  if ((await readVersion(db, place)) >= currentVersion) return;
  await db.transaction().execute(async (transaction) => {
    if (dialectOf(transaction).engine === "postgres") await takeMigrationLock(transaction);
    const version = await readVersion(transaction, place);
    if (version === 0) await createVersionTable.execute(transaction);
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      await migration.up(transaction);
      await sql`insert into schema_version (version, name) values (${index + 1}, ${migration.name})`.execute(
        transaction,
      );
    }
  });
}

async function takeMigrationLock(transaction: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = 0`.execute(transaction);
  await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(transaction);
  await sql.raw(`set local lock_timeout = ${longestTableLockMs}`).execute(transaction);
}

const createVersionTable = sql`create table if not exists schema_version (version integer primary key, name text not null)`;

/**
 * Returns the schema version of the database, 0 if it is empty. The file of another program was rejected when it was opened.
 * @throws FlatlineError store_newer, store_unusable, store_busy
 */
export async function readVersion(db: Kysely<unknown>, place: string): Promise<number> {
  const { engine } = dialectOf(db);
  if (!(await hasVersions(db, engine))) return 0;
  const version = engine === "sqlite" ? await newestVersion(db) : await ownVersion(db, place);
  if (version > currentVersion) {
    throw new FlatlineError(
      "store_newer",
      `the store ${place} has schema version ${version}, this flatline supports up to ${currentVersion}: ` +
        "run the newer flatline that wrote it, or restore a backup from before the upgrade",
    );
  }
  return version;
}

async function newestVersion(db: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ version: number | null }>`select max(version) as version from schema_version`.execute(
    db,
  );
  return rows[0]?.version ?? 0;
}

/** Reads our schema version. Other programs have a table of this name too; ours contains the names of our migrations. */
async function ownVersion(db: Kysely<unknown>, place: string): Promise<number> {
  // As JSON, because another program's table has other columns.
  const { rows } = await sql<{ step: unknown }>`select to_jsonb(step) as step from schema_version as step`.execute(db);
  const steps = z.array(stepSchema).safeParse(rows.map(({ step }) => step));
  const isOurs =
    steps.success &&
    steps.data.length > 0 &&
    steps.data.every(({ version, name }) => (migrations[version - 1]?.name ?? name) === name);
  if (isOurs) return Math.max(0, ...steps.data.map(({ version }) => version));
  throw new FlatlineError(
    "store_unusable",
    `the store ${place} cannot be used: its table schema_version belongs to another program: give flatline a schema or a database of its own`,
  );
}

const stepSchema = z.object({ version: z.number().int().positive(), name: z.string() });

async function hasVersions(db: Kysely<unknown>, engine: StoreDialect["engine"]): Promise<boolean> {
  if (engine === "sqlite") return (await db.introspection.getTables()).some(({ name }) => name === "schema_version");
  // Resolves the table by the search_path, as all statements do. to_regclass would return the state before the wait for the
  // lock.
  const { rows } = await sql<{ is_there: boolean }>`
    select exists (select from pg_tables
      where tablename = 'schema_version' and schemaname = any (current_schemas(false))) as is_there`.execute(db);
  return rows[0]?.is_there === true;
}
