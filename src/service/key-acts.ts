import type { Clock } from "../base/time.ts";
import type { Actor } from "../contract/actor.ts";
import type { StoredKey } from "../store/platform/platform.ts";
import type { KeyRole } from "../store/platform/tables.ts";
import type { Store } from "../store/store.ts";
import { createApiKey } from "./api-keys.ts";

/** Returns what people do with keys; each act is audited in its own transaction. */
export function createKeyActs({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  return {
    /** The valid ones, oldest first. */
    list: async (): Promise<readonly StoredKey[]> =>
      (await store.platform.keys.list()).filter(({ revokedAtMs }) => revokedAtMs === null),
    create: (
      wanted: Pick<StoredKey, "name" | "organizations"> & { readonly role: KeyRole },
      author: Actor,
    ): ReturnType<typeof createApiKey> =>
      store.transaction(async (parts) => {
        const nowMs = clock.nowMs();
        const { name, role, organizations } = wanted;
        const made = await createApiKey(parts, { name, role, organizations, nowMs });
        const detail = { name, role, organizations };
        const act = { atMs: nowMs, actor: author, action: "keys.create", slug: null } as const;
        await parts.audit.append({ ...act, subject: made.stored.id, detail });
        return made;
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
