import { sql, type Kysely } from "kysely";
import { FlatlineError } from "../../base/errors.ts";
import * as events from "./0001-events.ts";
import * as checks from "./0002-checks.ts";
import * as notices from "./0003-notices.ts";
import * as platform from "./0004-platform.ts";
import * as eventEvidence from "./0005-event-evidence.ts";
import * as eventChanges from "./0006-event-changes.ts";

interface Migration {
  readonly name: string;
  readonly up: (db: Kysely<unknown>) => Promise<void>;
}

/** Forward only; version n is the n-th entry. What was released is never changed, only added to. */
const migrations: readonly Migration[] = [
  { name: "events", ...events },
  { name: "checks", ...checks },
  { name: "notices", ...notices },
  { name: "platform", ...platform },
  { name: "event-evidence", ...eventEvidence },
  { name: "event-changes", ...eventChanges },
];

/** The schema version that this program writes. */
export const currentVersion = migrations.length;

/**
 * Brings the database to the current version, in one transaction; nothing happens where it is there already. Two processes
 * that open at once are safe: the second finds the work done.
 * @throws FlatlineError store_newer, store_unusable, store_busy
 */
export async function migrate(db: Kysely<unknown>, path: string): Promise<void> {
  if ((await readVersion(db, path)) === currentVersion) return;
  await db.transaction().execute(async (transaction) => {
    const version = await readVersion(transaction, path);
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

const createVersionTable = sql`create table if not exists schema_version (version integer primary key, name text not null)`;

/** The version that the database has; 0 for an empty one. Somebody else's was refused when it was opened. */
async function readVersion(db: Kysely<unknown>, path: string): Promise<number> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === "schema_version")) return 0;
  const { rows } = await sql<{ version: number | null }>`select max(version) as version from schema_version`.execute(
    db,
  );
  const version = rows[0]?.version ?? 0;
  if (version > currentVersion) {
    throw new FlatlineError(
      "store_newer",
      `the store ${path} has schema version ${version}, this flatline knows up to ${currentVersion}: ` +
        "run the newer flatline that wrote it, or restore a backup from before the upgrade",
    );
  }
  return version;
}
