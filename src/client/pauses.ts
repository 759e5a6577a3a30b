import { createHash } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { hourMs, type Clock } from "../base/time.ts";

// CONTRACT 9: a Retry-After of years is a mistake, and an hour without an answer is long enough for a limit that is meant.
const longestPauseMs = hourMs;

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

  /** Lets no request of the account start for `delayMs` from now, at most an hour; a longer pause that holds already stays. */
  pause(account: string, delayMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + Math.min(delayMs, longestPauseMs);
    if (endsAtMs > (this.#endsAtMs.get(account) ?? 0)) this.#endsAtMs.set(account, endsAtMs);
  }

  /** Ends the pause of the account: its next request may start at once. */
  end(account: string): void {
    this.#endsAtMs.delete(account);
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
