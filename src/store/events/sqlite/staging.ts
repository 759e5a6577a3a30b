import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { FlatlineError } from "../../../base/errors.ts";
import { noteChange } from "./changes.ts";
import { inTransaction, type Pace } from "./pace.ts";
import { ingestedStatus, type WriteTally } from "../tally.ts";
import { deadStatusId, unpublishedSql } from "./writer.ts";

/** An import whose rows do not count yet. */
export interface Staging {
  readonly importId: number;
  /**
   * Runs first in each transaction: fails if another process considered this import dead and removed it.
   * @throws conflict
   */
  assertOurs(): void;
  /** Releases the lock that marks the import as running; an unpublished import is then removed. */
  release(): void;
}

/**
 * Starts an import. A running import holds an exclusive lock on a file beside the database: the system releases it with the
 * process, and it works across containers, where process ids do not.
 */
export function beginStaging(db: DatabaseSync, databasePath: string, nowMs: number): Staging {
  let lock: DatabaseSync | null = null;
  try {
    const importId = inTransaction(db, databasePath, () => {
      const added = db.prepare(
        `INSERT INTO event_imports (state, started_at_ms) VALUES ('staging', ?) RETURNING import_id`,
      );
      const id = Number(added.get(nowMs)?.["import_id"]);
      // Within the transaction: the row is invisible until the lock is held.
      lock = new DatabaseSync(lockPath(databasePath, id), { timeout: 0 });
      lock.exec("BEGIN EXCLUSIVE");
      return id;
    });
    const state = db.prepare(`SELECT state FROM event_imports WHERE import_id = ?`);
    return {
      importId,
      assertOurs: () => {
        if (state.get(importId)?.["state"] === "staging") return;
        throw new FlatlineError("conflict", "another process considered this import dead and removed it; run it again");
      },
      release: () => {
        rmSync(lockPath(databasePath, importId), { force: true });
        lock?.close();
        lock = null;
      },
    };
  } catch (error) {
    (lock as DatabaseSync | null)?.close();
    throw error;
  }
}

function lockPath(databasePath: string, importId: number): string {
  return `${databasePath}-import-${importId}`;
}

function isAlive(databasePath: string, importId: number): boolean {
  const path = lockPath(databasePath, importId);
  if (!existsSync(path)) return false;
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    rmSync(path, { force: true });
    return false;
  } catch {
    return true;
  } finally {
    lock.close();
  }
}

/** Resolves ids that this import shares with others: the rows of the import that was published first stay. */
export function* settleContests(db: DatabaseSync, importId: number, tally: WriteTally): Generator<void> {
  const settled = db.prepare(
    `SELECT rival_id, slug_id, id_hash, ordinal, at_ms FROM event_contests
     WHERE import_id = ? AND rival_id NOT IN (${unpublishedSql}) LIMIT 64`,
  );
  const remove = db.prepare(
    `DELETE FROM event_contests WHERE import_id = ? AND rival_id = ? AND slug_id = ? AND id_hash = ? AND ordinal = ?`,
  );
  const own = db.prepare(
    `SELECT type_id, status, event_statuses.status_id, count, id
     FROM events JOIN event_statuses ON event_statuses.status_id = events.status_id
     WHERE slug_id = ? AND at_ms = ? AND import_id = ? AND ordinal = ?`,
  );
  const rival = db.prepare(
    `SELECT 1 FROM event_ids JOIN events USING (slug_id, at_ms, import_id, ordinal)
     WHERE event_ids.slug_id = ? AND event_ids.id_hash = ? AND event_ids.import_id = ? AND events.id = ?`,
  );
  const drop = createDrop(db, importId);
  for (let rows = settled.all(importId); rows.length > 0; rows = settled.all(importId)) {
    for (const row of rows) {
      const [rivalId, slugId, hash, ordinal, atMs] = Object.values(row).map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const event = own.get(slugId, atMs, importId, ordinal);
      const id = event?.["id"];
      // A missing row lost to another rival before. Another text means that only the hashes are equal.
      if (event !== undefined && typeof id === "string" && rival.get(slugId, hash, rivalId, id) !== undefined) {
        drop({
          slugId,
          hash,
          ordinal,
          atMs,
          typeId: Number(event["type_id"]),
          isDeath: event["status_id"] === deadStatusId,
          count: Number(event["count"]),
        });
        tally.duplicates++;
        tally.stored[ingestedStatus(String(event["status"]))]--;
      }
      remove.run(importId, rivalId, slugId, hash, ordinal);
      yield;
    }
  }
}

interface StoredRow {
  readonly slugId: number;
  readonly hash: number;
  readonly ordinal: number;
  readonly atMs: number;
  readonly typeId: number;
  readonly isDeath: boolean;
  readonly count: number;
}

/** Deletes a row of an import from all its tables. */
function createDrop(db: DatabaseSync, importId: number): (row: StoredRow) => void {
  const event = db.prepare(`DELETE FROM events WHERE slug_id = ? AND at_ms = ? AND import_id = ? AND ordinal = ?`);
  const id = db.prepare(`DELETE FROM event_ids WHERE slug_id = ? AND id_hash = ? AND import_id = ? AND ordinal = ?`);
  const key = `slug_id = ? AND type_id = ? AND import_id = ?`;
  const rollups = (
    [
      ["event_minutes", "minute", 60_000],
      ["event_hours", "hour", 3_600_000],
    ] as const
  ).map(([table, span, spanMs]) => ({
    spanMs,
    subtract: db.prepare(`UPDATE ${table} SET deaths = deaths - ? WHERE ${key} AND ${span} = ?`),
    clear: db.prepare(`DELETE FROM ${table} WHERE ${key} AND ${span} = ? AND deaths <= 0`),
  }));
  return ({ slugId, hash, ordinal, atMs, typeId, isDeath, count }) => {
    event.run(slugId, atMs, importId, ordinal);
    id.run(slugId, hash, importId, ordinal);
    if (!isDeath) return;
    for (const { spanMs, subtract, clear } of rollups) {
      subtract.run(count, slugId, typeId, importId, Math.floor(atMs / spanMs));
      clear.run(slugId, typeId, importId, Math.floor(atMs / spanMs));
    }
  };
}

/**
 * Publishes an import's rows at once: conflicts of ids are resolved in slices first, the newest ones in the last, short
 * transaction, in which `before` may still reject.
 */
export async function publish(
  db: DatabaseSync,
  pace: Pace,
  staging: Staging,
  options: {
    readonly tally: WriteTally;
    /** The cells added to event_minutes, for the journal; null: too many. */
    readonly cells: readonly number[] | null;
    readonly nowMs: () => number;
    readonly before: () => void;
  },
): Promise<void> {
  const { importId } = staging;
  const { tally, cells } = options;
  const work = function* (): Generator<void> {
    const { duplicates } = tally;
    yield* settleContests(db, importId, tally);
    // No step ends between the last resolved conflict and this: no new one can appear.
    options.before();
    db.prepare(`UPDATE event_imports SET state = 'published', published_at_ms = ? WHERE import_id = ?`).run(
      options.nowMs(),
      importId,
    );
    const isAsWritten = tally.duplicates === duplicates;
    if (cells !== null && isAsWritten) noteChange(db, { kind: "added", detail: cells });
    else noteChange(db, { kind: "published", detail: [importId] });
  };
  await pace.run(work(), () => staging.assertOurs());
  await pace.run(
    deleteRows(
      db,
      `SELECT * FROM event_contests WHERE import_id = ? LIMIT 512`,
      "event_contests",
      contestKey,
      importId,
    ),
  );
}

const contestKey = ["import_id", "rival_id", "slug_id", "id_hash", "ordinal"];

/** Tables with rows of an import, by their primary keys. */
const stagedTables = [
  { table: "events", key: ["slug_id", "at_ms", "import_id", "ordinal"] },
  { table: "event_ids", key: ["slug_id", "id_hash", "import_id", "ordinal"] },
  { table: "event_minutes", key: ["slug_id", "minute", "type_id", "import_id"] },
  { table: "event_hours", key: ["slug_id", "hour", "type_id", "import_id"] },
  { table: "event_extents", key: ["slug_id", "import_id"] },
] as const;

/** Marks an import as failed, so that it is removed. A published import is not changed. */
export function abandon(db: DatabaseSync, databasePath: string, importId: number): void {
  inTransaction(db, databasePath, () => {
    db.prepare(`UPDATE event_imports SET state = 'abandoned' WHERE import_id = ? AND state = 'staging'`).run(importId);
  });
}

/**
 * Removes the remains of failed imports, also of killed processes, and returns their number. The search holds no lock;
 * deletion runs in slices.
 */
export async function removeBrokenImports(db: DatabaseSync, databasePath: string, pace: Pace): Promise<number> {
  let removed = 0;
  for (const row of db.prepare(`SELECT import_id, state FROM event_imports WHERE state <> 'published'`).all()) {
    const importId = Number(row["import_id"]);
    // Running and abandoned: its owner is removing it.
    if (isAlive(databasePath, importId)) continue;
    if (row["state"] === "staging") abandon(db, databasePath, importId);
    await removeImport(db, pace, importId);
    removed++;
  }
  return removed;
}

/** Removes an abandoned import's rows, then the import. */
export async function removeImport(db: DatabaseSync, pace: Pace, importId: number): Promise<void> {
  for (const { table, key } of stagedTables) await removeStagedRows(db, pace, importId, table, key);
  for (const column of ["import_id", "rival_id"]) {
    const found = `SELECT * FROM event_contests WHERE ${column} = ? LIMIT 512`;
    await pace.run(deleteRows(db, found, "event_contests", contestKey, importId));
  }
  const end = function* (): Generator<void> {
    db.prepare(`DELETE FROM event_imports WHERE import_id = ? AND state = 'abandoned'`).run(importId);
    yield;
  };
  await pace.run(end());
}

async function removeStagedRows(
  db: DatabaseSync,
  pace: Pace,
  importId: number,
  table: string,
  key: readonly string[],
): Promise<void> {
  const columns = key.join(", ");
  const marks = key.map(() => "?").join(", ");
  const from = db.prepare(`SELECT ${columns} FROM ${table} WHERE import_id = ? ORDER BY ${columns} LIMIT 4096`);
  const after = db.prepare(
    `SELECT ${columns} FROM ${table} WHERE import_id = ? AND (${columns}) > (${marks}) ORDER BY ${columns} LIMIT 4096`,
  );
  const remove = db.prepare(`DELETE FROM ${table} WHERE (${columns}) = (${marks})`);
  let rows = from.all(importId);
  while (rows.length > 0) {
    const keys = rows.map((row) => Object.values(row).map(Number));
    const work = function* (): Generator<void> {
      for (const [index, values] of keys.entries()) {
        remove.run(...values);
        if (index % 32 === 0) yield;
      }
    };
    await pace.run(work());
    rows = after.all(importId, ...(keys.at(-1) ?? []));
  }
}

/** Deletes the rows that `found` returns for an import, until there are none. */
function* deleteRows(
  db: DatabaseSync,
  found: string,
  table: string,
  key: readonly string[],
  importId: number,
): Generator<void> {
  const search = db.prepare(found);
  const remove = db.prepare(`DELETE FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`);
  for (let rows = search.all(importId); rows.length > 0; rows = search.all(importId)) {
    for (const row of rows) {
      remove.run(...key.map((column) => Number(row[column])));
      yield;
    }
  }
}
