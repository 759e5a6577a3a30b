import { evaluate, isWanted, outputRow, selectRows, type Reading } from "./evaluate.ts";
import { Table, tables, type Locker, type LockMode, type Slot } from "./rows.ts";
import type { Delete, Expression, Insert, Row, Select, Statement, Update, Value } from "./syntax.ts";

/** An error of the server, with its SQLSTATE. */
export class PostgresError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A transaction, or a statement that is one. */
export interface Transaction extends Locker {
  readonly isolation: "read committed" | "repeatable read";
  /** REPEATABLE READ: of its first statement. */
  snapshot: number | null;
}

/** A row that a commit changed. */
export interface Change {
  readonly table: string;
  readonly before: Row | null;
  readonly after: Row | null;
}

export interface Answer {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: readonly Row[];
}

export interface Call {
  readonly transaction: Transaction;
  readonly parameters: readonly unknown[];
  /** Functions: the time, advisory locks. */
  readonly call: Reading["call"];
  /** Waits until the row is free; rejects when it does not get it. */
  readonly lock: (slot: Slot, mode: LockMode) => Promise<void>;
}

/** A running statement. */
interface Run extends Call {
  readonly snapshot: number;
  readonly reading: Reading;
}

/**
 * Rows with their versions, as PostgreSQL keeps them: what a statement sees is decided by its snapshot, what it changes by row
 * locks (https://www.postgresql.org/docs/current/transaction-iso.html).
 */
export class ModelDatabase {
  readonly #tables = new Map(Object.entries(tables).map(([name, shape]) => [name, new Table(name, shape)]));
  readonly #open = new Set<{ readonly snapshot: number | null }>();
  #commits = 0;

  /** Runs a statement; what it changes is pending until `commit`. */
  async run(statement: Statement, call: Call): Promise<Answer> {
    const { transaction } = call;
    const isFrozen = transaction.isolation === "repeatable read";
    const snapshot = (isFrozen ? transaction.snapshot : null) ?? this.#commits;
    if (isFrozen) {
      transaction.snapshot = snapshot;
      this.#open.add(transaction);
    }
    const view = { snapshot };
    this.#open.add(view);
    try {
      const first = { ...call, snapshot, reading: this.#reading(call, snapshot) };
      if (statement.with === null) return await this.#body(statement, first);
      const { name, query } = statement.with;
      const rows = await this.#select(query, first);
      return await this.#body(statement, { ...first, reading: withRows(first.reading, name, rows) });
    } finally {
      this.#open.delete(view);
    }
  }

  commit(transaction: Transaction): Change[] {
    const written = [...transaction.held].filter((slot) => slot.holder === transaction && slot.pending !== null);
    this.#open.delete(transaction);
    if (written.length > 0) this.#commits++;
    const oldest = Math.min(this.#commits, ...[...this.#open].map(({ snapshot }) => snapshot ?? Infinity));
    const changes = written.map((slot) => {
      const change = { table: slot.table, before: slot.newest.row, after: slot.pending?.row ?? null };
      slot.versions.push({ commit: this.#commits, row: change.after });
      const needed = slot.versions.findLastIndex(({ commit }) => commit <= oldest);
      if (needed > 0) slot.versions.splice(0, needed);
      return change;
    });
    this.#release(transaction);
    return changes;
  }

  rollback(transaction: Transaction): void {
    this.#open.delete(transaction);
    this.#release(transaction);
  }

  /** The committed rows of a table. */
  committed(table: string): Row[] {
    return this.#table(table)
      .slots()
      .flatMap(({ newest: { row } }) => (row === null ? [] : [row]));
  }

  /** Puts rows there as a migration does. */
  fill(table: string, rows: readonly Readonly<Record<string, Value>>[]): void {
    const into = this.#table(table);
    for (const row of rows) into.slotOf(into.rowOf(row)).versions.push({ commit: 0, row: into.rowOf(row) });
  }

  #release(transaction: Transaction): void {
    for (const slot of transaction.held) {
      slot.release(transaction);
      const { newest, holder, sharers, waiting } = slot;
      const isUsed = newest.row !== null || holder !== null || sharers.size > 0 || waiting.length > 0;
      if (!isUsed && slot.versions.length <= 1) this.#table(slot.table).forget(slot);
    }
    transaction.held.clear();
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`the model of PostgreSQL has no table ${name}`);
    return table;
  }

  #reading({ transaction, parameters, call }: Call, snapshot: number): Reading {
    return {
      parameters,
      call,
      rows: (name) =>
        this.#table(name)
          .slots()
          .map((slot) => slot.seen(transaction, snapshot))
          .filter((row) => row !== null),
    };
  }

  async #body(statement: Statement, run: Run): Promise<Answer> {
    switch (statement.kind) {
      case "select": {
        const rows = await this.#select(statement, run);
        return { command: "SELECT", rowCount: rows.length, rows };
      }
      case "insert":
        return this.#insert(statement, run);
      case "update":
        return this.#update(statement, run);
      case "delete":
        return this.#delete(statement, run);
      case "begin":
      case "commit":
      case "rollback":
      default:
        throw new Error(`the model of PostgreSQL runs no ${statement.kind} here`);
    }
  }

  async #select(query: Select, run: Run): Promise<Row[]> {
    if (!query.isLocking) return selectRows(query, run.reading);
    const { from } = query;
    if (from === null || query.join !== null || query.limit !== null || query.orderBy.length > 0)
      throw new Error("the model of PostgreSQL does not lock the rows of such a query");
    const rows: Row[] = [];
    for await (const { row } of this.#locked(from, { mode: "share", where: query.where }, run))
      rows.push(outputRow(query.outputs, { tables: [[from, row]], outer: null }, run.reading));
    return rows;
  }

  async #update({ table, set, where }: Update, run: Run): Promise<Answer> {
    let rowCount = 0;
    for await (const { slot, row } of this.#locked(table, { mode: "exclusive", where }, run)) {
      this.#write(slot, changed(row, set, [[table, row]], run), run);
      rowCount++;
    }
    return { command: "UPDATE", rowCount, rows: [] };
  }

  async #delete({ table, where }: Delete, run: Run): Promise<Answer> {
    let rowCount = 0;
    for await (const { slot } of this.#locked(table, { mode: "exclusive", where }, run)) {
      slot.pending = { row: null };
      rowCount++;
    }
    return { command: "DELETE", rowCount, rows: [] };
  }

  async #insert({ table, columns, rows: given, onConflict, returning }: Insert, run: Run): Promise<Answer> {
    const { reading } = run;
    const into = this.#table(table);
    const cells =
      "kind" in given
        ? (await this.#select(given, run)).map((row) => Object.values(row))
        : given.map((row) => row.map((one) => evaluate(one, { tables: [], outer: null }, reading)));
    const inserted: Row[] = [];
    for (const values of cells) {
      const row = into.rowOf(Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null])));
      const { slot, existing } = await this.#placeFor(table, row, run);
      if (existing === null) {
        await run.lock(slot, "exclusive");
        slot.pending = { row };
        inserted.push(row);
        continue;
      }
      if (onConflict === null) throw new PostgresError("23505", "duplicate key value violates unique constraint");
      this.#requireUnchanged(slot, run);
      if (onConflict.set.length === 0) continue;
      await run.lock(slot, "exclusive");
      this.#requireUnchanged(slot, run);
      const current = slot.pending?.row ?? slot.newest.row;
      if (current === null) throw new Error("the model of PostgreSQL lost a row that it had locked");
      const both = [[table, current] as const, ["excluded", row] as const];
      if (!isWanted(onConflict.where, { tables: both, outer: null }, reading)) continue;
      const next = changed(current, onConflict.set, both, run);
      this.#write(slot, next, run);
      inserted.push(next);
    }
    const rows = returning.length === 0 ? [] : inserted.map((row) => output(returning, table, row, reading));
    return { command: "INSERT", rowCount: inserted.length, rows };
  }

  /** Where a row with this key is or would be. One that another transaction writes is waited for. */
  async #placeFor(
    table: string,
    row: Row,
    { transaction, lock }: Run,
  ): Promise<{ readonly slot: Slot; readonly existing: Row | null }> {
    for (;;) {
      const slot = this.#table(table).slotOf(row);
      const isOwn = slot.holder === transaction;
      if (slot.pending === null || isOwn) return { slot, existing: (slot.pending ?? slot.newest).row };
      await lock(slot, "exclusive");
      // It waited for the end of the other transaction only.
      slot.release(transaction);
      transaction.held.delete(slot);
    }
  }

  /** The wanted rows, each locked, and looked at again when it was changed meanwhile. */
  async *#locked(
    table: string,
    { mode, where }: { readonly mode: LockMode; readonly where: Expression | null },
    { transaction, snapshot, reading, lock }: Run,
  ): AsyncGenerator<{ readonly slot: Slot; readonly row: Row }> {
    const isIt = (row: Row): boolean => isWanted(where, { tables: [[table, row]], outer: null }, reading);
    const found = this.#table(table)
      .slots()
      .flatMap((slot) => {
        const row = slot.seen(transaction, snapshot);
        return row !== null && isIt(row) ? [{ slot, row }] : [];
      });
    for (const { slot, row } of found) {
      this.#requireUnchanged(slot, { transaction, snapshot });
      await lock(slot, mode);
      this.#requireUnchanged(slot, { transaction, snapshot });
      if (slot.pending !== null || slot.newest.commit <= snapshot) yield { slot, row };
      else if (slot.newest.row !== null && isIt(slot.newest.row)) yield { slot, row: slot.newest.row };
    }
  }

  /** REPEATABLE READ refuses to work on a row that another transaction has changed since. */
  #requireUnchanged(slot: Slot, { transaction, snapshot }: Pick<Run, "transaction" | "snapshot">): void {
    const isOwn = slot.holder === transaction && slot.pending !== null;
    if (transaction.isolation === "repeatable read" && !isOwn && slot.newest.commit > snapshot)
      throw new PostgresError("40001", "could not serialize access due to concurrent update");
  }

  #write(slot: Slot, row: Row, { transaction }: Run): void {
    if (slot.holder !== transaction) throw new Error("the model of PostgreSQL wrote to a row without its lock");
    if (this.#table(slot.table).keyOf(row) !== slot.key) throw new Error("the model of PostgreSQL changes no keys");
    slot.pending = { row };
  }
}

function output(outputs: Insert["returning"], table: string, row: Row, reading: Reading): Row {
  return outputRow(outputs, { tables: [[table, row]], outer: null }, reading);
}

function changed(row: Row, set: Update["set"], scope: readonly (readonly [string, Row])[], { reading }: Run): Row {
  const values = set.map(({ column, to }) => [column, evaluate(to, { tables: scope, outer: null }, reading)] as const);
  return { ...row, ...Object.fromEntries(values) };
}

function withRows(reading: Reading, name: string, rows: readonly Row[]): Reading {
  return { ...reading, rows: (table) => (table === name ? rows : reading.rows(table)) };
}
