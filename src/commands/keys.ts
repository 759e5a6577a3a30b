import { FlatlineError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { createApiKey } from "../service/api-keys.ts";
import type { KeyRole, StoredKey } from "../store/platform/api-keys.ts";
import { actor } from "../contract/actor.ts";
import type { StoreParts } from "../store/store-parts.ts";
import type { Store } from "../store/store.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import { withStore, type WithStoreOptions, type ActDeps } from "./with-store.ts";

export interface NewKey {
  readonly name: string;
  readonly role: KeyRole;
  readonly organizations: readonly string[];
}

export interface CreatedKey {
  /** The key itself, returned only here: the store keeps its SHA-256. */
  readonly key: string;
  readonly stored: StoredKey;
  /** Organizations that neither the configuration nor the store knows: the key works for them when they exist. */
  readonly unknown: readonly string[];
}

/** Creates a key of the embedded service; a running daemon accepts it at once. @throws usage with a remote source */
export function createKey(config: Config, deps: ActDeps, wanted: NewKey): Promise<CreatedKey> {
  const create = async (store: Store): Promise<CreatedKey> => {
    const organizations = [...new Set(wanted.organizations)];
    const known = new Set(config.organizations.map(({ slug }) => slug));
    for (const slug of await store.platform.organizations.slugs()) known.add(slug);
    const nowMs = deps.clock.nowMs();
    const created = await store.transaction(async (parts) => {
      const made = await createApiKey(parts, { ...wanted, organizations, nowMs });
      const detail = { name: wanted.name, role: wanted.role, organizations };
      const by = { atMs: nowMs, actor: actor(deps.userName(), "cli") };
      await parts.audit.append({ ...by, action: "keys.create", slug: null, subject: made.stored.id, detail });
      return made;
    });
    return { ...created, unknown: organizations.filter((slug) => !known.has(slug)) };
  };
  return withEmbeddedStore(config, deps, create, { mustExist: false });
}

/** Returns the valid keys, oldest first. @throws usage with a remote source */
export function listKeys(config: Config, deps: PartsDeps): Promise<readonly StoredKey[]> {
  return withEmbeddedStore(config, deps, async (store) =>
    (await store.platform.keys.list()).filter(({ revokedAtMs }) => revokedAtMs === null),
  );
}

/**
 * Revokes a key at once, for a running daemon too. Returns false if no valid key has this id.
 * @throws usage with a remote source
 */
export function revokeKey(config: Config, deps: ActDeps, id: string): Promise<boolean> {
  const revoke = async ({ platform, audit }: StoreParts): Promise<boolean> => {
    const nowMs = deps.clock.nowMs();
    if (!(await platform.keys.revoke(id, nowMs))) return false;
    const by = { atMs: nowMs, actor: actor(deps.userName(), "cli") };
    await audit.append({ ...by, action: "keys.revoke", slug: null, subject: id });
    return true;
  };
  return withEmbeddedStore(config, deps, (store) => store.transaction(revoke));
}

/** Opens the store of the embedded service, beside a running daemon. @throws usage with a remote source */
export async function withEmbeddedStore<Result>(
  config: Config,
  deps: PartsDeps,
  work: (store: Store) => Promise<Result>,
  options: WithStoreOptions = {},
): Promise<Result> {
  if (!config.source.holdsEvents)
    throw new FlatlineError(
      "usage",
      `this command needs source.type: embedded; the configuration has source.type ${config.source.type}`,
    );
  return withStore(config, deps, ({ store }) => work(store), options);
}
