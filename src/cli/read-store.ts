import { FlatlineError, messageOf } from "../base/errors.ts";
import { ReleaseGroup } from "../base/lifecycle.ts";
import type { Config, DiscoverConfig } from "../config/config.ts";
import type { ListedOrganization } from "../contract/listed-organization.ts";
import { openConfiguredStore, openConnections, type PartsDeps } from "../daemon/parts.ts";
import { readSource, withDiscovered } from "../discovery/source.ts";
import type { Store } from "../store/store.ts";
import type { CliContext } from "./context.ts";

/** Time limit for closing the store and idle connections. */
export const closeWithinMs = 5_000;

/** Reads from the store, also beside a running daemon. @throws no_input if it does not exist, store_* */
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

/**
 * Adds the discovered organizations of the stored lists, and returns the sources without a list. A source that has no
 * stored list is asked; its answer is not stored.
 */
export async function joinDiscovered(config: Config, deps: CliContext) {
  const { eventRetentionMs } = config.storage;
  const lists = new Map<string, readonly ListedOrganization[]>();
  const unlisted: { readonly name: string; readonly reason: string }[] = [];
  if (config.discover.length === 0) return { config, unlisted };
  const releases = new ReleaseGroup();
  try {
    // There is no store before the first run.
    const store = await openConfiguredStore(config, deps, releases, { mustExist: true }).catch((error: unknown) => {
      if (error instanceof FlatlineError && error.code === "no_input") return null;
      throw error;
    });
    const { dispatcher } = openConnections(deps, releases);
    const read = async (source: DiscoverConfig): Promise<void> => {
      const { name } = source;
      const stored = (await store?.discovery.list(name)) ?? null;
      if (stored !== null) return void lists.set(name, stored);
      await readSource(source, { etag: null, eventRetentionMs }, { ...deps, dispatcher }).then(
        (list) => lists.set(name, list?.organizations ?? []),
        (error: unknown) => unlisted.push({ name, reason: messageOf(error) }),
      );
    };
    await Promise.all(config.discover.map(read));
  } finally {
    await releases.releaseAll(deps.clock, closeWithinMs);
  }
  return { config: withDiscovered(config, lists), unlisted };
}
