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
  /** Lets go of the file as the system does with that of a process that was killed: what was not committed is gone. */
  kill(): void;
}

/** Sees the runs of each commit, when it is durable. */
export type OnCommit = (runs: readonly JournalRun[]) => void;

const errors = {
  busy: [5, "database is locked"],
  full: [13, "database or disk is full"],
  io: [10, "disk I/O error"],
} as const;

/** A disk with a real file under it: faults come between Kysely's driver and SQLite, where real ones do. */
export function createSimulatedDisk({
  onCommit,
  onDeath,
}: {
  readonly onCommit: OnCommit;
  readonly onDeath: () => void;
}): SimulatedDisk {
  const faults: DiskFaults = { busy: 0, isFull: false, lostCommits: 0, diesIn: null };
  /** Of the file's one connection; a process opens it once. */
  let open: DatabaseSync | null = null;
  let isDead = false;
  let uncommitted: JournalRun[] = [];
  /** By owner. */
  const shapes = new Map<number, KnownShapes>();

  function fail(kind: keyof typeof errors): never {
    const [errcode, message] = errors[kind];
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

  function execute<Result>(sql: string, database: DatabaseSync, run: () => Result): Result {
    before();
    if (sql === "commit" && faults.isFull) {
      uncommitted = [];
      database.exec("rollback");
      fail("full");
    }
    const result = run();
    if (sql === "rollback") uncommitted = [];
    if (!database.isTransaction && uncommitted.length > 0) {
      onCommit(uncommitted);
      uncommitted = [];
    }
    if (sql === "commit" && faults.lostCommits > 0) {
      faults.lostCommits--;
      fail("io");
    }
    return result;
  }

  function note(sql: string, parameters: readonly SQLInputValue[]): void {
    if (!/\binsert into journal\b/i.test(sql)) return;
    const ownerId = Number(parameters[0]);
    const known = shapes.get(ownerId) ?? new Map();
    shapes.set(ownerId, known);
    const bytes = parameters.find((one) => one instanceof Uint8Array);
    if (bytes instanceof Uint8Array) uncommitted.push(...unpackRow(bytes, known));
  }

  function wrap(statement: StatementSync, sql: string, database: DatabaseSync): StatementSync {
    const plain = sql.trim().toLowerCase();
    return {
      columns: () => statement.columns(),
      all: (...parameters: SQLInputValue[]) => execute(plain, database, () => statement.all(...parameters)),
      run: (...parameters: SQLInputValue[]) =>
        execute(plain, database, () => {
          const done = statement.run(...parameters);
          if (Number(done.changes) > 0) note(sql, parameters);
          return done;
        }),
    } as StatementSync;
  }

  return {
    faults,
    connect: async (path, clock) => {
      const database = await connectSqlite(path, clock);
      // A process that is killed loses nothing that the system has; a power cut is not simulated.
      database.exec("pragma synchronous = off");
      open = database;
      return new Proxy(database, {
        get: (target, key) => {
          if (key === "prepare") return (sql: string) => wrap(target.prepare(sql), sql, target);
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
    kill: () => {
      isDead = true;
      uncommitted = [];
      if (open?.isOpen === true) open.close();
    },
  };
}
