import { keyRoles, type ApiKeyStore, type StoredKey } from "./api-keys.ts";
import type { ApiKeyRow } from "./rows.ts";
import type { Db } from "../schema.ts";

/** Creates the key store over the table `api_keys`. */
export function createApiKeyStore(db: Db): ApiKeyStore {
  return {
    upsert: async ({ id, sha256, name, role, organizations, createdAtMs }) => {
      const said = { name, role, organizations: JSON.stringify(organizations) };
      await db
        .insertInto("api_keys")
        .values({ ...said, key_id: id, key_sha256: sha256, created_at_ms: createdAtMs, revoked_at_ms: null })
        .onConflict((conflict) => conflict.column("key_sha256").doUpdateSet({ ...said, revoked_at_ms: null }))
        .execute();
    },
    bySha256: async (sha256) => {
      const row = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("key_sha256", "=", sha256)
        .where("revoked_at_ms", "is", null)
        .executeTakeFirst();
      return row === undefined ? null : { ...storedKey(row), sha256: row.key_sha256 };
    },
    list: async () => {
      const rows = await db.selectFrom("api_keys").selectAll().orderBy("created_at_ms").orderBy("key_id").execute();
      return rows.map(storedKey);
    },
    revoke: async (id, atMs) => {
      const { numUpdatedRows } = await db
        .updateTable("api_keys")
        .set({ revoked_at_ms: atMs })
        .where("key_id", "=", id)
        .where("revoked_at_ms", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

function storedKey(row: ApiKeyRow): StoredKey {
  return {
    id: row.key_id,
    name: row.name,
    // A role of a newer program gets the lower privilege.
    role: keyRoles.find((role) => role === row.role) ?? "staff",
    organizations: JSON.parse(row.organizations) as string[],
    createdAtMs: row.created_at_ms,
    revokedAtMs: row.revoked_at_ms,
  };
}
