import { closeSync, openSync, readSync, statSync, type BigIntStats } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { FlatlineError } from "../../base/errors.ts";
import type { StoreProblem } from "../store.ts";
import { lockPathOf } from "./file-lock.ts";
import { damageCodes, databaseUri, resultCodeOf, unusableMeaning } from "./sqlite-file.ts";

// A single failure may be temporary.
const manyFailures = 3;
// SQLITE_IOERR, also of a read beyond the end.
const ioErrorCode = 10;
// https://sqlite.org/fileformat2.html#walformat
const logHeaderBytes = 32;
const frameHeaderBytes = 24;
const [headerSaltAt, frameSaltAt, saltBytes] = [16, 8, 8];

const lost = "everything that flatline writes from now on is lost when it ends";
const stop = "Stop flatline and restore the store from a backup";
// A deleted log soon exists again: the next process that opens the store creates it.
const deleted = `store was deleted: ${lost}. ${stop}, or restart it to continue with the remaining data`;
const replaced = `the store was replaced by another file: ${lost}. ${stop}, or restart it to continue with that file`;
const unlocked = "the lock of the store was deleted: another process may write to it, too. Restart flatline";
const orEmpty = "or move it away to start with an empty store";
const damagedBy = (what: string): string =>
  `the store is damaged, its ${what} was overwritten or truncated: ${lost}. ${stop}, ${orEmpty}`;

/**
 * Checks that the open database is still the file at its path, and usable: SQLite silently continues with a deleted
 * file, and with pages that it has in memory. It finds overwritten pages itself when it reads them.
 */
export class SqliteHealth {
  readonly #path: string;
  readonly #log: string;
  readonly #lock: string;
  /** Each file as it was last found in order. An inode is not reused while it is open. */
  readonly #seen = new Map<string, BigIntStats>();
  /** How many pages of the log were found whole, and the log's salt, which changes when the log begins anew. */
  #whole = { salt: "", pages: 0 };
  /** Statements that failed since a look last wrote something. */
  #inARow = 0;
  /** SQLite's primary result code of the last failure. */
  #code: number | null = null;
  #failures = 0;

  constructor(path: string) {
    this.#path = path;
    this.#log = `${path}-wal`;
    this.#lock = lockPathOf(path);
  }

  /** How many statements have failed; each may have been done all the same. */
  get failures(): number {
    return this.#failures;
  }

  /** Records that a statement failed because the store cannot be used. */
  note({ cause }: FlatlineError): void {
    this.#failures++;
    this.#inARow++;
    this.#code = resultCodeOf(cause);
  }

  /**
   * Costs three stats of files, and a question to SQLite if the log has changed. After failed statements it also calls
   * `write`: there may be room again. That does not repair damage.
   */
  async look(write: () => Promise<void>): Promise<StoreProblem | null> {
    const found = this.#lostFile() ?? this.#failing();
    if (found?.kind !== "failing") return found;
    const failures = this.#failures;
    return write().then(
      () => {
        this.#inARow = 0;
        return null;
      },
      () => {
        this.#failures = failures;
        return found;
      },
    );
  }

  #lostFile(): StoreProblem | null {
    for (const file of [this.#path, this.#log, this.#lock]) {
      const known = this.#seen.get(file);
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (found !== undefined && (known === undefined || known.ino === found.ino)) {
        if (file === this.#path && found.size < (known?.size ?? 0n)) return this.#problem("damaged", damagedBy("file"));
        if (file === this.#log && found.mtimeNs !== known?.mtimeNs && this.#isLogCut())
          return this.#problem("damaged", damagedBy("write-ahead log"));
        this.#seen.set(file, found);
      } else if (known !== undefined) {
        if (file === this.#lock) return this.#problem("deleted", unlocked);
        if (file === this.#log) return this.#problem("deleted", `the write-ahead log of the ${deleted}`);
        return found === undefined ? this.#problem("deleted", `the ${deleted}`) : this.#problem("replaced", replaced);
      }
    }
    return null;
  }

  /** SQLite's connections share what they know of the log's pages. An own connection answers during a transaction. */
  #isLogCut(): boolean {
    try {
      using database = new DatabaseSync(databaseUri(this.#path, "mode=ro"), { readOnly: true });
      const pages = Number(database.prepare("pragma wal_checkpoint(noop)").get()?.["log"]);
      const pageBytes = Number(database.prepare("pragma page_size").get()?.["page_size"]);
      return pages > 0 && !this.#isLogWhole(pages, frameHeaderBytes + pageBytes);
    } catch (error) {
      // A lack of descriptors or memory proves nothing.
      return [ioErrorCode, ...damageCodes].includes(resultCodeOf(error));
    }
  }

  /** After a cut the next page is written where it belongs, which leaves a hole. Each page has the log's salt. */
  #isLogWhole(pages: number, frameBytes: number): boolean {
    const log = openSync(this.#log, "r");
    try {
      const saltAt = (at: number): string => {
        const bytes = Buffer.alloc(saltBytes);
        readSync(log, bytes, 0, saltBytes, at);
        return bytes.toString("hex");
      };
      const salt = saltAt(headerSaltAt);
      if (/^0+$/.test(salt)) return false;
      // A cut takes the last page: if that is whole, so are those before it.
      const first = this.#whole.salt === salt ? Math.max(0, Math.min(this.#whole.pages, pages) - 1) : 0;
      for (let page = first; page < pages; page++)
        if (saltAt(logHeaderBytes + page * frameBytes + frameSaltAt) !== salt) return false;
      this.#whole = { salt, pages };
      return true;
    } finally {
      closeSync(log);
    }
  }

  #failing(): StoreProblem | null {
    if (this.#inARow < manyFailures) return null;
    if (damageCodes.includes(this.#code)) return this.#problem("damaged", damagedBy("file"));
    const meaning = unusableMeaning(this.#code) ?? "its statements fail";
    return this.#problem("failing", `the store cannot be used: ${meaning}`);
  }

  #problem(kind: StoreProblem["kind"], message: string): StoreProblem {
    return { kind, place: this.#path, message };
  }
}
