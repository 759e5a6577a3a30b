import { createHash } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";

/**
 * Until when a key must not be used on an origin, because a Retry-After said so (CONTRACT 9, the client). Clients that
 * share one of these keep each other's pauses; it holds hashes of keys only.
 */
export class PauseRegistry {
  readonly #clock: Clock;
  /** Account → monotonic milliseconds. */
  readonly #endsAtMs = new Map<string, number>();

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** Lets no request of the account start for `delayMs` from now; a longer pause that holds already stays. */
  pause(account: string, delayMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + delayMs;
    if (endsAtMs > (this.#endsAtMs.get(account) ?? 0)) this.#endsAtMs.set(account, endsAtMs);
  }

  /** How long a request of the account has to wait yet, milliseconds; 0 when it may go. */
  remainingMs(account: string): number {
    const endsAtMs = this.#endsAtMs.get(account);
    if (endsAtMs === undefined) return 0;
    const remainingMs = endsAtMs - this.#clock.monotonicMs();
    if (remainingMs > 0) return remainingMs;
    this.#endsAtMs.delete(account);
    return 0;
  }
}

/** The name under which pauses of this key on this origin are kept. */
export function accountOf(origin: string, apiKey: Secret): string {
  return `${origin} ${createHash("sha256").update(apiKey.reveal()).digest("hex")}`;
}
