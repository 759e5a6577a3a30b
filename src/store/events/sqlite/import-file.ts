import type { DatabaseSync } from "node:sqlite";

import type { Clock } from "../../../base/time.ts";
import { openDatabase } from "../../engine/sqlite-file.ts";
import type { CheckedInputs } from "../input/check.ts";
import { refuseKnownFiles } from "../input/known-files.ts";
import { Pace } from "./pace.ts";
import type { EventReading } from "./reading.ts";
import { removeBrokenImports } from "./staging.ts";
import { stageEvents } from "./staged-import.ts";
import type { WriteTally } from "../tally.ts";
import { EventWriter } from "./writer.ts";

/** A checked import that is to be stored. */
export interface ImportWork extends EventReading {
  readonly clock: Clock;
  /** Imports content again that has events without an id. */
  readonly again: boolean;
  readonly onRows: (rows: number) => void;
}

// A fifth of the promised limit (CONTRACT 10); the rest is for the commit's fsync on a slow disk.
const holdMs = 50;
/** Maximum wait for another writer, milliseconds. */
const busyWaitMs = 10_000;

/** Stores checked input in a SQLite database, completely or not at all. @throws already_imported, unavailable, store_* */
export async function importIntoFile(databasePath: string, { again, ...work }: ImportWork): Promise<WriteTally> {
  const { checked, clock, signal } = work;
  const db = openEventDatabase(databasePath);
  const refuse = (): void => {
    if (!again) refuseKnownFiles(checked.files, createLookUp(db));
  };
  try {
    refuse();
    const pace = new Pace({ db, databasePath, clock, signal, holdMs });
    await removeBrokenImports(db, databasePath, pace);
    return await stageEvents({
      ...work,
      db,
      databasePath,
      writer: new EventWriter(db),
      pace,
      directRows: 0,
      onPublish: (importId) => {
        refuse();
        registerFiles(db, checked, importId, clock.nowMs());
      },
    });
  } finally {
    db.close();
  }
}

/** Opens a connection for long writes; the schema must exist. */
export function openEventDatabase(databasePath: string): DatabaseSync {
  const db = openDatabase(databasePath, busyWaitMs);
  db.exec("PRAGMA synchronous = FULL");
  // Pace runs checkpoints outside of the write lock.
  db.exec("PRAGMA wal_autocheckpoint = 0");
  // 64 MiB, so that the pages of a block stay cached.
  db.exec("PRAGMA cache_size = -65536");
  return db;
}

function createLookUp(db: DatabaseSync): Parameters<typeof refuseKnownFiles>[1] {
  const known = db.prepare(
    `SELECT name, imported_at_ms FROM event_files WHERE sha256 = ? ORDER BY imported_at_ms DESC LIMIT 1`,
  );
  return (sha256) => {
    const row = known.get(sha256);
    return row === undefined ? undefined : { name: String(row["name"]), importedAtMs: Number(row["imported_at_ms"]) };
  };
}

function registerFiles(db: DatabaseSync, checked: CheckedInputs, importId: number, nowMs: number): void {
  const add = db.prepare(
    `INSERT OR IGNORE INTO event_files (sha256, import_id, name, rows_without_id, imported_at_ms) VALUES (?, ?, ?, ?, ?)`,
  );
  for (const file of checked.files) add.run(file.sha256, importId, file.name, file.rowsWithoutId, nowMs);
}
