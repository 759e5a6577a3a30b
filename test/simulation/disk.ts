import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import { connectSqlite } from "../../src/store/engine/sqlite-file.ts";
import { unpackRow, type JournalRun, type KnownShapes } from "../../src/store/runs/journal-row.ts";

/** What the disk does to the statements that come next. */
export interface DiskFaults {
  /** So many are refused as SQLITE_BUSY. */
  busy: number;
  /** Each commit fails as SQLITE_FULL, and its transaction is rolled back. */
  isFull: boolean;
  /** So many commits are done, and reported as SQLITE_IOERR. */
  lostCommits: number;
  /** The process dies in place of the statement that is so many further on; null: it does not. */
  diesIn: number | null;
}

export interface SimulatedDisk {
  readonly faults: DiskFaults;
  /** For openStore. */
  readonly connect: typeof connectSqlite;
  /** Puts the faults before another connection of the process. */
  attach(database: DatabaseSync): DatabaseSync;
  /** Lets go of the file as the system does with that of a process that was killed: what was not committed is gone. */
  kill(): void;
}

/** Sees the runs of each commit, when it is durable. */
export type OnCommit = (runs: readonly JournalRun[]) => void;

interface Connection {
  readonly database: DatabaseSync;
  /** Runs of its transaction. */
  readonly uncommitted: JournalRun[];
}

const errors = {
  busy: [5, "database is locked"],
  full: [13, "database or disk is full"],
  io: [10, "disk I/O error"],
} as const;

/** A disk with a real file under it: faults come between Kysely's driver and SQLite, where real ones do. */
export function createSimulatedDisk({
  onCommit,
  onFailure,
  onDeath,
}: {
  readonly onCommit: OnCommit;
  /** A statement was refused, or is reported as such. */
  readonly onFailure: () => void;
  readonly onDeath: () => void;
}): SimulatedDisk {
  const faults: DiskFaults = { busy: 0, isFull: false, lostCommits: 0, diesIn: null };
  const open: DatabaseSync[] = [];
  let isDead = false;
  /** By owner. */
  const shapes = new Map<number, KnownShapes>();

  function fail(kind: keyof typeof errors): never {
    const [errcode, message] = errors[kind];
    onFailure();
    throw Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
  }

  function before(): void {
    if (!isDead && faults.diesIn !== null && faults.diesIn-- <= 0) {
      faults.diesIn = null;
      onDeath();
    }
    if (isDead) fail("io");
    if (faults.busy > 0) {
      faults.busy--;
      fail("busy");
    }
  }

  function execute<Result>(sql: string, { database, uncommitted }: Connection, run: () => Result): Result {
    before();
    if (sql === "commit" && faults.isFull) {
      uncommitted.length = 0;
      database.exec("rollback");
      fail("full");
    }
    const result = run();
    if (sql === "rollback") uncommitted.length = 0;
    if (!database.isTransaction && uncommitted.length > 0) onCommit(uncommitted.splice(0));
    if (sql === "commit" && faults.lostCommits > 0) {
      faults.lostCommits--;
      fail("io");
    }
    return result;
  }

  function note(sql: string, parameters: readonly SQLInputValue[], { uncommitted }: Connection): void {
    if (!/\binsert into journal\b/i.test(sql)) return;
    const ownerId = Number(parameters[0]);
    const known = shapes.get(ownerId) ?? new Map();
    shapes.set(ownerId, known);
    const bytes = parameters.find((one) => one instanceof Uint8Array);
    if (bytes instanceof Uint8Array) uncommitted.push(...unpackRow(bytes, known));
  }

  function wrap(statement: StatementSync, sql: string, connection: Connection): StatementSync {
    const plain = sql.trim().toLowerCase();
    return {
      columns: () => statement.columns(),
      setReturnArrays: (isOn: boolean) => statement.setReturnArrays(isOn),
      get: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.get(...parameters)),
      iterate: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.iterate(...parameters)),
      all: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.all(...parameters)),
      run: (...parameters: SQLInputValue[]) =>
        execute(plain, connection, () => {
          const done = statement.run(...parameters);
          if (Number(done.changes) > 0) note(sql, parameters, connection);
          return done;
        }),
    } as StatementSync;
  }

  function attach(database: DatabaseSync): DatabaseSync {
    // A process that is killed loses nothing that the system has; a power cut is not simulated.
    database.exec("pragma synchronous = off");
    open.push(database);
    const connection = { database, uncommitted: [] };
    return new Proxy(database, {
      get: (target, key) => {
        if (key === "prepare") return (sql: string) => wrap(target.prepare(sql), sql, connection);
        if (key === "exec") return (sql: string) => execute(sql.toLowerCase(), connection, () => target.exec(sql));
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  return {
    faults,
    attach,
    connect: async (path, clock) => attach(await connectSqlite(path, clock)),
    kill: () => {
      isDead = true;
      for (const database of open) if (database.isOpen) database.close();
    },
  };
}
