import { resolve } from "node:path";
import type { Dispatcher } from "undici";
import { createHttpDispatcher } from "../base/http.ts";
import { ReleaseStack } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import type { Config } from "../config/config.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { preload } from "./preload.ts";

/** What of the process the parts of an application need; never read from `process` in here. */
export interface PartsDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `storage.path` is relative to. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Of flatline. */
  readonly version: string;
}

/** What outlives a reload. */
export interface Parts {
  readonly store: Store;
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

const closeWithinMs = 5_000;

/** Opens the store and imports `source.preload` when it is empty. @throws FlatlineError, with everything released */
export async function openParts(config: Config, deps: PartsDeps & { readonly logger: Logger }): Promise<Parts> {
  const stack = new ReleaseStack();
  const close = async (): Promise<void> => {
    await stack.releaseAll(deps.clock, closeWithinMs);
  };
  try {
    const path = storePath(config, deps.cwd);
    const store = await openStore({ path, clock: deps.clock });
    stack.add("store", () => store.close());
    await preload(config, { ...deps, store, path });
    const dispatcher = createHttpDispatcher({ env: deps.env });
    stack.add("connections", () => dispatcher.destroy());
    return { store, dispatcher, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The database's file, absolute. */
export function storePath(config: Config, cwd: string): string {
  return resolve(cwd, config.storage.path);
}
