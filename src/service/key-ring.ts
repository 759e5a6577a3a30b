import type { Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";
import { findKey, hashKey } from "./api-keys.ts";
import type { KeyIdentity } from "./key-identity.ts";

/** Whose key was presented; null for one that is unknown or revoked. */
export type KeyRing = (presented: string) => Promise<KeyIdentity | null>;

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

  return async (presented) => {
    const sha256 = hashKey(presented);
    const known = remembered.get(sha256);
    const nowMs = clock.monotonicMs();
    if (known !== undefined && nowMs < known.untilMs) return known.identity;
    remembered.delete(sha256);
    const identity = await findKey(store, presented);
    if (identity === null) return null;
    if (remembered.size >= rememberedKeys) remembered.clear();
    // From before the look-up: what was revoked while it was under way must not be remembered longer.
    remembered.set(sha256, { identity, untilMs: nowMs + rememberedMs });
    return identity;
  };
}
