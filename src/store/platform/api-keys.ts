import type { ApiKeyRow } from "./rows.ts";
import type { Db } from "../schema.ts";

/** `staff` keys read; only `customer` keys review (CONTRACT 9, check 4). */
export const keyRoles = ["customer", "staff"] as const;
export type KeyRole = (typeof keyRoles)[number];

/** A key of the embedded service, without the key itself. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  /** Slugs. */
  readonly organizations: readonly string[];
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

/** Creates the key store over the table `api_keys`. */
export function createApiKeyStore(db: Db) {
  return {
    /** Inserts a key, or updates name, role and organizations of the key with this hash and makes it valid again. */
    upsert: async ({
      id,
      sha256,
      name,
      role,
      organizations,
      createdAtMs,
    }: Omit<StoredKey, "revokedAtMs"> & { readonly sha256: string }): Promise<void> => {
      const said = { name, role, organizations: JSON.stringify(organizations) };
      await db
        .insertInto("api_keys")
        .values({ ...said, key_id: id, key_sha256: sha256, created_at_ms: createdAtMs, revoked_at_ms: null })
        .onConflict((conflict) => conflict.column("key_sha256").doUpdateSet({ ...said, revoked_at_ms: null }))
        .execute();
    },
    /** Returns the valid key with this SHA-256 (hex); null without one. */
    bySha256: async (sha256: string): Promise<(StoredKey & { readonly sha256: string }) | null> => {
      const row = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("key_sha256", "=", sha256)
        .where("revoked_at_ms", "is", null)
        .executeTakeFirst();
      return row === undefined ? null : { ...storedKey(row), sha256: row.key_sha256 };
    },
    /** Returns all keys, revoked ones included, oldest first. */
    list: async (): Promise<readonly StoredKey[]> => {
      const rows = await db.selectFrom("api_keys").selectAll().orderBy("created_at_ms").orderBy("key_id").execute();
      return rows.map(storedKey);
    },
    /** Returns false if there is no valid key with this id. */
    revoke: async (id: string, atMs: number): Promise<boolean> => {
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
