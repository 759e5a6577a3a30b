import type { KeyRole } from "../store/platform/api-keys.ts";

/** As whom an operation is asked for: the holder of one key. */
export interface KeyIdentity {
  readonly role: KeyRole;
  /** Slugs that the key reaches. */
  readonly organizations: readonly string[];
  /** null: in process, without a key. */
  readonly keyId: string | null;
}
