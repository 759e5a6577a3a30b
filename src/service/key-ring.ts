import type { Clock } from "../base/time.ts";
import type { Store } from "../store/store.ts";
import { findKey, hashKey } from "./api-keys.ts";
import type { KeyIdentity } from "./key-identity.ts";

// A revoked key is rejected within 2 s (CONTRACT 3), whichever process revoked it. A tenth of a second is immediate for a person, and
// ten queries per second are cheap.
const rememberedMs = 100;
// Bounds the cache against callers; fewer keys than that are in use at a time.
const rememberedKeys = 1_000;

interface Remembered {
  readonly identity: KeyIdentity;
  readonly untilMs: number;
}

/**
 * Creates a `findKey` that queries the store at most ten times per second and key. Only valid keys are cached, by hash, so
 * that a new key works at once.
 */
export function createKeyRing(options: {
  readonly store: Pick<Store, "platform">;
  readonly clock: Pick<Clock, "monotonicMs">;
}): (presented: string) => Promise<KeyIdentity | null> {
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
    // The time before the query: a revocation during the query must not be cached longer.
    remembered.set(sha256, { identity, untilMs: nowMs + rememberedMs });
    return identity;
  };
}
