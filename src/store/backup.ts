import { link, lstat, mkdtemp, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { FlatlineError } from "../base/errors.ts";
import { systemCodeOf } from "../base/file-error.ts";
import { eventsPathOf, noStore } from "./engine/location.ts";
import { applicationId, storeError } from "./engine/sqlite-file.ts";
import { tryLock } from "./runs/owner-lock.ts";

export interface BackupOptions {
  /** Absolute path of the store's file. */
  readonly path: string;
  /** Where the copy is to be, absolute. */
  readonly target: string;
  /** Replaces a file that is there already. */
  readonly force: boolean;
}

/** What was copied. */
export interface BackupOutcome {
  readonly bytes: number;
  readonly schemaVersion: number;
}

/**
 * Copies a store, also while a daemon writes to it: each of its files as it is at one moment, by one read transaction, which
 * in a write-ahead log holds up no writer. It is whole and checked before it has its name; on failure nothing is left.
 * @throws no_input without a store, usage for a target that exists, store_unusable, store_busy
 */
export async function backupStore({ path, target, force }: BackupOptions): Promise<BackupOutcome> {
  await refuseTarget(path, target, force);
  await refuseTarget(path, eventsPathOf(target), force);
  await using folder = await makeCopyFolder(target);
  // The state is copied first: newer events are counted again, while a newer state would refer to missing ones.
  const copy = join(folder.path, basename(target));
  const state = await copyFile(path, copy);
  const events = await copyFile(eventsPathOf(path), eventsPathOf(copy));
  refuseStrangers(state, events, path);
  await publish(eventsPathOf(copy), eventsPathOf(target), force);
  await publish(copy, target, force);
  await syncPath(dirname(target));
  return { bytes: state.bytes + events.bytes, schemaVersion: state.schemaVersion };
}

async function copyFile(path: string, copy: string): Promise<CheckedCopy & { readonly bytes: number }> {
  // SQLite gives its file the mode of an existing one, and this one is readable for its owner only.
  await (await open(copy, "wx", 0o600)).close();
  await copyPages(path, copy);
  const checked = checkCopy(copy, path);
  await syncPath(copy);
  return { ...checked, bytes: (await stat(copy)).size };
}

/** Refuses a state and events that are not of one store. @throws store_unusable */
function refuseStrangers(state: CheckedCopy, events: CheckedCopy, place: string): void {
  if (state.pairId === events.pairId) return;
  throw new FlatlineError("store_unusable", `${eventsPathOf(place)} holds the events of another store than ${place}`);
}

async function refuseTarget(path: string, target: string, force: boolean): Promise<void> {
  const store = await stat(path).catch(() => null);
  if (store === null || !store.isFile()) throw noStore(path);
  const present = await stat(target).catch(() => null);
  if (await isOfStore(path, target)) {
    throw new FlatlineError("usage", `${target} is the store itself: name another file`);
  }
  if (present === null) return;
  if (!present.isFile()) throw new FlatlineError("usage", `${target} is no file: name a file`);
  if (!force) throw alreadyThere(target);
}

/** Whether the target is the store's file or one that SQLite keeps beside it: a log that is replaced takes the store with it. */
async function isOfStore(path: string, target: string): Promise<boolean> {
  const folder = await realpath(dirname(target)).catch(() => dirname(target));
  const place = await realpath(target).catch(() => join(folder, basename(target)));
  for (const own of [path, eventsPathOf(path)]) {
    const file = await realpath(own).catch(() => own);
    if (["", "-wal", "-shm", "-journal"].some((suffix) => place === `${file}${suffix}`)) return true;
  }
  return false;
}

function alreadyThere(target: string): FlatlineError {
  return new FlatlineError("usage", `${target} exists already: choose another name, or --force replaces it`);
}

/** A folder for copies that are being made, beside the target, so that renaming is one step. */
interface CopyFolder extends AsyncDisposable {
  readonly path: string;
}

/** Makes a folder with a unique name, readable by the owner only. Removes those that a killed process left. */
async function makeCopyFolder(target: string): Promise<CopyFolder> {
  const parent = dirname(target);
  try {
    const path = await mkdtemp(join(parent, copyPrefix));
    const lock = tryLock(join(path, copyLock));
    await removeLeftCopies(parent, (await stat(path)).uid);
    const remove = async (): Promise<void> => {
      await rm(path, { recursive: true, force: true });
      lock?.release();
    };
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    const message = `${target} cannot be written: ${folderProblem(target, error)}`;
    throw new FlatlineError("store_unusable", message, { cause: error });
  }
}

const copyPrefix = ".flatline-backup-";
// The operating system's lock on it ends with the process that makes the copies.
const copyLock = "lock";

/** Removes those of one user: another may have made a folder of that name, or a link. One that is being made is locked. */
async function removeLeftCopies(parent: string, uid: number): Promise<void> {
  for (const name of await readdir(parent)) {
    const lockPath = join(parent, name, copyLock);
    if (!name.startsWith(copyPrefix)) continue;
    const [folder, file] = await Promise.all(
      [join(parent, name), lockPath].map((path) => lstat(path).catch(() => null)),
    );
    if (folder?.isDirectory() !== true || folder.uid !== uid || file?.isFile() !== true || file.uid !== uid) continue;
    const lock = tryLock(lockPath);
    if (lock === null) continue;
    await rm(join(parent, name), { recursive: true, force: true });
    lock.release();
  }
}

function folderProblem(target: string, error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  switch (systemCodeOf(error)) {
    case "ENOENT":
      return `there is no folder ${dirname(target)}`;
    case "ENOTDIR":
      return `${dirname(target)} is no folder`;
    case "EACCES":
    case "EPERM":
      return `this user may not write to the folder ${dirname(target)}`;
    case "EROFS":
      return `the folder ${dirname(target)} is read-only`;
    default:
      return error.message;
  }
}

async function copyPages(path: string, copy: string): Promise<void> {
  let source: DatabaseSync;
  try {
    source = new DatabaseSync(path, { readOnly: true, timeout: lockTimeoutMs });
  } catch (error) {
    throw storeError(error, path);
  }
  try {
    const row = source.prepare("pragma application_id").get();
    if (row?.["application_id"] !== applicationId)
      throw new FlatlineError("store_unusable", `${path} is not a store of flatline`);
    // All pages are copied in one step, on a thread of their own: each commit of the daemon would restart several steps.
    await backup(source, copy, { rate: mostPages });
  } catch (error) {
    throw storeError(error, path);
  } finally {
    source.close();
  }
}

/** What a copy says of itself. */
interface CheckedCopy {
  readonly schemaVersion: number;
  /** The number that both files of a store have. */
  readonly pairId: number;
}

/** Reads all of the copy, and makes it one file that needs no log beside it; `place` is what messages call it. */
function checkCopy(copy: string, place: string): CheckedCopy {
  const database = new DatabaseSync(copy);
  try {
    database.exec("pragma journal_mode = delete");
    const id = database.prepare("pragma application_id").get();
    if (id?.["application_id"] !== applicationId)
      throw new FlatlineError("store_unusable", `${place} is not a store of flatline`);
    const problems = database.prepare("pragma integrity_check").all();
    const [first] = problems.map((row) => String(row["integrity_check"]));
    if (first !== "ok") throw new FlatlineError("store_unusable", `${place} is damaged: ${first ?? "?"}`);
    const row = database.prepare("select max(version) as version from schema_version").get();
    const pairId = Number(database.prepare("pragma user_version").get()?.["user_version"]);
    return { schemaVersion: Number(row?.["version"]), pairId };
  } catch (error) {
    throw storeError(error, place);
  } finally {
    database.close();
  }
}

async function publish(copy: string, target: string, force: boolean): Promise<void> {
  if (!force) {
    try {
      // Unlike a rename it never replaces a file that another process made meanwhile.
      return await link(copy, target);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") throw alreadyThere(target);
      // The file system has no links, so the file is renamed.
    }
  }
  await rename(copy, target);
}

/** Writes a file, or the names in a folder, to the disk. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// A reader waits at most for the recovery of a write-ahead log, which takes milliseconds.
const lockTimeoutMs = 5_000;
const mostPages = 0x7f_ff_ff_ff;
