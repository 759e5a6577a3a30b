import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Clock } from "../../../src/base/time.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";

/** A store in a folder of its own, which `close` removes. */
export async function openTemporaryStore(
  clock: Clock,
): Promise<{ readonly store: Store; readonly close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "flatline-store-"));
  const store = await openStore({ path: join(folder, "flatline.db"), clock });
  return {
    store,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
