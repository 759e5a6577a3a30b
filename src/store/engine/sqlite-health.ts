import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { FlatlineError } from "../../base/errors.ts";
import { minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { StoreProblem } from "../store.ts";
import { applicationId, damageCodes, databaseUri, resultCodeOf, unusableMeaning } from "./sqlite-file.ts";

// A single failure may be temporary; repeated failures over seconds are not.
const manyFailures = 3;
const lastingMs = 5 * secondMs;
// Longer than a run's interval of a minute, so that partial failures keep the store failing; short enough for a disk that
// has room again.
const rememberedMs = 2 * minuteMs;

const lost = "everything that flatline writes from now on is lost when it ends";
const stop = "Stop flatline and restore the store from a backup";
// A deleted log soon exists again: the next process that opens the store creates it.
const deleted = `store was deleted: ${lost}. ${stop}, or restart it to continue with the remaining data`;
const replaced = `the store was replaced by another file: ${lost}. ${stop}, or restart it to continue with that file`;
const damaged = `the store is damaged, its file was overwritten or truncated: ${lost}. ${stop}, or move it away to start with an empty store`;

/** Consecutive failures, without a pause. */
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

  /** Records the open files; called right after opening. */
  async opened(): Promise<void> {
    for (const file of this.#files()) this.#open.set(file, await identityOf(file));
  }

  /** Costs two stats and the read of one page. */
  async look(): Promise<StoreProblem | null> {
    return (await this.#lostFile()) ?? (await this.#damage()) ?? this.#failing();
  }

  #files(): readonly string[] {
    return [this.#path, `${this.#path}-wal`];
  }

  async #lostFile(): Promise<StoreProblem | null> {
    for (const file of this.#files()) {
      const found = await identityOf(file);
      const open = this.#open.get(file) ?? "";
      // The log is created by the first statement; if the store is a link, it is beside the target.
      const isKnown = open !== "" && open !== unknownIdentity;
      if (!isKnown) this.#open.set(file, found);
      if (!isKnown || found === open || found === unknownIdentity) continue;
      // SQLite itself deletes the log of an empty database, when the next connection reads.
      if (file !== this.#path && (await isEmpty(this.#path))) return this.#problem("damaged", damaged);
      if (file !== this.#path) return this.#problem("deleted", `the write-ahead log of the ${deleted}`);
      return found === "" ? this.#problem("deleted", `the ${deleted}`) : this.#problem("replaced", replaced);
    }
    return null;
  }

  /**
   * Two looks must find the same damaged file: a checkpoint of another thread or process writes the first page, with the number
   * of pages, before those that are new, and after a large import it may take longer than the time between two looks.
   */
  async #damage(): Promise<StoreProblem | null> {
    const found = this.#isDamaged() ? await writtenOf(this.#path) : null;
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
      // Out of descriptors or memory: no conclusion.
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
async function identityOf(file: string): Promise<string> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : unknownIdentity;
  }
}

/** Returns a text that changes with each write of the file. */
async function writtenOf(file: string): Promise<string> {
  try {
    const { size, mtimeNs } = await stat(file, { bigint: true });
    return `${size} ${mtimeNs}`;
  } catch {
    return "";
  }
}

async function isEmpty(file: string): Promise<boolean> {
  try {
    return (await stat(file)).size === 0;
  } catch {
    return false;
  }
}
