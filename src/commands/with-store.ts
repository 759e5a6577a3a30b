import { ReleaseGroup } from "../base/lifecycle.ts";
import { createSilentLogger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import { openStoreParts, type PartsDeps, type StoreParts } from "../daemon/parts.ts";

/** For closing a store and connections that nobody uses any more. */
export const closeWithinMs = 5_000;

export interface WithStoreOptions {
  /** [true] A command that only reads, or changes what is there, never makes a store: it would stand where one is missing. */
  readonly mustExist?: boolean;
}

/** Lets `work` use the store, beside a daemon that runs on it, and closes it. @throws no_input when there is none, store_* */
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
