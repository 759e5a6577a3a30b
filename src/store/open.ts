import { mkdir, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { Kysely, sql } from "kysely";

import { FlatlineError, messageOf } from "../base/errors.ts";
import { createSystemClock, type Clock } from "../base/time.ts";
import { inTransaction } from "./engine/dialect.ts";
import { requireOneName, takeFileLock } from "./engine/file-lock.ts";
import { noStore, type Store, type StoreLocation } from "./store.ts";
import { migrate } from "./engine/migrations/migrations.ts";
import { SqliteDialect } from "./engine/sqlite-driver.ts";
import { checkForDamage, type connectSqlite } from "./engine/sqlite-file.ts";
import { SqliteHealth } from "./engine/sqlite-health.ts";
import { createCountCache, mostCells } from "./events/count-cache.ts";
import { createKnownKeys } from "./platform/platform.ts";
import type { PlainTables } from "./tables.ts";
import { createPartsFactory } from "./store-parts.ts";
import { holderName, type Writer } from "./writer.ts";

export type OpenStoreOptions = StoreLocation & {
  readonly clock: Clock;
  /** How the file is opened [connectSqlite]. */
  readonly connect?: typeof connectSqlite;
  /** Paces what is loaded in the background [the machine's: it takes real time, whatever the clock of a test says]. */
  readonly backgroundClock?: Clock;
  /** Looks for damage, for a process that runs long [false]. */
  readonly check?: boolean;
  /** Most cells of counts in memory [10,000,000]; 0: the database counts everything. */
  readonly mostCells?: number;
  /** Refuses to make one, for a command that only reads [false]. */
  readonly mustExist?: boolean;
};

/**
 * Opens the store, makes it when there is none and `mustExist` does not forbid it, and brings it to the current
 * version. Several processes may do so at once. @throws FlatlineError store_newer, store_unusable, store_busy, no_input
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  if ("url" in options) {
    // The driver of PostgreSQL is loaded when it is needed: a start is to be quick.
    const { openPostgresStore } = await import("./open-postgres.ts");
    return openPostgresStore(options);
  }
  const given = resolve(options.path);
  if (options.mustExist === true) await requireFile(given);
  else await prepareFile(options.path, given);
  // SQLite's log lies beside the file, not beside a link to it.
  const path = await realpath(given);
  await requireOneName(path, options.clock);
  const { clock, backgroundClock = createSystemClock(), mostCells: most = mostCells } = options;
  const health = new SqliteHealth(path);
  const dialect = new SqliteDialect({ ...options, path, onUnusable: (error) => health.note(error) });
  const db = new Kysely<PlainTables>({ dialect });
  try {
    await migrate(db as unknown as Kysely<unknown>, path);
    if (options.check === true) checkForDamage(path);
  } catch (error) {
    dialect.close();
    throw error;
  }
  await health.look(async () => undefined);
  const cache = most === 0 ? null : createCountCache(db, backgroundClock, most);
  const createParts = createPartsFactory(cache, createKnownKeys());
  let writer: Writer | null = null;
  // The row changes each time: SQLite would not write an unchanged one.
  const renew = async (): Promise<void> => {
    await sql`update writer set holder = ${holderName()}, expires_at_ms = expires_at_ms + 1`.execute(db);
  };
  return {
    isRemote: false,
    ...createParts(db),
    transaction: (work) => inTransaction(db, (transaction) => work(createParts(transaction))),
    // The lock holds the file; the row says who has it.
    takeWriter: async (given = {}) => {
      const lock = await takeFileLock(path, { ...given, clock });
      try {
        await renew();
        // A process that waits reads the file without its log.
        await sql`pragma wal_checkpoint(truncate)`.execute(db);
      } catch (error) {
        lock.release();
        throw error;
      }
      const { signal: lost } = new AbortController();
      writer = { epoch: 0, lost, isSure: () => true, renew, release: async () => lock.release() };
      return writer;
    },
    nowMs: async () => clock.nowMs(),
    bytes: async () => {
      const pages = await sql<{ bytes: number }>`
        select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
      const wal = await stat(`${path}-wal`).catch(() => null);
      return (pages.rows[0]?.bytes ?? 0) + (wal?.size ?? 0);
    },
    problem: () => health.look(renew),
    check: async () => checkForDamage(path),
    failures: () => health.failures,
    // The close waits behind a running transaction, which must end as a whole.
    close: async () => {
      await cache?.close();
      await db.connection().execute(async () => dialect.close());
      await writer?.release();
    },
  };
}

/** Requires an existing store; an empty file does not count as one. */
async function requireFile(path: string): Promise<void> {
  const status = await stat(path).catch(() => null);
  if (status === null || (status.isFile() && status.size === 0)) throw noStore(path);
}

/** Creates the file and its folder, readable for the owner only: the store holds verdicts and findings of customers. */
async function prepareFile(given: string, path: string): Promise<void> {
  if (given === "" || given === ":memory:")
    throw new FlatlineError("store_unusable", `the store cannot be "${given}": storage.path must name a file`);
  try {
    await makeFolder(dirname(path));
    // The file is made before SQLite makes it, and SQLite gives its other files the same mode. An existing one is never
    // opened here: closing it would release the locks that another connection of this process holds on it (fcntl).
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const status = await stat(path).catch(() => null);
    if (status?.isFile() === true) return;
    const isFolder = status?.isDirectory() === true;
    const what = isFolder ? "it is a folder; storage.path must name a file" : `it cannot be made: ${messageOf(error)}`;
    throw new FlatlineError("store_unusable", `the store ${path} cannot be used: ${what}`, { cause: error });
  }
}

/** Makes a folder and its parents. Node's recursive mkdir never ends where nothing can be made, as below /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(await isFolder(folder))) throw error;
  }
}

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() === true;
