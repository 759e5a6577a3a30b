import { FlatlineError, messageOf } from "../base/errors.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Config, DiscoverConfig } from "../config/config.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { openConfiguredStore, openConnections, type PartsDeps } from "../daemon/parts.ts";
import { readSource, withDiscovered } from "../discovery/source.ts";
import type { Store } from "../store/store.ts";

/** Time limit for closing the store and idle connections. */
export const closeWithinMs = 5_000;

/** Reads from the store, beside a running daemon, and closes it. @throws no_input if it does not exist, store_* */
export async function withStore<Result>(
  config: Config,
  deps: Pick<PartsDeps, "cwd" | "clock">,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const releases = new ReleaseGroup();
  try {
    return await work(await openConfiguredStore(config, deps, releases, { mustExist: true }));
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
}

/** A configuration with the organizations of its sources, as far as they are known. */
export interface JoinedConfig {
  readonly config: Config;
  /** Sources of which no list is known, and why. */
  readonly unlisted: readonly { readonly name: string; readonly reason: string }[];
}

type Deps = Pick<PartsDeps, "cwd" | "clock" | "env" | "version"> & { readonly signal: AbortSignal };

/**
 * Joins the lists that the daemon applied last. A source of which none is stored is asked now, and what it says is not stored:
 * that is the daemon's.
 */
export async function joinDiscovered(config: Config, deps: Deps): Promise<JoinedConfig> {
  if (config.discover.length === 0) return { config, unlisted: [] };
  const lists = new Map(await readStored(config, deps));
  const unlisted: { name: string; reason: string }[] = [];
  const releases = new ReleaseGroup();
  try {
    const { dispatcher } = openConnections(deps, releases);
    const missing = config.discover.filter(({ name }) => !lists.has(name));
    await Promise.all(
      missing.map(async (source) => {
        const { eventRetentionMs } = config.storage;
        await readSource(source, null, { ...deps, dispatcher, eventRetentionMs }).then(
          (list) => lists.set(source.name, list?.organizations ?? []),
          (error: unknown) => unlisted.push({ name: source.name, reason: messageOf(error) }),
        );
      }),
    );
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
  return { config: withDiscovered(config, lists), unlisted };
}

type NamedList = readonly [name: string, list: readonly ListedOrganization[]];

async function readStored(config: Config, deps: Deps): Promise<NamedList[]> {
  try {
    return await withStore(config, deps, async (store) => {
      const read = async ({ name }: DiscoverConfig): Promise<NamedList[]> => {
        const list = await store.discovery.list(name);
        return list === null ? [] : [[name, list]];
      };
      return (await Promise.all(config.discover.map(read))).flat();
    });
  } catch (error) {
    // Nothing has run here yet.
    if (error instanceof FlatlineError && error.code === "no_input") return [];
    throw error;
  }
}
