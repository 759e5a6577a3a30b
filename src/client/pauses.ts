import { hash } from "node:crypto";

import type { Secret } from "../base/secret.ts";
import { hourMs, type Clock } from "../base/time.ts";

// CONTRACT 9: a Retry-After of years is a mistake; an hour is long enough for a real rate limit.
const longestPauseMs = hourMs;

/** Retry-After pauses by origin and hash of the key, for all clients that share it (CONTRACT 9). */
export class PauseRegistry {
  readonly #clock: Clock;
  readonly #others: PauseRegistry | null;
  /** Account → end of its pause, monotonic clock. */
  readonly #endsAtMs = new Map<string, number>();

  /** Also honours the pauses of `others`, which do not honour its own. */
  constructor(options: { readonly clock: Clock; readonly others?: PauseRegistry }) {
    this.#clock = options.clock;
    this.#others = options.others ?? null;
  }

  /** Pauses the account for `delayMs`, at most an hour; a longer pause stays. */
  pause(account: string, delayMs: number): void {
    const endsAtMs = this.#clock.monotonicMs() + Math.min(delayMs, longestPauseMs);
    if (endsAtMs > (this.#endsAtMs.get(account) ?? 0)) this.#endsAtMs.set(account, endsAtMs);
  }

  end(account: string): void {
    this.#endsAtMs.delete(account);
  }

  /** 0: no pause. */
  remainingMs(account: string): number {
    const remainingMs = (this.#endsAtMs.get(account) ?? 0) - this.#clock.monotonicMs();
    if (remainingMs <= 0) this.#endsAtMs.delete(account);
    return Math.max(0, remainingMs, this.#others?.remainingMs(account) ?? 0);
  }
}

/** Names a key on an origin by the key's hash. */
export function accountOf(origin: string, apiKey: Secret): string {
  return `${origin} ${hash("sha256", apiKey.reveal())}`;
}
