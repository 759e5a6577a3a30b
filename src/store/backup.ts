import { existsSync } from "node:fs";
import { link, mkdtemp, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { FlatlineError } from "../base/errors.ts";
import { systemCodeOf } from "../base/file-error.ts";
import { noStore } from "./engine/location.ts";
import { applicationId, storeError } from "./engine/sqlite-file.ts";

export interface BackupOptions {
  /** Absolute path of the store's file. */
  readonly path: string;
  /** Where the copy is to be, absolute; nothing may be there yet. */
  readonly target: string;
}

/** What was copied. */
interface BackupOutcome {
  readonly bytes: number;
  readonly schemaVersion: number;
}

/**
 * Copies a store, also while a daemon writes to it: as it is at one moment, by one read transaction, which
 * in a write-ahead log holds up no writer. It is whole and checked before it has its name; on failure nothing is left.
 * @throws no_input without a store, usage for a target that exists, store_unusable, store_busy
 */
export async function backupStore({ path, target }: BackupOptions): Promise<BackupOutcome> {
  const store = await stat(path).catch(() => null);
  if (store === null || !store.isFile()) throw noStore(path);
  if (existsSync(target)) throw alreadyThere(target);
  await using folder = await makeCopyFolder(target);
  const copy = join(folder.path, basename(target));
  // SQLite gives its file the mode of an existing one, and this one is readable for its owner only.
  await (await open(copy, "wx", 0o600)).close();
  await copyPages(path, copy);
  const schemaVersion = checkCopy(copy, path);
  await syncPath(copy);
  await publish(copy, target);
  await syncPath(dirname(target));
  return { schemaVersion, bytes: (await stat(target)).size };
}

function alreadyThere(target: string): FlatlineError {
  return new FlatlineError("usage", `${target} exists already: choose another name`);
}

/** Makes a folder for the copy beside the target, so that renaming is one step, readable by the owner only. */
async function makeCopyFolder(target: string): Promise<AsyncDisposable & { readonly path: string }> {
  try {
    const path = await mkdtemp(join(dirname(target), ".flatline-backup-"));
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  } catch (error) {
    const message = `${target} cannot be written: ${folderProblem(target, error)}`;
    throw new FlatlineError("store_unusable", message, { cause: error });
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

/** Reads all of the copy, and makes it one file that needs no log beside it; returns its version. `place` is what messages call it. */
function checkCopy(copy: string, place: string): number {
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
    return Number(row?.["version"]);
  } catch (error) {
    throw storeError(error, place);
  } finally {
    database.close();
  }
}

async function publish(copy: string, target: string): Promise<void> {
  try {
    // Unlike a rename it never replaces a file that another process made meanwhile.
    await link(copy, target);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") throw alreadyThere(target);
    // The file system has no links.
    await rename(copy, target);
  }
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
