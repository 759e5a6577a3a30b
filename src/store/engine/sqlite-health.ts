import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import type { FlatlineError } from "../../base/errors.ts";
import { minuteMs, secondMs, type Clock } from "../../base/time.ts";
import type { StoreProblem } from "../store.ts";
import { applicationId, damageCodes, databaseUri, resultCodeOf, unusableMeaning } from "./sqlite-file.ts";

// A statement that fails once may have met something that passes; what fails so often, for so long, does not.
const manyFailures = 3;
const lastingMs = 5 * secondMs;
// A run every minute keeps a store failing that lets only some statements fail; a disk that has room again is well soon.
const rememberedMs = 2 * minuteMs;
// A checkpoint of another process may write the first page while it is read.
const damagedLooks = 2;

const lost = "what flatline notes from now on is lost when it ends";
const stop = "Stop flatline and restore the store from a backup";
// A log that was deleted is soon there again: the next one who opens the store makes it.
const deleted = `store was deleted: ${lost}. ${stop}, or restart it to begin with what is left`;
const replaced = `another file has taken the place of the store: ${lost}. ${stop}, or restart it to go on with that file`;
const damaged = `the store is damaged, its file was overwritten or cut off: ${lost}. ${stop}, or move it away to begin anew`;

/** One after the other, without a pause in which nothing failed. */
interface Failures {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** SQLite's primary result code, of the last one. */
  readonly code: number | null;
}

/**
 * Whether the database that is open is still the one at its path, and can be used. SQLite goes on with a file that was deleted,
 * and with pages in memory of one that was overwritten, and says nothing.
 */
export class SqliteHealth {
  readonly #path: string;
  readonly #clock: Clock;
  /** What is open, by file: device and inode. An inode is given to no other file while it is open. */
  readonly #open = new Map<string, string>();
  #failures: Failures | null = null;
  #wasOurs = false;
  #damaged = 0;

  constructor({ path, clock }: { readonly path: string; readonly clock: Clock }) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Notes that a statement failed because the store cannot be used. */
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

  /** Notes what is open; to be called when it has just been opened. */
  async opened(): Promise<void> {
    for (const file of this.#files()) this.#open.set(file, await identityOf(file));
  }

  /** Costs two looks at files and one read of a page. */
  async look(): Promise<StoreProblem | null> {
    return (await this.#lostFile()) ?? this.#damage() ?? this.#failing();
  }

  #files(): readonly string[] {
    return [this.#path, `${this.#path}-wal`];
  }

  async #lostFile(): Promise<StoreProblem | null> {
    for (const file of this.#files()) {
      const found = await identityOf(file);
      const open = this.#open.get(file) ?? "";
      // The log is made by the first statement, and stands elsewhere where the store is a link.
      const isKnown = open !== "" && open !== unknownIdentity;
      if (!isKnown) this.#open.set(file, found);
      if (!isKnown || found === open || found === unknownIdentity) continue;
      if (file !== this.#path) return this.#problem("deleted", `the write-ahead log of the ${deleted}`);
      return found === "" ? this.#problem("deleted", `the ${deleted}`) : this.#problem("replaced", replaced);
    }
    return null;
  }

  #damage(): StoreProblem | null {
    this.#damaged = this.#isDamaged() ? this.#damaged + 1 : 0;
    return this.#damaged < damagedLooks ? null : this.#problem("damaged", damaged);
  }

  /** Reads the first page from the file itself, past the write-ahead log and what SQLite has in memory. */
  #isDamaged(): boolean {
    let database: DatabaseSync | null = null;
    try {
      database = new DatabaseSync(databaseUri(this.#path, "mode=ro&immutable=1"), { readOnly: true });
      const found = database.prepare("pragma application_id").get()?.["application_id"];
      // Until the first checkpoint everything is in the log.
      if (found === 0 && !this.#wasOurs) return false;
      this.#wasOurs = true;
      return found !== applicationId;
    } catch (error) {
      // No descriptor, no memory: nothing is known then.
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

/** Device and inode; "" when there is no such file. */
async function identityOf(file: string): Promise<string> {
  try {
    const { dev, ino } = await stat(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "" : unknownIdentity;
  }
}
