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

export interface ApiKeyStore {
  /** Inserts a key, or updates name, role and organizations of the key with this hash and makes it valid again. */
  upsert(key: Omit<StoredKey, "revokedAtMs"> & { readonly sha256: string }): Promise<void>;
  /** Returns the valid key with this SHA-256 (hex); null without one. */
  bySha256(sha256: string): Promise<(StoredKey & { readonly sha256: string }) | null>;
  /** Returns all keys, revoked ones included, oldest first. */
  list(): Promise<readonly StoredKey[]>;
  /** Returns false if there is no valid key with this id. */
  revoke(id: string, atMs: number): Promise<boolean>;
}
