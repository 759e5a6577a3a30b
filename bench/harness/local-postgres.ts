import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";

import pg from "pg";

import { createPostgres } from "../../test/support/postgres/process.ts";

export interface LocalPostgres {
  readonly client: pg.Client;
  /** The postmaster, the parent of all of the server's processes. */
  readonly pid: number;
  stop(): Promise<void>;
}

const login = { user: "postgres", password: "bench" };

/** A PostgreSQL of this machine's size over a folder that is kept from run to run, durable as it comes. */
export async function startPostgres(folder: string): Promise<LocalPostgres> {
  mkdirSync(folder, { recursive: true });
  // As root the server runs as another user, who must get there.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = await createPostgres({
    folder,
    port,
    ...login,
    settings: { shared_buffers: "1GB", work_mem: "256MB", max_wal_size: "4GB" },
  });
  await server.start();
  const client = new pg.Client({ host: "127.0.0.1", port, database: "postgres", ...login });
  await client.connect();
  return {
    client,
    pid: Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]),
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}
