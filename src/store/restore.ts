import { copyFile, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import type { Actor } from "../contract/actor.ts";
import type { AuditAct } from "./acts/audit.ts";
import {
  checkCopy,
  makeCopyFolder,
  refuseStrangers,
  syncPath,
  type BackupOutcome,
  type CheckedCopy,
} from "./backup.ts";
import { eventsPathOf } from "./engine/location.ts";
import { currentVersion } from "./engine/migrations/migrations.ts";
import { makeFolder, openStore } from "./open.ts";
import { takeOwnerLock } from "./runs/owner-lock.ts";

export interface RestoreOptions {
  /** Absolute path of the backup. */
  readonly backup: string;
  /** Absolute path of the store's file. */
  readonly path: string;
  /** Replaces a store that is there already. */
  readonly force: boolean;
  readonly clock: Clock;
  /** The author of the restore, for the audit. */
  readonly by: Actor;
}

/**
 * Puts a backup in the place of a store on which no daemon runs. The backup is copied and checked before the store is touched;
 * then each of its files is replaced in one step.
 * @throws no_input without the backup, usage for a store that exists, store_busy while a daemon runs, store_newer, store_unusable
 */
export async function restoreStore({ backup, path, force, clock, by }: RestoreOptions): Promise<BackupOutcome> {
  await refuse(backup, path, force);
  await refuse(eventsPathOf(backup), eventsPathOf(path), force);
  await makeFolder(dirname(path));
  const lock = await takeOwnerLock(path, clock);
  try {
    return await replaceStore({ backup, path, clock, by });
  } finally {
    lock.release();
  }
}

async function refuse(backup: string, path: string, force: boolean): Promise<void> {
  const status = await stat(backup).catch(() => null);
  if (status === null || !status.isFile()) throw new FlatlineError("no_input", `there is no backup ${backup}`);
  if (!(await isDatabase(backup)))
    throw new FlatlineError("store_unusable", `${backup} is no backup: it is not a database of SQLite`);
  const present = await stat(path).catch(() => null);
  if (present === null) return;
  if (!present.isFile()) throw new FlatlineError("usage", `${path} is no file: storage.path must name one`);
  if (present.ino === status.ino && present.dev === status.dev)
    throw new FlatlineError("usage", `${backup} is the store itself: name a backup`);
  if (!force)
    throw new FlatlineError("usage", `there is a store at ${path} already: back it up, then --force replaces it`);
}

async function replaceStore({ backup, path, clock, by }: Omit<RestoreOptions, "force">): Promise<BackupOutcome> {
  await using folder = await makeCopyFolder(path);
  const copy = join(folder.path, basename(path));
  const state = await copyChecked(backup, copy);
  refuseStrangers(state, await copyChecked(eventsPathOf(backup), eventsPathOf(copy)), backup);
  const { schemaVersion } = state;
  if (schemaVersion > currentVersion)
    throw new FlatlineError(
      "store_newer",
      `the backup ${backup} has schema version ${schemaVersion}, this flatline supports up to ${currentVersion}: ` +
        "restore it with the flatline that wrote it, or a newer one",
    );
  await writeDown(copy, clock, {
    atMs: clock.nowMs(),
    actor: by,
    action: "restore",
    slug: null,
    subject: basename(backup),
  });
  for (const file of [copy, eventsPathOf(copy)]) await syncPath(file);
  // The state is copied first, as in a backup.
  const bytes = (await replaceFile(copy, path)) + (await replaceFile(eventsPathOf(copy), eventsPathOf(path)));
  return { bytes, schemaVersion };
}

/** Into the copy, so that the store is never in its place without the act. */
async function writeDown(copy: string, clock: Clock, act: AuditAct): Promise<void> {
  const store = await openStore({ path: copy, mustExist: true, clock });
  try {
    await store.audit.append(act);
  } finally {
    await store.close();
  }
}

async function copyChecked(backup: string, copy: string): Promise<CheckedCopy> {
  // A copy keeps the mode of an existing file, and this one is readable for its owner only.
  await (await open(copy, "wx", 0o600)).close();
  await copyFile(backup, copy);
  return checkCopy(copy, backup);
}

/** Puts a copy in the place of a file of the store; returns its size, bytes. */
async function replaceFile(copy: string, path: string): Promise<number> {
  // These files belong to the replaced store: SQLite would play its log into the new one.
  for (const suffix of ["-wal", "-shm", "-journal"]) await rm(`${path}${suffix}`, { force: true });
  await rename(copy, path);
  await syncPath(dirname(path));
  return (await stat(path)).size;
}

/** The first bytes of every database file of SQLite (its file format, 1.3). */
const magic = "SQLite format 3\0";

async function isDatabase(path: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { buffer } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return buffer.toString("latin1") === magic;
  } finally {
    await handle.close();
  }
}
