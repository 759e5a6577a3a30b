import { chmod, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Kysely, sql } from "kysely";
import { FlatlineError } from "../base/errors.ts";
import type { Clock } from "../base/time.ts";
import { createAlertStore } from "./alert-table.ts";
import { createEventStore } from "./event-table.ts";
import { createMetaStore } from "./meta.ts";
import { migrate } from "./migrations/migrations.ts";
import { createNoticeStore } from "./notice-table.ts";
import { createOutboxStore } from "./outbox-table.ts";
import { createScheduleStore } from "./schedule-table.ts";
import type { Db, Tables } from "./schema.ts";
import { createSilenceStore } from "./silence-table.ts";
import { createSqliteDialect } from "./sqlite-driver.ts";
import type { Store, StoreParts } from "./store.ts";
import { createVerdictStore } from "./verdict-table.ts";

export interface OpenStoreOptions {
  /** Of the database file; its folder is made when it is missing. */
  readonly path: string;
  readonly clock: Clock;
}

/**
 * Opens the store, makes it when there is none, and brings it to the current version.
 * @throws FlatlineError store_newer, store_unusable, store_busy
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const path = resolve(options.path);
  await prepareFile(path);
  const db = new Kysely<Tables>({ dialect: createSqliteDialect({ path, clock: options.clock }) });
  try {
    await migrate(db as unknown as Kysely<unknown>, path);
    // Verdicts and findings of customers: nobody else's business.
    await chmod(path, 0o600).catch(() => undefined);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return createStore(db, path);
}

async function prepareFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FlatlineError("store_unusable", `the folder of the store ${path} cannot be made: ${reason}`, {
      cause: error,
    });
  }
}

function createStore(db: Kysely<Tables>, path: string): Store {
  return {
    ...createParts(db),
    transaction: (work) => db.transaction().execute((transaction) => work(createParts(transaction))),
    bytes: async () => {
      const pages = await sql<{ bytes: number }>`
        select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
      const wal = await stat(`${path}-wal`).catch(() => null);
      return (pages.rows[0]?.bytes ?? 0) + (wal?.size ?? 0);
    },
    close: () => db.destroy(),
  };
}

function createParts(db: Db): StoreParts {
  return {
    events: createEventStore(db),
    schedule: createScheduleStore(db),
    verdicts: createVerdictStore(db),
    alerts: createAlertStore(db),
    outbox: createOutboxStore(db),
    notices: createNoticeStore(db),
    silences: createSilenceStore(db),
    meta: createMetaStore(db),
  };
}
