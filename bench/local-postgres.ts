import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { EmbeddedPostgres } from "../test/support/embedded-postgres.ts";
import pg from "pg";

export interface LocalPostgres {
  readonly client: pg.Client;
  stop(): Promise<void>;
}

const login = { user: "postgres", password: "bench" };

/** A PostgreSQL of this machine's size over a folder that is kept from run to run, durable as it comes. */
export async function startPostgres(folder: string): Promise<LocalPostgres> {
  const databaseDir = join(folder, "postgres");
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    ...login,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "shared_buffers=1GB", "-c", "work_mem=256MB", "-c", "max_wal_size=4GB"],
    onLog: () => undefined,
  });
  if (!existsSync(join(databaseDir, "PG_VERSION"))) await server.initialise();
  await server.start();
  const client = new pg.Client({ host: "127.0.0.1", port, database: "postgres", ...login });
  await client.connect();
  return {
    client,
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
