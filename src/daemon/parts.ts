import { resolve } from "node:path";
import { createHttpDispatcher, type HttpDispatcher } from "../base/http-dispatcher.ts";
import type { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/time.ts";
import { PauseRegistry } from "../client/pauses.ts";
import type { Config } from "../config/config.ts";
import type { StoreLocation } from "../store/engine/location.ts";
import { openStore, type OpenStoreOptions } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { preload } from "./preload.ts";
import { startSharedClock } from "./shared-clock.ts";
import { createTableCountsBook, type TableCountsBook } from "./table-counts.ts";

/** The parts of the process that an application needs; never read from `process` in here. */
export interface PartsDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `storage.path` is relative to. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Version of flatline. */
  readonly version: string;
  /** Gives the opening up [never]. */
  readonly signal?: AbortSignal;
  /** [openStore] */
  readonly openStore?: typeof openStore;
  /** The dispatcher of requests to services and receivers [the network]. */
  readonly dispatcher?: HttpDispatcher;
}

/** The store, and the clock that goes with it. */
export interface StoreParts {
  readonly store: Store;
  /** The machine's, or that of the database that replicas share. */
  readonly clock: Clock;
}

/** What sources and receivers are reached by. */
export interface Connections {
  readonly dispatcher: HttpDispatcher;
  /** The pauses that a remote service asked for: a reload does not lift them. */
  readonly pauses: PauseRegistry;
  /** Those that probes met, which no run has to honour. */
  readonly probePauses: PauseRegistry;
  /** Counts of the sources that read a table of the user's own. */
  readonly tables: TableCountsBook;
}

/** What outlives a reload. */
export type Parts = StoreParts & Connections;

/** Opens everything that a daemon outlives a reload with, and imports `source.preload` into a store that is empty. */
export async function openParts(
  config: Config,
  deps: PartsDeps & { readonly logger: Logger },
  releases: ReleaseGroup,
): Promise<Parts> {
  const opened = await openStoreParts(config, deps, releases, { check: true });
  await preload(config, { ...deps, store: opened.store, location: storeLocation(config, deps.cwd) });
  return { ...opened, ...openConnections({ ...deps, clock: opened.clock }, releases) };
}

/** Opens the store where the configuration says that it is. @throws FlatlineError; no_input when it must exist and does not */
export async function openStoreParts(
  config: Config,
  { cwd, clock, logger, ...deps }: Pick<PartsDeps, "cwd" | "clock" | "openStore"> & { readonly logger: Logger },
  releases: ReleaseGroup,
  options: Pick<OpenStoreOptions, "mustExist" | "check"> = {},
): Promise<StoreParts> {
  const store = await (deps.openStore ?? openStore)({ ...storeLocation(config, cwd), clock, ...options });
  releases.add("store", () => store.close());
  const shared = await startSharedClock({ store, clock, logger });
  releases.add("clock", () => shared.stop());
  return { store, clock: shared.clock };
}

/** Opens what is reached over the network; nothing is until it is asked. */
export function openConnections(
  { env, clock, ...deps }: Pick<PartsDeps, "env" | "clock" | "dispatcher">,
  releases: ReleaseGroup,
): Connections {
  const dispatcher = deps.dispatcher ?? createHttpDispatcher({ env });
  releases.add("connections", () => dispatcher.destroy());
  const tables = createTableCountsBook(clock);
  releases.add("connections to the source's table", () => tables.close());
  const pauses = new PauseRegistry({ clock });
  return { dispatcher, pauses, probePauses: new PauseRegistry({ clock, others: pauses }), tables };
}

/** Returns where the configuration says that the store is; a file's path is absolute. */
export function storeLocation({ storage }: Pick<Config, "storage">, cwd: string): StoreLocation {
  const { url, poolSize } = storage;
  return url === null ? { path: resolve(cwd, storage.path) } : { url, poolSize };
}
