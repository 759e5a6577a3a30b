import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Kysely, sql } from "kysely";

import { createSystemClock } from "../../../src/base/time.ts";
import { migrate } from "../../../src/store/engine/migrations/migrations.ts";
import { SqliteDialect } from "../../../src/store/engine/sqlite-driver.ts";
import type { PlainTables } from "../../../src/store/tables.ts";
import { createPartsFactory } from "../../../src/store/store-parts.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Writer } from "../../../src/store/writer.ts";

const soleWriter: Writer = {
  epoch: 0,
  lost: new AbortController().signal,
  isSure: () => true,
  renew: async () => undefined,
  release: async () => undefined,
};

/** A real store in a file of its own, to which several connections can be made, as several processes would. */
export interface FastStore {
  connect(): Promise<Store>;
  /** Closes every connection and deletes the file. */
  remove(): Promise<void>;
}

/** A store for days of commits in seconds: what a power cut would leave is not what these tests ask. */
export async function createFastStore(): Promise<FastStore> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-fast-"));
  const path = join(folder, "flatline.db");
  const connections: Kysely<PlainTables>[] = [];
  return {
    connect: async () => {
      // The machine's own clock: waiting for a lock is no part of the virtual time. It shows no work as long: the
      // loop's turns amid it, which only real time gives, would come while virtual time moves on.
      const clock = { ...createSystemClock(), monotonicMs: () => 0 };
      await writeFile(path, "", { flag: "a" });
      const db = new Kysely<PlainTables>({ dialect: new SqliteDialect({ path, clock }) });
      connections.push(db);
      await sql`pragma synchronous = off`.execute(db);
      await migrate(db as unknown as Kysely<unknown>, path);
      const createParts = createPartsFactory(null);
      return {
        isRemote: false,
        ...createParts(db),
        transaction: (work) => db.transaction().execute((transaction) => work(createParts(transaction))),
        takeWriter: async () => soleWriter,
        nowMs: async () => clock.nowMs(),
        bytes: async () => 0,
        problem: async () => null,
        check: async () => undefined,
        failures: () => 0,
        close: () => db.destroy(),
      };
    },
    remove: async () => {
      for (const db of connections) await db.destroy();
      await rm(folder, { recursive: true });
    },
  };
}
