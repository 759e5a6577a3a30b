import type { Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";
import { findKey, hashKey } from "./api-keys.ts";
import type { KeyIdentity } from "./key-identity.ts";

/** Whose keys are presented. */
export interface KeyRing {
  /** null for one that is unknown or revoked. */
  readonly find: (presented: string) => Promise<KeyIdentity | null>;
  /** The same without asking the store: null where it has to be asked. */
  readonly remembered: (presented: string) => KeyIdentity | null;
}

// A revoked key is refused within 2 s (CONTRACT 3), whoever revoked it. A tenth of a second is at once for a person, and ten
// look-ups a second are nothing beside the thousands of requests that make them worth sparing.
const rememberedMs = 100;
// A bound for what callers can make us keep; fewer keys than that are in use at a time.
const rememberedKeys = 1_000;

interface Remembered {
  readonly identity: KeyIdentity;
  readonly untilMs: number;
}

/**
 * `findKey` that asks the store at most ten times a second for one key. Known by their hashes; a key that is unknown or
 * revoked is looked for each time, so that a new one is good at once.
 */
export function createKeyRing(options: {
  readonly store: Pick<Store, "platform">;
  readonly clock: Pick<Clock, "monotonicMs">;
}): KeyRing {
  const { store, clock } = options;
  const remembered = new Map<string, Remembered>();

  function recall(sha256: string): KeyIdentity | null {
    const known = remembered.get(sha256);
    if (known === undefined) return null;
    if (clock.monotonicMs() < known.untilMs) return known.identity;
    remembered.delete(sha256);
    return null;
  }

  return {
    find: async (presented) => {
      const sha256 = hashKey(presented);
      const known = recall(sha256);
      if (known !== null) return known;
      const nowMs = clock.monotonicMs();
      const identity = await findKey(store, presented);
      if (identity === null) return null;
      if (remembered.size >= rememberedKeys) remembered.clear();
      // From before the look-up: what was revoked while it was under way must not be remembered longer.
      remembered.set(sha256, { identity, untilMs: nowMs + rememberedMs });
      return identity;
    },
    remembered: (presented) => recall(hashKey(presented)),
  };
}
