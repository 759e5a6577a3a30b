import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { FlatlineError } from "../../base/errors.ts";
import { minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { StoreProblem } from "../store.ts";
import { applicationId, damageCodes, databaseUri, resultCodeOf, unusableMeaning } from "./sqlite-file.ts";

// A single failure may be temporary; repeated failures over seconds are not.
const manyFailures = 3;
const lastingMs = 5 * secondMs;
// Longer than a run's interval of a minute, so that a store on which nothing is committed stays failing.
const rememberedMs = 2 * minuteMs;

const lost = "everything that flatline writes from now on is lost when it ends";
const stop = "Stop flatline and restore the store from a backup";
// A deleted log soon exists again: the next process that opens the store creates it.
const deleted = `store was deleted: ${lost}. ${stop}, or restart it to continue with the remaining data`;
const replaced = `the store was replaced by another file: ${lost}. ${stop}, or restart it to continue with that file`;
const orEmpty = "or move it away to start with an empty store";
const damaged = `the store is damaged, its file was overwritten or truncated: ${lost}. ${stop}, ${orEmpty}`;
const logDamaged = `the store is damaged, its write-ahead log was overwritten or truncated: ${lost}. ${stop}, ${orEmpty}`;

/** Failures without a pause and without a commit between them. */
interface Failures {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** SQLite's primary result code of the last failure. */
  readonly code: number | null;
}

/**
 * Checks that the open database is still the file at its path, and usable. SQLite silently continues with a deleted file,
 * and with cached pages of an overwritten one.
 */
export class SqliteHealth {
  readonly #path: string;
  readonly #clock: Clock;
  /** Device and inode of each open file. An inode is not reused while it is open. */
  readonly #open = new Map<string, string>();
  #failures: Failures | null = null;
  #wasOurs = false;
  /** Size and time of the last write of the file that the last look found damaged; null if it found none. */
  #damaged: string | null = null;
  /** The same of both files when the last look found them whole; null if it did not. */
  #whole: string | null = null;

  constructor({ path, clock }: { readonly path: string; readonly clock: Clock }) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Records that a statement failed because the store cannot be used. */
  note({ cause }: FlatlineError): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#recentFailures();
    this.#failures = {
      count: (before?.count ?? 0) + 1,
      firstMs: before?.firstMs ?? nowMs,
      lastMs: nowMs,
      code: resultCodeOf(cause),
    };
  }

  /** Records that something was committed: there is room again. That does not repair damage. */
  noteCommit(): void {
    if (!damageCodes.includes(this.#failures?.code ?? null)) this.#failures = null;
  }

  /** Records the open files; called right after opening. */
  opened(): void {
    for (const file of this.#files()) this.#open.set(file, identityOf(file));
  }

  /**
   * Costs four stats, and reads the files only when something was written to them since the last look that found them whole: an
   * idle daemon pays for little else. Synchronous, because the file system's threads cost more than the stats.
   */
  look(): StoreProblem | null {
    const written = this.#files().map(writtenOf).join(", ");
    return this.#lostFile() ?? (written === this.#whole ? null : this.#readFiles(written)) ?? this.#failing();
  }

  #readFiles(written: string): StoreProblem | null {
    const problem = this.#damagedLog() ?? this.#damage();
    this.#whole = problem === null && this.#damaged === null ? written : null;
    return problem;
  }

  #files(): readonly string[] {
    return [this.#path, `${this.#path}-wal`];
  }

  #lostFile(): StoreProblem | null {
    for (const file of this.#files()) {
      const found = identityOf(file);
      const open = this.#open.get(file) ?? "";
      // The log is created by the first statement; if the store is a link, it is beside the target.
      const isKnown = open !== "" && open !== unknownIdentity;
      if (!isKnown) this.#open.set(file, found);
      if (!isKnown || found === open || found === unknownIdentity) continue;
      // SQLite itself deletes the log of an empty database, when the next connection reads.
      if (file !== this.#path && isEmpty(this.#path)) return this.#problem("damaged", damaged);
      if (file !== this.#path) return this.#problem("deleted", `the write-ahead log of the ${deleted}`);
      return found === "" ? this.#problem("deleted", `the ${deleted}`) : this.#problem("replaced", replaced);
    }
    return null;
  }

  /**
   * SQLite knows the log's pages from the memory that its connections share, and reads and copies them without a look at what
   * the log begins with. Asked by a connection of its own: one that is amid a transaction cannot say.
   */
  #damagedLog(): StoreProblem | null {
    let database: DatabaseSync | null = null;
    try {
      database = new DatabaseSync(databaseUri(this.#path, "mode=ro"), { readOnly: true });
      const counted = database.prepare("pragma wal_checkpoint(noop)");
      const pages = Number(counted.get()?.["log"]);
      const log = pages > 0 ? beginningOf(`${this.#path}-wal`) : null;
      // Another process may have begun the log anew meanwhile.
      if (log === null || Number(counted.get()?.["log"]) !== pages) return null;
      const isWhole = log.isValid && log.bytes >= logHeaderBytes + pages * (frameHeaderBytes + log.pageBytes);
      return isWhole ? null : this.#problem("damaged", logDamaged);
    } catch (error) {
      // A locked file or a lack of descriptors proves nothing. Pages that are missing beyond a log's end are an error of the
      // disk, and foreign content in them is damage.
      const log = beginningOf(`${this.#path}-wal`);
      const codes = log?.bytes === 0 ? [ioErrorCode] : [ioErrorCode, ...damageCodes];
      const isBroken = log?.isValid === false && codes.includes(resultCodeOf(error));
      return isBroken ? this.#problem("damaged", logDamaged) : null;
    } finally {
      database?.close();
    }
  }

  /**
   * Two looks must find the same damaged file: a checkpoint of another thread or process writes the first page, with the number
   * of pages, before those that are new, and after a large import it may take longer than the time between two looks.
   */
  #damage(): StoreProblem | null {
    const found = this.#isDamaged() ? writtenOf(this.#path) : null;
    const isSame = found !== null && found === this.#damaged;
    this.#damaged = found;
    return isSame ? this.#problem("damaged", damaged) : null;
  }

  /** Reads the first page from the file, bypassing the write-ahead log and SQLite's cache. */
  #isDamaged(): boolean {
    let database: DatabaseSync | null = null;
    try {
      database = new DatabaseSync(databaseUri(this.#path, "mode=ro&immutable=1"), { readOnly: true });
      const found = database.prepare("pragma application_id").get()?.["application_id"];
      // Until the first checkpoint, everything is in the log.
      if (found === 0 && !this.#wasOurs) return false;
      this.#wasOurs = true;
      return found !== applicationId;
    } catch (error) {
      // A lack of descriptors or memory proves nothing.
      return damageCodes.includes(resultCodeOf(error));
    } finally {
      database?.close();
    }
  }

  #failing(): StoreProblem | null {
    const failures = this.#recentFailures();
    if (failures === null || failures.count < manyFailures) return null;
    if (failures.lastMs - failures.firstMs < lastingMs) return null;
    if (damageCodes.includes(failures.code)) return this.#problem("damaged", damaged);
    return this.#problem(
      "failing",
      `the store cannot be used: ${unusableMeaning(failures.code) ?? "its statements fail"}`,
    );
  }

  #recentFailures(): Failures | null {
    const isRecent = this.#failures !== null && this.#clock.monotonicMs() - this.#failures.lastMs < rememberedMs;
    return isRecent ? this.#failures : null;
  }

  #problem(kind: StoreProblem["kind"], message: string): StoreProblem {
    return { kind, place: this.#path, message };
  }
}

const unknownIdentity = "unknown";

/** Returns device and inode; "" if the file does not exist. */
function identityOf(file: string): string {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : unknownIdentity;
  }
}

// SQLITE_IOERR, also of a read beyond the end.
const ioErrorCode = 10;
// https://sqlite.org/fileformat2.html#walformat
const logMagics: readonly number[] = [0x37_7f_06_82, 0x37_7f_06_83];
const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/** Returns what a write-ahead log begins with, and its size; null when it cannot be read. */
function beginningOf(
  log: string,
): { readonly isValid: boolean; readonly pageBytes: number; readonly bytes: number } | null {
  let file: number | null = null;
  try {
    // SQLite holds its locks on the other two files; a close of this one releases none.
    file = openSync(log, "r");
    const header = Buffer.alloc(logHeaderBytes);
    readSync(file, header, 0, logHeaderBytes, 0);
    const isValid = logMagics.includes(header.readUInt32BE(0));
    return { isValid, pageBytes: header.readUInt32BE(8), bytes: fstatSync(file).size };
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Returns a text that changes with each write of the file. */
function writtenOf(file: string): string {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? "" : `${status.size} ${status.mtimeNs}`;
}

function isEmpty(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0;
}
