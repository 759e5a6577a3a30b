import { randomInt } from "node:crypto";
import { mkdir, open, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { Kysely, sql } from "kysely";

import { FlatlineError, messageOf } from "../base/errors.ts";
import { createSystemClock, type Clock } from "../base/time.ts";
import { eventsPathOf, noStore, type StoreLocation } from "./engine/location.ts";
import { migrate } from "./engine/migrations/migrations.ts";
import { checkForDamage, decidingTables } from "./engine/sqlite-damage.ts";
import { createSqliteDialect, type SqliteDialect } from "./engine/sqlite-driver.ts";
import { openDatabase, type connectSqlite } from "./engine/sqlite-file.ts";
import { SqliteHealth } from "./engine/sqlite-health.ts";
import { createEventStore, type EventStore } from "./events/events.ts";
import { EventSums } from "./events/sums/event-sums.ts";
import { takeOwnerLock, type OwnerLock } from "./runs/owner-lock.ts";
import type { PlainDb, PlainTables } from "./schema.ts";
import { createParts } from "./store-parts.ts";
import type { Store } from "./store.ts";
import { holderName, type Writer } from "./writer.ts";

export type OpenStoreOptions = StoreLocation & {
  readonly clock: Clock;
  /** How the file is opened [connectSqlite]. */
  readonly connect?: typeof connectSqlite;
  /** Paces what is loaded in the background [the machine's: it takes real time, whatever the clock of a test says]. */
  readonly backgroundClock?: Clock;
  /** Looks for damage, for what will run on it for long [false]. */
  readonly check?: boolean;
  /** Most memory for running sums of the events in a file [256 MiB]; 0: the database counts everything. */
  readonly sumsBytes?: number;
  /** Refuses to make one, for what only reads [false]. */
  readonly mustExist?: boolean;
};

/**
 * Opens the store, makes it when there is none and `mustExist` does not forbid it, and brings it to the current version.
 * Several processes may do so at once. @throws FlatlineError store_newer, store_unusable, store_busy, no_input
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  if ("url" in options) {
    // The driver of PostgreSQL is loaded when it is needed: a start is to be quick.
    const { openPostgresStore } = await import("./open-postgres.ts");
    return openPostgresStore(options);
  }
  const path = resolve(options.path);
  if (options.mustExist === true) await requireFile(path);
  else await prepareFile(options.path, path);
  const state = await openFile(options, path, "state");
  try {
    const eventsPath = eventsPathOf(path);
    if ((await readPairId(state.db)) === 0) await prepareFile(eventsPath, eventsPath);
    else await requireEvents(path, eventsPath);
    const events = await openFile(options, eventsPath, "events");
    try {
      await pair(state, events);
    } catch (error) {
      await events.dialect.close();
      throw error;
    }
    const { clock, backgroundClock = createSystemClock(), sumsBytes: maxBytes = defaultSumsBytes } = options;
    const sums = maxBytes === 0 ? null : new EventSums({ databasePath: eventsPath, clock: backgroundClock, maxBytes });
    return createStore(state, events, clock, sums);
  } catch (error) {
    await state.dialect.close();
    throw error;
  }
}

const defaultSumsBytes = 256 * 1_024 ** 2;

/** One of the two files of a store. */
interface OpenFile {
  readonly path: string;
  readonly db: Kysely<PlainTables>;
  readonly dialect: SqliteDialect;
  readonly health: SqliteHealth;
  /** Opens another connection to it, when that is first used. */
  readonly another: () => Pick<OpenFile, "db" | "dialect">;
}

/** What is checked of a large file. */
const decidingOf = { state: decidingTables, events: [] } as const;

async function openFile(options: OpenStoreOptions, path: string, part: keyof typeof decidingOf): Promise<OpenFile> {
  const health = new SqliteHealth({ path, clock: options.clock });
  const another = (): Pick<OpenFile, "db" | "dialect"> => {
    const dialect = createSqliteDialect({
      ...options,
      path,
      onUnusable: (error) => health.note(error),
      onUsable: () => health.noteCommit(),
    });
    return { dialect, db: new Kysely<PlainTables>({ dialect }) };
  };
  const { db, dialect } = another();
  try {
    await migrate(db as unknown as Kysely<unknown>, path, part);
    if (options.check === true) {
      await checkForDamage(db, path, decidingOf[part]);
      // A killed import leaves a log of its size, which the next commit would write to the disk.
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    }
    health.opened();
    return { path, db, dialect, health, another };
  } catch (error) {
    await dialect.close();
    throw error;
  }
}

/** Requires an existing store; an empty file does not count as one. */
async function requireFile(path: string): Promise<void> {
  const status = await stat(path).catch(() => null);
  if (status === null || (status.isFile() && status.size === 0)) throw noStore(path);
}

/** Creates the file and its folder, readable for the owner only: the store holds verdicts and findings of customers. */
async function prepareFile(given: string, path: string): Promise<void> {
  if (given === "" || given === ":memory:") {
    throw new FlatlineError("store_unusable", `the store cannot be "${given}": storage.path must name a file`);
  }
  try {
    await makeFolder(dirname(path));
  } catch (error) {
    throw cannotBeMade(path, "its folder cannot be made", error);
  }
  try {
    // The file is made before SQLite makes it, and SQLite gives its other files the same mode. An existing one is never
    // opened here: closing it would release the locks that another connection of this process holds on it (fcntl).
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if (await isFile(path)) return;
    if (await isFolder(path))
      throw new FlatlineError(
        "store_unusable",
        `the store ${path} cannot be used: it is a folder; storage.path must name a file`,
        { cause: error },
      );
    throw cannotBeMade(path, "it cannot be made", error);
  }
}

function cannotBeMade(path: string, what: string, error: unknown): FlatlineError {
  const reason = messageOf(error);
  return new FlatlineError("store_unusable", `the store ${path} cannot be used: ${what}: ${reason}`, { cause: error });
}

/** Makes it with what it lies in. Node's own recursive mkdir never ends where nothing can be made, as below /proc. */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made the file meanwhile.
    if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  return status !== null && status.isDirectory();
}

async function isFile(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  return status !== null && status.isFile();
}

function createStore(state: OpenFile, events: OpenFile, clock: Clock, sums: EventSums | null): Store {
  const { db, path } = state;
  // A change of events waits for an import that is being stored; nothing that is read waits with it.
  const changing = events.another();
  const createEvents = (db: PlainDb): EventStore => createEventStore(db, sums, changing.db);
  const options = { events: events.db, createEvents } as const;
  let writer: Writer | null = null;
  return {
    isRemote: false,
    commitPauseMs: 0,
    ...createParts(db, options),
    transaction: (work) => db.transaction().execute((transaction) => work(createParts(transaction, options))),
    takeWriter: async (given = {}) => {
      const lock = await takeOwnerLock(path, { ...given, clock, holder: () => holderOf(db) });
      writer = await holdFile(db, lock);
      return writer;
    },
    nowMs: async () => clock.nowMs(),
    bytes: async () => (await bytesOf(state)) + (await bytesOf(events)),
    problem: async () => state.health.look() ?? events.health.look(),
    check: async () => {
      await checkFile(state.path, decidingOf.state, clock);
      await checkFile(events.path, decidingOf.events, clock);
    },
    version: async () => state.dialect.dataVersion(),
    // The close waits behind a running transaction, which must end as a whole, but for one of events, which are changed in slices.
    close: async () => {
      await sums?.close();
      await changing.dialect.close();
      for (const file of [state, events]) await file.db.connection().execute(() => file.dialect.close());
      await writer?.release();
    },
  };
}

async function holderOf(db: PlainDb): Promise<string> {
  const { holder = "" } = (await db.selectFrom("writer").select("holder").executeTakeFirst()) ?? {};
  return holder === "" ? "another process" : holder;
}

/** A file is held by the lock; its row says by whom. */
async function holdFile(db: PlainDb, lock: OwnerLock): Promise<Writer> {
  const renew = async (): Promise<void> => {
    // A row that stays the same is not written.
    await sql`update writer set holder = ${holderName()}, expires_at_ms = expires_at_ms + 1`.execute(db);
  };
  try {
    await renew();
  } catch (error) {
    lock.release();
    throw error;
  }
  const { signal: lost } = new AbortController();
  return { epoch: 0, lost, isSure: () => true, renew, release: async () => lock.release() };
}

/** Checks by a connection of its own: an open one has most pages in memory. */
async function checkFile(path: string, tables: readonly string[], clock: Clock): Promise<void> {
  const dialect = createSqliteDialect({ path, clock, connect: async (file) => openDatabase(file, 0) });
  try {
    await checkForDamage(new Kysely<PlainTables>({ dialect }), path, tables);
  } finally {
    await dialect.close();
  }
}

async function bytesOf({ db, path }: OpenFile): Promise<number> {
  const pages = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
  const wal = await stat(`${path}-wal`).catch(() => null);
  return (pages.rows[0]?.bytes ?? 0) + (wal?.size ?? 0);
}

/** An open file of a store. */
interface PairedFile<Tables> {
  readonly path: string;
  readonly db: Kysely<Tables>;
}

// user_version has 31 bits: enough to notice files that were mixed up.
const mostPairId = 2 ** 31 - 1;

/** Returns the number that both files of a store have; 0: none yet. */
async function readPairId<Tables>(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  return rows[0]?.user_version ?? 0;
}

/** Requires the events of a store that had some before. @throws store_unusable */
export async function requireEvents(path: string, eventsPath: string): Promise<void> {
  const status = await stat(eventsPath).catch(() => null);
  if (status?.isFile() === true && status.size > 0) return;
  throw new FlatlineError(
    "store_unusable",
    `the store ${path} cannot be used: its events are missing: ${eventsPath}; ${remedy}`,
  );
}

/**
 * Makes two files one store, by a number in both. State without a number takes that of the events, so that a start that was
 * cut off goes on. @throws store_unusable for files of different stores
 */
async function pair<Tables>(state: PairedFile<Tables>, events: PairedFile<Tables>): Promise<void> {
  const eventsId = await readPairId(events.db);
  if (eventsId !== 0 && eventsId === (await readPairId(state.db))) return;
  // It holds the write lock of the state: when two processes make a store, one numbers both files.
  await state.db.transaction().execute(async (transaction) => {
    const id = await readPairId(transaction);
    const known = await readPairId(events.db);
    if (id !== 0 && id !== known) {
      throw new FlatlineError(
        "store_unusable",
        `the store ${state.path} cannot be used: ${events.path} holds the events of another store; ${remedy}`,
      );
    }
    const paired = known === 0 ? randomInt(1, mostPairId) : known;
    if (known === 0) await sql.raw(`pragma user_version = ${paired}`).execute(events.db);
    await sql.raw(`pragma user_version = ${paired}`).execute(transaction);
  });
}

const remedy = "restore both from one backup, or move both away to start with an empty store";
