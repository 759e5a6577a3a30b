import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

import { connectSqlite } from "../../src/store/engine/sqlite-file.ts";
import type { CheckReport } from "../../src/contract/report.ts";

/** What is written, by its statements: faults can wait for it. */
export const diskTargets = {
  runs: /\binsert into checks \(check_id\b/,
  ownership: /\bupdate writer\b/,
  alerts: /\b(update|insert into|delete from) "?alerts\b/,
  queued: /\binsert into outbox\b/,
  delivered: /\bdelete from "?outbox\b/,
} as const;
export type DiskTarget = keyof typeof diskTargets;

/** What the disk does to the statements that come next. */
export interface DiskFaults {
  /** So many are refused as SQLITE_BUSY. */
  busy: number;
  /** Each commit fails as SQLITE_FULL, and its transaction is rolled back. */
  isFull: boolean;
  /** So many commits are done, and reported as SQLITE_IOERR. */
  lostCommits: number;
  /** The commits of which: those that wrote this; null: that wrote anything. */
  lostOf: DiskTarget | null;
  /** The process dies in place of the statement that is so many further on; null: it does not. */
  diesIn: number | null;
  /** The process dies in place of the next statement that writes this. */
  diesBefore: DiskTarget | null;
}

export interface SimulatedDisk {
  readonly faults: DiskFaults;
  /** For openStore. */
  readonly connect: typeof connectSqlite;
  /** A statement that was refused as busy is about to be tried again, in real time (`untilFree` of the store). */
  isTriedAgain(): boolean;
  /** Puts the faults before another connection of the process. */
  attach(database: DatabaseSync): DatabaseSync;
  /** Lets go of the file as the system does with that of a process that was killed: what was not committed is gone. */
  kill(): void;
}

/** A run as it was stored. */
export interface StoredRun {
  readonly checkId: number;
  readonly dueAtMs: number;
  readonly isAsked: boolean;
  readonly report: CheckReport;
}

/** Sees the runs of each commit, when it is durable. */
export type OnCommit = (runs: readonly StoredRun[]) => void;

interface Connection {
  readonly database: DatabaseSync;
  /** Runs of its transaction. */
  readonly uncommitted: StoredRun[];
  /** What its transaction has written. */
  readonly written: Set<DiskTarget | "other">;
}

const errors = {
  busy: [5, "database is locked"],
  full: [13, "database or disk is full"],
  io: [10, "disk I/O error"],
} as const;

const stateCells = 8;
// The longest pause of `untilFree`, and some more.
const longestRetryMs = 60;

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
  const faults: DiskFaults = { busy: 0, isFull: false, lostCommits: 0, lostOf: null, diesIn: null, diesBefore: null };
  const open: DatabaseSync[] = [];
  let isDead = false;
  /** In real time. */
  let busyAtMs = -Infinity;

  function fail(kind: keyof typeof errors): never {
    const [errcode, message] = errors[kind];
    onFailure();
    throw Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
  }

  function before(target: DiskTarget | "other" | null): void {
    const isItsTime = faults.diesIn !== null && faults.diesIn-- <= 0;
    if (!isDead && (isItsTime || (target !== null && target === faults.diesBefore))) {
      faults.diesIn = null;
      faults.diesBefore = null;
      onDeath();
    }
    if (isDead) fail("io");
    if (faults.busy > 0) {
      faults.busy--;
      busyAtMs = performance.now();
      fail("busy");
    }
  }

  function execute<Result>(
    { sql, target }: Prepared,
    { database, uncommitted, written }: Connection,
    run: () => Result,
  ): Result {
    before(target);
    const isCommit = sql === "commit";
    if (isCommit && faults.isFull) {
      uncommitted.length = 0;
      written.clear();
      database.exec("rollback");
      fail("full");
    }
    const result = run();
    if (target !== null) written.add(target);
    if (sql === "rollback") uncommitted.length = 0;
    if (database.isTransaction) return result;
    const isLost =
      isCommit && faults.lostCommits > 0 && (faults.lostOf === null ? written.size > 0 : written.has(faults.lostOf));
    written.clear();
    if (uncommitted.length > 0) onCommit(uncommitted.splice(0));
    if (isLost) {
      faults.lostCommits--;
      fail("io");
    }
    return result;
  }

  /** The rows of checks that a commit of runs writes (store/runs/checks.ts). */
  function note(parameters: readonly SQLInputValue[], { uncommitted }: Connection): void {
    for (let at = 0; at < parameters.length; at += stateCells) {
      const [checkId, _check, _slug, dueAtMs, isAsked, _sinceMs, report] = parameters.slice(at);
      uncommitted.push({
        checkId: Number(checkId),
        dueAtMs: Number(dueAtMs),
        isAsked: isAsked === 1,
        report: JSON.parse(report as string) as CheckReport,
      });
    }
  }

  function wrap(statement: StatementSync, sql: string, connection: Connection): StatementSync {
    const plain = prepared(sql);
    return {
      columns: () => statement.columns(),
      setReturnArrays: (isOn: boolean) => statement.setReturnArrays(isOn),
      get: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.get(...parameters)),
      iterate: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.iterate(...parameters)),
      all: (...parameters: SQLInputValue[]) => execute(plain, connection, () => statement.all(...parameters)),
      run: (...parameters: SQLInputValue[]) =>
        execute(plain, connection, () => {
          const done = statement.run(...parameters);
          if (plain.target === "runs") note(parameters, connection);
          return done;
        }),
    } as StatementSync;
  }

  function attach(database: DatabaseSync): DatabaseSync {
    // A process that is killed loses nothing that the system has; a power cut is not simulated.
    database.exec("pragma synchronous = off");
    open.push(database);
    const connection: Connection = { database, uncommitted: [], written: new Set() };
    const executed = new Map<string, Prepared>();
    // What the store uses of a connection; not a Proxy, which costs as much as a short statement.
    return {
      get isOpen() {
        return database.isOpen;
      },
      get isTransaction() {
        return database.isTransaction;
      },
      // What a connection knows of itself comes from no disk.
      prepare: (sql: string) =>
        sql.includes("total_changes()") ? database.prepare(sql) : wrap(database.prepare(sql), sql, connection),
      exec: (sql: string) => {
        const known = executed.get(sql) ?? prepared(sql);
        executed.set(sql, known);
        execute(known, connection, () => database.exec(sql));
      },
      close: () => database.close(),
    } as DatabaseSync;
  }

  return {
    faults,
    attach,
    connect: async (path) => attach(await connectSqlite(path)),
    isTriedAgain: () => performance.now() - busyAtMs < longestRetryMs,
    kill: () => {
      isDead = true;
      for (const database of open) if (database.isOpen) database.close();
    },
  };
}

interface Prepared {
  readonly sql: string;
  /** What it writes; null: nothing. */
  readonly target: DiskTarget | "other" | null;
}

function prepared(text: string): Prepared {
  const sql = text.trim().toLowerCase();
  const named = (Object.keys(diskTargets) as DiskTarget[]).find((name) => diskTargets[name].test(sql));
  const target = named ?? (/\b(update|insert|delete)\b/.test(sql) ? "other" : null);
  return { sql, target };
}
