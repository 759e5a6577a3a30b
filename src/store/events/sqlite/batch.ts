import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

// Rows per statement: a call of node:sqlite costs about as much as a row in SQLite (measured 2026-11: 32 rows take half the
// time).
const batchRows = 32;

/** Inserts rows of `width` values in batches; `sql` builds the statement for a list of `(?, ?), (?, ?)` rows. */
export class BatchInsert {
  readonly #width: number;
  readonly #many: StatementSync;
  readonly #one: StatementSync;
  readonly #values: SQLInputValue[];
  #filled = 0;

  constructor(db: DatabaseSync, width: number, sql: (rows: string) => string) {
    this.#width = width;
    this.#many = db.prepare(sql(placeholders(width, batchRows)));
    this.#one = db.prepare(sql(placeholders(width, 1)));
    this.#values = Array.from({ length: width * batchRows }, () => null);
  }

  /** Adds one value; writes the rows when a batch is full. */
  put(value: SQLInputValue): void {
    this.#values[this.#filled++] = value;
    if (this.#filled < this.#values.length) return;
    this.#many.run(...this.#values);
    this.#filled = 0;
  }

  /** Writes the remaining rows. */
  flush(): void {
    for (let start = 0; start < this.#filled; start += this.#width) {
      this.#one.run(...this.#values.slice(start, start + this.#width));
    }
    this.#filled = 0;
  }

  /** Drops the remaining rows, because their transaction was rolled back. */
  discard(): void {
    this.#filled = 0;
  }
}

/** Looks up rows of `width` values in batches; the first value of each row identifies it in the answer. */
export class BatchLookup {
  readonly #width: number;
  readonly #many: StatementSync;
  readonly #one: StatementSync;
  readonly #values: SQLInputValue[] = [];

  constructor(db: DatabaseSync, width: number, sql: (rows: string) => string) {
    this.#width = width;
    this.#many = db.prepare(sql(placeholders(width, batchRows)));
    this.#one = db.prepare(sql(placeholders(width, 1)));
  }

  put(value: SQLInputValue): void {
    this.#values.push(value);
  }

  /** Drops the remaining rows. */
  discard(): void {
    this.#values.length = 0;
  }

  get isFull(): boolean {
    return this.#values.length === this.#width * batchRows;
  }

  /** Returns the matches of the rows added since the last call. */
  find(): Record<string, unknown>[] {
    const values = this.#values.splice(0);
    if (values.length === this.#width * batchRows) return this.#many.all(...values);
    const found: Record<string, unknown>[] = [];
    for (let start = 0; start < values.length; start += this.#width) {
      found.push(...this.#one.all(...values.slice(start, start + this.#width)));
    }
    return found;
  }
}

function placeholders(width: number, rows: number): string {
  const row = `(${Array.from({ length: width }, () => "?").join(", ")})`;
  return Array.from({ length: rows }, () => row).join(", ");
}
