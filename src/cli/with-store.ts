import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Config } from "../config/config.ts";
import { openConfiguredStore, type PartsDeps } from "../daemon/parts.ts";
import type { Store } from "../store/store.ts";

/** Time limit for closing the store and idle connections. */
export const closeWithinMs = 5_000;

export interface WithStoreOptions {
  /**
   * [true] Commands that only read or change data never create a store: an empty one would hide that the real one is
   * missing.
   */
  readonly mustExist?: boolean;
}

/** What a command works with. */
export interface OpenedStore {
  readonly store: Store;
}

/** Runs `work` with the store, beside a running daemon, and closes it. @throws no_input if it does not exist, store_* */
export async function withStore<Result>(
  config: Config,
  deps: Pick<PartsDeps, "cwd" | "clock">,
  work: (opened: OpenedStore) => Promise<Result>,
  { mustExist = true }: WithStoreOptions = {},
): Promise<Result> {
  const releases = new ReleaseGroup();
  try {
    const store = await openConfiguredStore(config, deps, releases, { mustExist });
    return await work({ store });
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
}
