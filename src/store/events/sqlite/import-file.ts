import type { DatabaseSync } from "node:sqlite";

import type { Clock } from "../../../base/time.ts";
import { eventsPathOf } from "../../engine/location.ts";
import { openDatabase, tune } from "../../engine/sqlite-file.ts";
import type { CheckedInputs } from "../input/check.ts";
import { refuseKnownFiles } from "../input/known-files.ts";
import type { EventReading } from "./reading.ts";
import type { WriteTally } from "../tally.ts";
import { EventWriter } from "./writer.ts";
import { writeEvents } from "./store-events.ts";

/** A checked import that is to be stored. */
export interface ImportWork extends EventReading {
  readonly clock: Clock;
  /** Imports content again that has events without an id. */
  readonly again: boolean;
  readonly onRows: (rows: number) => void;
}

/** Stores checked input in a SQLite database, completely or not at all. @throws already_imported, unavailable, store_* */
export async function importIntoFile(storePath: string, { again, ...work }: ImportWork): Promise<WriteTally> {
  const { checked, clock } = work;
  const databasePath = eventsPathOf(storePath);
  const db = openEventDatabase(databasePath);
  const refuse = (): void => {
    if (!again) refuseKnownFiles(checked.files, createLookUp(db));
  };
  try {
    refuse();
    const tally = await writeEvents({
      ...work,
      db,
      databasePath,
      writer: new EventWriter(db),
      arePosted: false,
      // Another import may take minutes.
      waitMs: Infinity,
      onEnd: (importId) => {
        refuse();
        registerFiles(db, checked, importId, clock.nowMs());
      },
    });
    // The log has each changed page once. Here rather than in the daemon, whose next commit would copy them.
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return tally;
  } finally {
    db.close();
  }
}

/** Opens a connection for long writes; the schema must exist. */
export function openEventDatabase(databasePath: string): DatabaseSync {
  // For what SQLite itself does when it opens a log; writers wait in turns (store-events.ts).
  const db = openDatabase(databasePath, shortWaitMs);
  tune(db);
  return db;
}

const shortWaitMs = 1_000;

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
