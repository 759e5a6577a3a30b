import { resolve } from "node:path";
import type { Dispatcher } from "undici";
import { createHttpDispatcher } from "../base/http.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import { PauseRegistry } from "../client/pauses.ts";
import type { Config } from "../config/config.ts";
import type { StoreLocation } from "../store/engine/location.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { preload } from "./preload.ts";
import { startSharedClock } from "./shared-clock.ts";
import { createTableCountsBook, type TableCountsBook } from "./table-counts.ts";

/** What of the process the parts of an application need; never read from `process` in here. */
export interface PartsDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `storage.path` is relative to. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Of flatline. */
  readonly version: string;
  /** Gives the opening up [never]. */
  readonly signal?: AbortSignal;
  /** [openStore] */
  readonly openStore?: typeof openStore;
}

/** What outlives a reload. */
export interface Parts {
  readonly store: Store;
  /** The machine's, or that of the database that replicas share. */
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  /** What a remote service asked for: a reload does not make its limit any larger. */
  readonly pauses: PauseRegistry;
  /** Of sources that read a table of the user's own. */
  readonly tables: TableCountsBook;
  close(): Promise<void>;
}

const closeWithinMs = 5_000;

/**
 * Opens the store and imports `source.preload` when it is empty. Who has more to close gives `releases`, and releases that.
 * @throws FlatlineError, with everything released
 */
export async function openParts(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger },
  releases: ReleaseGroup = new ReleaseGroup(),
): Promise<Parts> {
  const close = async (): Promise<void> => {
    await releases.releaseAll(deps.clock, closeWithinMs);
  };
  try {
    const location = storeLocation(config, deps.cwd);
    const store = await (deps.openStore ?? openStore)({ ...location, clock: deps.clock });
    releases.add("store", () => store.close());
    const shared = await startSharedClock({ store, clock: deps.clock, logger: deps.logger });
    releases.add("clock", () => shared.stop());
    await preload(config, { ...deps, store, location });
    const dispatcher = createHttpDispatcher({ env: deps.env });
    releases.add("connections", () => dispatcher.destroy());
    const tables = createTableCountsBook(deps.clock);
    releases.add("connections to the source's table", () => tables.close());
    const pauses = new PauseRegistry({ clock: shared.clock });
    return { store, clock: shared.clock, dispatcher, pauses, tables, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where the configuration says that the store is; a file's path is absolute. */
export function storeLocation({ storage }: Pick<Config, "storage">, cwd: string): StoreLocation {
  const { url, poolSize } = storage;
  return url === null ? { path: resolve(cwd, storage.path) } : { url, poolSize };
}
