import { resolve } from "node:path";
import { createHttpDispatcher, type HttpDispatcher } from "../base/http-dispatcher.ts";
import type { ReleaseGroup } from "../base/lifecycle.ts";
import type { Logger } from "../base/logger.ts";
import { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import { PauseRegistry } from "../client/pauses.ts";
import type { Config, TableSourceConfig } from "../config/config.ts";
import type { Store, StoreLocation } from "../store/store.ts";
import { openStore, type OpenStoreOptions } from "../store/open.ts";
import { createTableCounts, type TableCounts, type TableCountsOptions } from "../sources/table-counts.ts";
import { beginRetention } from "./maintenance.ts";

/** The parts of the process that an application needs; never read from `process` in here. */
export interface PartsDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `storage.path` is relative to. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Version of flatline. */
  readonly version: string;
  /** Only answers what is injected, for a command: nothing runs, is sent or goes, and nobody is listened to [it is a daemon]. */
  readonly door?: Pick<OpenStoreOptions, "mustExist">;
  /** [openStore] */
  readonly openStore?: typeof openStore;
  /** The dispatcher of requests to services and receivers [the network]. */
  readonly dispatcher?: HttpDispatcher;
}

/** What sources and receivers are reached by. */
export type Connections = ReturnType<typeof openConnections>;

/** What outlives a reload. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens everything that a daemon outlives a reload with, as soon as no other process writes to the store, and imports
 * `source.preload` into one that is empty. With a database `standBy` is called when another process writes to it.
 */
export async function openParts(
  config: Config,
  deps: PartsDeps & {
    readonly logger: Logger;
    readonly signal: AbortSignal;
    readonly standBy: (holder: string) => void;
  },
  releases: ReleaseGroup,
) {
  const { signal, standBy: onWait, door } = deps;
  const store = await openConfiguredStore(config, deps, releases, door ?? { check: true });
  const isRemote = config.storage.url !== null;
  const daemon = isRemote ? { withinMs: Infinity, onWait, signal } : { signal };
  const writer = await store.takeWriter(door === undefined ? daemon : { withinMs: 0 });
  await beginRetention(store, deps.clock.nowMs());
  if (door === undefined && config.source.holdsEvents) {
    const { preload } = await import("./preload.ts");
    await preload(config, { ...deps, store });
  }
  return { store, writer, ...openConnections(deps, releases) };
}

/** Opens the store where the configuration says that it is. @throws FlatlineError; no_input when it must exist and does not */
export async function openConfiguredStore(
  config: Config,
  { cwd, clock, ...deps }: Pick<PartsDeps, "cwd" | "clock" | "openStore">,
  releases: ReleaseGroup,
  options: Pick<OpenStoreOptions, "mustExist" | "check"> = {},
): Promise<Store> {
  const store = await (deps.openStore ?? openStore)({ ...storeLocation(config, cwd), clock, ...options });
  releases.add("store", () => store.close());
  return store;
}

/** Opens what is reached over the network; nothing is until it is asked. */
export function openConnections(
  { env, clock, ...deps }: Pick<PartsDeps, "env" | "clock" | "dispatcher">,
  releases: ReleaseGroup,
) {
  const dispatcher = deps.dispatcher ?? createHttpDispatcher({ env });
  releases.add("connections", () => dispatcher.destroy());
  const tables = createTableCountsBook(clock);
  releases.add("connections to the source's table", () => tables.close());
  const pauses = new PauseRegistry({ clock });
  return {
    dispatcher,
    /** The pauses that a remote service asked for: a reload does not lift them. */
    pauses,
    /** Those that probes met, which no run has to honour. */
    probePauses: new PauseRegistry({ clock, others: pauses }),
    /** Counts of the sources that read a table of the user's own. */
    tables,
  };
}

/** Returns where the configuration says that the store is; a file's path is absolute. */
export function storeLocation({ storage }: Pick<Config, "storage">, cwd: string): StoreLocation {
  const { url, poolSize } = storage;
  return url === null ? { path: resolve(cwd, storage.path) } : { url, poolSize };
}

/** Makes the connections to the user's tables when first asked; they outlive a reload as long as it does not change them. */
function createTableCountsBook(clock: Clock) {
  // The replaced source stays for the running checks; its idle connections close by themselves.
  const opened = new Map<string, TableCounts>();
  return {
    of: (source: TableSourceConfig, onRequest: TableCountsOptions["onRequest"]): TableCounts => {
      const { concurrency: _concurrency, observedKeys: _observedKeys, ...connection } = source;
      const values = Object.entries(connection);
      const key = JSON.stringify(values.map(([key, value]) => [key, value instanceof Secret ? value.reveal() : value]));
      const known = opened.get(key) ?? createTableCounts(source, { clock, onRequest });
      opened.set(key, known);
      return known;
    },
    close: async (): Promise<void> => {
      await Promise.all([...opened.values()].map((counts) => counts.close()));
    },
  };
}
