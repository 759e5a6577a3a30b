import { randomInt } from "node:crypto";
import { stat } from "node:fs/promises";
import { sql, type Kysely } from "kysely";
import { FlatlineError } from "../../base/errors.ts";

/** An open file of a store. */
export interface PairedFile<Tables> {
  readonly path: string;
  readonly db: Kysely<Tables>;
}

// user_version has 31 bits: enough to notice files that were mixed up.
const mostPairId = 2 ** 31 - 1;

/** Returns the number that both files of a store have; 0: none yet. */
export async function readPairId<Tables>(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  return rows[0]?.user_version ?? 0;
}

/** Requires the events of a store that had some before. @throws store_unusable */
export async function requireEvents(path: string, eventsPath: string): Promise<void> {
  const status = await stat(eventsPath).catch(() => null);
  if (status?.isFile() === true && status.size > 0) return;
  throw new FlatlineError(
    "store_unusable",
    `the store ${path} cannot be used: its events are missing: ${eventsPath}; ${remedy}`,
  );
}

/**
 * Makes two files one store, by a number in both. State without a number takes that of the events, so that a start that was
 * cut off goes on. @throws store_unusable for files of different stores
 */
export async function pair<Tables>(state: PairedFile<Tables>, events: PairedFile<Tables>): Promise<void> {
  const eventsId = await readPairId(events.db);
  if (eventsId !== 0 && eventsId === (await readPairId(state.db))) return;
  // The state's write lock: of two processes that make a store, one numbers both files.
  await state.db.transaction().execute(async (transaction) => {
    const id = await readPairId(transaction);
    const known = await readPairId(events.db);
    if (id !== 0 && id !== known) {
      throw new FlatlineError(
        "store_unusable",
        `the store ${state.path} cannot be used: ${events.path} holds the events of another store; ${remedy}`,
      );
    }
    const paired = known === 0 ? randomInt(1, mostPairId) : known;
    if (known === 0) await sql.raw(`pragma user_version = ${paired}`).execute(events.db);
    await sql.raw(`pragma user_version = ${paired}`).execute(transaction);
  });
}

const remedy = "restore both from one backup, or move both away to start with an empty store";
