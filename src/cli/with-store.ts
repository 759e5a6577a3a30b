import { ReleaseGroup } from "../base/lifecycle.ts";
import { createSilentLogger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { openStoreParts, type PartsDeps, type StoreParts } from "../daemon/parts.ts";

/** Time limit for closing the store and idle connections. */
export const closeWithinMs = 5_000;

/** What a command needs that changes the store: the audit names who ran it. */
export interface ActDeps extends PartsDeps {
  /** The operating system's user, else `uid:N`. */
  readonly userName: () => string;
}

export interface WithStoreOptions {
  /**
   * [true] Commands that only read or change data never create a store: an empty one would hide that the real one is
   * missing.
   */
  readonly mustExist?: boolean;
}

/** Runs `work` with the store, beside a running daemon, and closes it. @throws no_input if it does not exist, store_* */
export async function withStore<Result>(
  config: Config,
  deps: Pick<PartsDeps, "cwd" | "clock">,
  work: (parts: StoreParts) => Promise<Result>,
  { mustExist = true }: WithStoreOptions = {},
): Promise<Result> {
  const releases = new ReleaseGroup();
  try {
    return await work(await openStoreParts(config, { ...deps, logger: createSilentLogger() }, releases, { mustExist }));
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
}
