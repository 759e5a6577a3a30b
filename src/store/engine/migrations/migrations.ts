import { sql, type Kysely } from "kysely";
import { z } from "zod";
import { FlatlineError } from "../../../base/errors.ts";
import { dialectOf } from "../dialect.ts";
import * as initial from "./0001-initial.ts";

/** Forward only; version n is the n-th entry. A released migration is never changed. */
export const migrations: readonly ({ readonly name: string } & Pick<typeof initial, "up">)[] = [
  { name: "initial", ...initial },
];

/** The schema version that this program writes. */
export const currentVersion = migrations.length;

// An arbitrary number; advisory locks are numbers within one database.
const migrationLock = 0x66_6c_61_74;
// Queries must not wait long behind a schema change.
const longestTableLockMs = 10_000;

/**
 * Migrates the database to the current version in one transaction; does nothing if it is current. Safe when two
 * processes open the store at once: the second one finds the work done. `place` is the store's name in messages.
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

const createVersionTable = sql`
  create table if not exists schema_version (version integer primary key, name text not null)`;

/**
 * Returns the schema version of the database, 0 if it is empty.
 * @throws FlatlineError store_newer, store_unusable, store_busy
 */
export async function readVersion(db: Kysely<unknown>, place: string): Promise<number> {
  if (!(await hasVersions(db))) return 0;
  // Another program's table of this name has other columns, or other names of steps.
  const { rows } = await sql`select * from schema_version`.execute(db);
  const steps = z.array(stepSchema).min(1).safeParse(rows);
  if (!steps.success || steps.data.some(({ version, name }) => (migrations[version - 1]?.name ?? name) !== name))
    throw new FlatlineError(
      "store_unusable",
      `the store ${place} cannot be used: its table schema_version belongs to another program: ` +
        "give flatline a schema or a database of its own",
    );
  const version = Math.max(...steps.data.map((step) => step.version));
  if (version <= currentVersion) return version;
  throw new FlatlineError(
    "store_newer",
    `the store ${place} has schema version ${version}, this flatline supports up to ${currentVersion}: ` +
      "run the newer flatline that wrote it, or restore a backup from before the upgrade",
  );
}

const stepSchema = z.object({ version: z.int().positive(), name: z.string() });

async function hasVersions(db: Kysely<unknown>): Promise<boolean> {
  // Resolves the table by the search_path, as all statements do. to_regclass would return the state before the wait for
  // the lock.
  const found =
    dialectOf(db).engine === "sqlite"
      ? sql`select 1 from sqlite_schema where name = 'schema_version'`
      : sql`select 1 from pg_tables where tablename = 'schema_version' and schemaname = any (current_schemas(false))`;
  return (await found.execute(db)).rows.length > 0;
}
