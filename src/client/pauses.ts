import { createHash } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { hourMs, type Clock } from "../base/time.ts";

// CONTRACT 9: a Retry-After of years is a mistake, and an hour is long enough for a real rate limit.
const longestPauseMs = hourMs;

/** The pauses that a Retry-After asked for, by hashes of key and origin, for all clients that share it (CONTRACT 9). */
export class PauseRegistry {
  readonly #clock: Clock;
  readonly #others: PauseRegistry | null;
  /** Account → end of its pause, monotonic milliseconds. */
  readonly #endsAtMs = new Map<string, number>();

  /** With `others`: honours their pauses, too, and asks none of them to honour its own. */
  constructor(options: { readonly clock: Clock; readonly others?: PauseRegistry }) {
    this.#clock = options.clock;
    this.#others = options.others ?? null;
  }

  /** Pauses the account for `delayMs`, at most an hour; a longer pause that is already in force stays. */
  pause(account: string, delayMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + Math.min(delayMs, longestPauseMs);
    if (endsAtMs > (this.#endsAtMs.get(account) ?? 0)) this.#endsAtMs.set(account, endsAtMs);
  }

  /** Ends the pause of the account. */
  end(account: string): void {
    this.#endsAtMs.delete(account);
  }

  /** Returns the rest of the account's pause in milliseconds, 0 without one. */
  remainingMs(account: string): number {
    const remainingMs = (this.#endsAtMs.get(account) ?? 0) - this.#clock.monotonicMs();
    if (remainingMs <= 0) this.#endsAtMs.delete(account);
    return Math.max(0, remainingMs, this.#others?.remainingMs(account) ?? 0);
  }
}

/** Returns the name of a key on an origin, in which the key itself is hashed. */
export function accountOf(origin: string, apiKey: Secret): string {
  return `${origin} ${createHash("sha256").update(apiKey.reveal()).digest("hex")}`;
}
