import type { Db } from "../tables.ts";

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

export interface ApiKeyTables {
  readonly api_keys: Omit<StoredKey, "id" | "role" | "organizations"> & {
    readonly keyId: string;
    readonly keySha256: string;
    readonly role: string;
    /** A JSON array. */
    readonly organizations: string;
  };
}

const columns = ["keyId as id", "name", "role", "organizations", "createdAtMs", "revokedAtMs"] as const;

/** Creates the key store over the table `api_keys`. */
export function createApiKeyStore(db: Db) {
  return {
    /** Inserts a key, or updates name, role and organizations of the key with this hash and makes it valid again. */
    upsert: async (key: Omit<StoredKey, "revokedAtMs"> & { readonly sha256: string }): Promise<void> => {
      const { id, sha256, name, role, organizations, createdAtMs } = key;
      const said = { name, role, organizations: JSON.stringify(organizations), revokedAtMs: null };
      await db
        .insertInto("api_keys")
        .values({ ...said, keyId: id, keySha256: sha256, createdAtMs })
        .onConflict((conflict) => conflict.column("keySha256").doUpdateSet(said))
        .execute();
    },
    /** Returns the valid key with this SHA-256 (hex); null without one. */
    bySha256: async (sha256: string): Promise<(StoredKey & { readonly sha256: string }) | null> => {
      const row = await db
        .selectFrom("api_keys")
        .select(columns)
        .where("keySha256", "=", sha256)
        .where("revokedAtMs", "is", null)
        .executeTakeFirst();
      return row === undefined ? null : { ...storedKey(row), sha256 };
    },
    /** Returns all keys, revoked ones included, oldest first. */
    list: async (): Promise<readonly StoredKey[]> => {
      const rows = await db.selectFrom("api_keys").select(columns).orderBy("createdAtMs").orderBy("keyId").execute();
      return rows.map(storedKey);
    },
    /** Returns false if there is no valid key with this id. */
    revoke: async (id: string, atMs: number): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable("api_keys")
        .set({ revokedAtMs: atMs })
        .where("keyId", "=", id)
        .where("revokedAtMs", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

function storedKey(row: Omit<ApiKeyTables["api_keys"], "keyId" | "keySha256"> & { readonly id: string }): StoredKey {
  return {
    ...row,
    // A role of a newer program gets the lower privilege.
    role: keyRoles.find((role) => role === row.role) ?? "staff",
    organizations: JSON.parse(row.organizations) as string[],
  };
}
