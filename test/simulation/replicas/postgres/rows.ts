import type { Row, Value } from "./syntax.ts";

/** The tables of the model; their rows are found by `key`, which is unique. */
export const tables: Readonly<Record<string, TableShape>> = {
  owners: { columns: ["owner_id", "epoch", "lease_until_ms", "seq"], key: ["owner_id"], identity: "owner_id" },
  shards: { columns: ["shard", "owner_id"], key: ["shard"] },
  checks: {
    columns:
      "check_id check_name slug owner_id seq due_at_ms is_asked severity_since_ms report last_result kept_at_ms kept_digest".split(
        " ",
      ),
    key: ["check_name", "slug"],
    identity: "check_id",
  },
  runs: {
    columns:
      "check_id at_ms evaluated_at_ms severity current_count baseline_count expected_count window_hours baseline_days".split(
        " ",
      ),
    key: ["check_id", "at_ms"],
  },
  hours: {
    columns: ["hour", "check_id", "last_at_ms", "last_severity", "last_count", "runs"],
    key: ["hour", "check_id"],
  },
  check_reports: { columns: ["check_id", "at_ms", "severity", "report"], key: ["check_id", "at_ms"] },
  run_requests: { columns: ["request_id", "check_id", "asked_at_ms"], key: ["request_id"], identity: "request_id" },
  // Stays empty: the model knows no statement that writes to it.
  alerts: { columns: ["id", "check_name", "slug", "kind", "state", "body"], key: ["id"] },
};

export interface TableShape {
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** The column that gets the next number. */
  readonly identity?: string;
}

/** Who locks rows: a transaction, known by who it waits for. */
export interface Locker {
  readonly id: number;
  /** The row that it waits for. */
  waitsFor: Slot | null;
  readonly held: Set<Slot>;
}

export interface Waiter {
  readonly locker: Locker;
  readonly mode: LockMode;
  readonly grant: () => void;
}

export type LockMode = "share" | "exclusive";

/** A row by its key: its committed versions, what a transaction has made of it, and who locks it. */
export class Slot {
  readonly table: string;
  readonly key: string;
  /** The oldest first; null: it does not exist. `commit` counts the commits of the database. */
  readonly versions: { readonly commit: number; readonly row: Row | null }[] = [];
  /** Of `holder`. */
  pending: { readonly row: Row | null } | null = null;
  holder: Locker | null = null;
  readonly sharers = new Set<Locker>();
  readonly waiting: Waiter[] = [];

  constructor(table: string, key: string) {
    this.table = table;
    this.key = key;
  }

  get newest(): { readonly commit: number; readonly row: Row | null } {
    return this.versions.at(-1) ?? { commit: 0, row: null };
  }

  /** The row as `locker` sees it by a snapshot. */
  seen(locker: Locker, snapshot: number): Row | null {
    if (this.pending !== null && this.holder === locker) return this.pending.row;
    return this.versions.findLast(({ commit }) => commit <= snapshot)?.row ?? null;
  }

  isFree(locker: Locker, mode: LockMode): boolean {
    if (this.holder !== null && this.holder !== locker) return false;
    return mode === "share" || this.sharers.size === 0 || (this.sharers.size === 1 && this.sharers.has(locker));
  }

  hold(locker: Locker, mode: LockMode): void {
    if (mode === "exclusive") this.holder = locker;
    else if (this.holder !== locker) this.sharers.add(locker);
    locker.held.add(this);
  }

  /** Ends a locker's locks, and gives them to those who wait, in order. */
  release(locker: Locker): void {
    if (this.holder === locker) {
      this.holder = null;
      this.pending = null;
    }
    this.sharers.delete(locker);
    this.#admit();
  }

  leave(waiter: Waiter): void {
    const index = this.waiting.indexOf(waiter);
    if (index >= 0) this.waiting.splice(index, 1);
    this.#admit();
  }

  /** Those that a waiter waits for: who has the row, and who came before it. */
  blockers(locker: Locker): Locker[] {
    const before = this.waiting.findIndex((one) => one.locker === locker);
    return [
      ...(this.holder === null ? [] : [this.holder]),
      ...this.sharers,
      ...this.waiting.slice(0, Math.max(0, before)).map((one) => one.locker),
    ].filter((one) => one !== locker);
  }

  #admit(): void {
    for (let next = this.waiting[0]; next?.mode !== undefined; next = this.waiting[0]) {
      if (!this.isFree(next.locker, next.mode)) return;
      this.waiting.shift();
      this.hold(next.locker, next.mode);
      next.grant();
    }
  }
}

/** The rows of one table. */
export class Table {
  readonly #name: string;
  readonly #shape: TableShape;
  readonly #slots = new Map<string, Slot>();
  #order: Slot[] | null = null;
  #number = 0;

  constructor(name: string, shape: TableShape) {
    this.#name = name;
    this.#shape = shape;
  }

  /** In the order of the keys. */
  slots(): readonly Slot[] {
    this.#order ??= [...this.#slots.values()].toSorted((left, right) => (left.key < right.key ? -1 : 1));
    return this.#order;
  }

  /** The slot of a row, which may be empty. */
  slotOf(row: Row): Slot {
    const key = this.keyOf(row);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = new Slot(this.#name, key);
    this.#slots.set(key, slot);
    this.#order = null;
    return slot;
  }

  /** Forgets a slot that has nothing in it any more. */
  forget(slot: Slot): void {
    if (this.#slots.get(slot.key) !== slot) return;
    this.#slots.delete(slot.key);
    this.#order = null;
  }

  keyOf(row: Row): string {
    // Numbers in the order of their size.
    const part = (value: Value | undefined): string =>
      typeof value === "number" ? String(value).padStart(16, "0") : String(value);
    return this.#shape.key.map((column) => part(row[column])).join("\n");
  }

  /** A row with every column; the identity takes the next number, which no rollback gives back. */
  rowOf(given: Readonly<Record<string, Value>>): Row {
    const row: Record<string, Value> = {};
    for (const column of this.#shape.columns) row[column] = given[column] ?? null;
    const { identity } = this.#shape;
    if (identity !== undefined && given[identity] === undefined) row[identity] = ++this.#number;
    return row;
  }
}
