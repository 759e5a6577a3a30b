import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { freePort } from "../free-port.ts";
import { createPostgres } from "./process.ts";

async function makeFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-postgres-process-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, mode);
  return folder;
}

it("says what the server said when it does not start", async () => {
  const folder = await makeFolder(0o755);
  const login = { user: "tests", password: "p@ss/word", port: await freePort() };

  const server = await createPostgres({ folder, ...login, settings: { shared_buffers: "1kB" } });

  await expect(server.start()).rejects.toThrow(/PostgreSQL did not start:\n.*shared_buffers/);
});
