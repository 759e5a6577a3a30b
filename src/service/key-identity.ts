import type { Actor } from "../contract/actor.ts";
import type { KeyRole } from "../store/platform/api-keys.ts";

/** The holder of a key, on whose behalf an operation runs. */
export interface KeyIdentity {
  readonly role: KeyRole;
  /** Slugs that the key may access. */
  readonly organizations: readonly string[];
  /** null: in process, without a key. */
  readonly keyId: string | null;
  /** The author of its reviews, for the audit [flatline itself]. */
  readonly author?: Actor;
}
