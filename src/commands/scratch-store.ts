import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReleaseGroup } from "../base/lifecycle.ts";
import { createSilentLogger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { preload } from "../daemon/preload.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";

/**
 * Opens a temporary store with the data of `source.preload`, for a command that evaluates before anything is stored. The
 * folder is removed with the releases.
 */
export async function openScratchStore(config: Config, clock: Clock, releases: ReleaseGroup): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-check-"));
  let store: Store | null = null;
  releases.add("temporary store", async () => {
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const location = { path: join(folder, "flatline.db") };
  store = await openStore({ ...location, clock });
  await preload(config, { store, location, clock, logger: createSilentLogger() });
  return store;
}
