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

/** The dependencies on the process; nothing here reads `process` itself. */
export interface PartsDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder to which `storage.path` is relative. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Version of flatline. */
  readonly version: string;
  /** Only for injected requests of a command: nothing runs, is sent or listens [a daemon]. */
  readonly door?: Pick<OpenStoreOptions, "mustExist">;
  readonly openStore?: typeof openStore;
  /** For requests to services and receivers [the network]. */
  readonly dispatcher?: HttpDispatcher;
}

/** The connections to sources and receivers. */
export type Connections = ReturnType<typeof openConnections>;

/** The parts that outlive a reload. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens the parts that outlive a reload when no other process writes to the store, and imports `source.preload` into an
 * empty one. With a database it calls `standBy` while another process writes.
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

/** Opens the configured store. @throws FlatlineError; no_input when it must exist and does not */
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

/** Creates the connections; each is opened when it is first used. */
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
    /** The pauses that a remote service asked for; a reload does not end them. */
    pauses,
    /** The pauses that probes were told; runs do not honour them. */
    probePauses: new PauseRegistry({ clock, others: pauses }),
    /** The counts of sources that read the user's tables. */
    tables,
  };
}

/** Returns the place of the configured store; a file's path is absolute. */
export function storeLocation({ storage }: Pick<Config, "storage">, cwd: string): StoreLocation {
  const { url, poolSize } = storage;
  return url === null ? { path: resolve(cwd, storage.path) } : { url, poolSize };
}

/** Keeps one connection for each table source; it outlives a reload that does not change it. */
function createTableCountsBook(clock: Clock) {
  // A replaced source stays for running checks; its idle connections close by themselves.
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
