import { actor } from "../../contract/actor.ts";
import { createHttpDispatcher } from "../../base/http-dispatcher.ts";
import { FlatlineError } from "../../base/errors.ts";
import { ReleaseGroup } from "../../base/lifecycle.ts";
import type { Config, RemoteSourceConfig } from "../../config/config.ts";
import type { PlatformApi } from "../../contract/platform-api.ts";
import { closeWithinMs, type ActDeps } from "../with-store.ts";
import { openConfiguredStore } from "../../daemon/parts.ts";
import { createEmbeddedSource, createRemoteSource, type RemoteSourceDeps } from "../../daemon/source.ts";

/** API v2 for a command, as the holder of one key. */
export interface PlatformAccess {
  readonly api: PlatformApi;
  close(): Promise<void>;
}

export interface PlatformAccessDeps extends ActDeps {
  readonly onIgnoredFilter?: NonNullable<RemoteSourceDeps["onIgnoredFilter"]>;
}

/**
 * Opens the configured source: the service over HTTP with the key of `slug`, or the embedded store with a customer's key of
 * `slug` (CONTRACT 9).
 * @throws usage if `slug` is required, store_* if the store cannot be opened
 */
export async function openPlatformAccess(
  config: Config,
  deps: PlatformAccessDeps,
  slug: string | undefined,
  { writes }: { readonly writes: boolean },
): Promise<PlatformAccess> {
  const { source } = config;
  if (!source.isLocal) return openRemote(config, source, deps, slug);
  if (!source.hasReports) {
    throw new FlatlineError(
      "usage",
      `reports and proposals need source.type remote or embedded: a ${source.type} source holds liveness events only`,
    );
  }
  const chosen = slug ?? onlyOrganization(config);
  if (chosen === null)
    throw new FlatlineError("usage", "--slug is needed: the configuration has several organizations, or none");
  const releases = new ReleaseGroup();
  const close = async (): Promise<void> => {
    await releases.releaseAll(deps.clock, closeWithinMs);
  };
  try {
    const author = actor(deps.userName(), "cli");
    const store = await openConfiguredStore(config, deps, releases, { mustExist: true });
    if (writes && config.storage.url !== null) await store.takeWriter();
    return { api: createEmbeddedSource(config, { store, clock: deps.clock, author }).forOrganization(chosen), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function openRemote(
  config: Config,
  source: RemoteSourceConfig,
  deps: PlatformAccessDeps,
  slug: string | undefined,
): PlatformAccess {
  const chosen = slug ?? onlyOrganization(config);
  if (chosen === null && source.apiKey === null)
    throw new FlatlineError("usage", "--slug is needed: each organization has an API key of its own");
  const dispatcher = createHttpDispatcher({ env: deps.env });
  const remote = createRemoteSource(config, source, { ...deps, dispatcher, onRequest: () => undefined });
  // Without an organization, the source's key is used.
  return { api: remote.forOrganization(chosen ?? ""), close: () => dispatcher.destroy() };
}

function onlyOrganization({ organizations }: Config): string | null {
  const [first, second] = organizations;
  return first === undefined || second !== undefined ? null : first.slug;
}
