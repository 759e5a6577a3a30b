import { hash, randomBytes, timingSafeEqual } from "node:crypto";

import type { Clock } from "../base/time.ts";
import { actor, type Actor } from "../contract/actor.ts";
import type { StoredKey } from "../store/platform/platform.ts";
import type { KeyRole } from "../store/platform/tables.ts";
import type { Store } from "../store/store.ts";

// 256 bits cannot be guessed: a plain hash is sufficient.
const keyBytes = 32;

/** Returns the stored form of a key: SHA-256, hex. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** Returns the stable public id of a key, which reveals nothing of the key. */
export function keyIdOf(sha256: string): string {
  return `key_${hash("sha256", `key id ${sha256}`).slice(0, 16)}`;
}

type WantedKey = Pick<StoredKey, "name" | "organizations"> & { readonly role: KeyRole };

/** Returns the holder of a key; null: unknown or revoked. Compares hashes in constant time. */
export async function findKey(store: Pick<Store, "platform">, presented: string): Promise<KeyIdentity | null> {
  const sha256 = hashKey(presented);
  const found = await store.platform.keys.bySha256(sha256);
  if (found === null || !timingSafeEqual(Buffer.from(found.sha256), Buffer.from(sha256))) return null;
  const author = actor(found.name, "api_v2");
  return { role: found.role, organizations: found.organizations, keyId: found.id, author };
}

/** The holder of a key, on whose behalf an operation runs. */
export interface KeyIdentity {
  readonly role: KeyRole;
  readonly organizations: readonly string[];
  /** null: in process, without a key. */
  readonly keyId: string | null;
  /** The author of its reviews, for the audit [flatline itself]. */
  readonly author?: Actor;
}

/** Each act is audited in its own transaction. */
export function createKeyActs({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  return {
    /** The valid ones, oldest first. */
    list: async (): Promise<readonly StoredKey[]> =>
      (await store.platform.keys.list()).filter(({ revokedAtMs }) => revokedAtMs === null),
    /** Makes a key, which cannot be read again (CONTRACT 3, keys create). */
    create: (detail: WantedKey, author: Actor): Promise<{ readonly key: string; readonly stored: StoredKey }> =>
      store.transaction(async ({ platform, audit }) => {
        const nowMs = clock.nowMs();
        const key = `fl_${randomBytes(keyBytes).toString("base64url")}`;
        const sha256 = hashKey(key);
        const made = { ...detail, id: keyIdOf(sha256), createdAtMs: nowMs };
        await platform.keys.upsert({ ...made, sha256 });
        const act = { atMs: nowMs, actor: author, action: "keys.create", slug: null } as const;
        await audit.append({ ...act, subject: made.id, detail: { ...detail } });
        return { key, stored: { ...made, revokedAtMs: null } };
      }),
    /** False: there is no valid key with this id. */
    revoke: (id: string, author: Actor): Promise<boolean> =>
      store.transaction(async ({ platform, audit }) => {
        const nowMs = clock.nowMs();
        if (!(await platform.keys.revoke(id, nowMs))) return false;
        await audit.append({ atMs: nowMs, actor: author, action: "keys.revoke", slug: null, subject: id });
        return true;
      }),
  };
}
