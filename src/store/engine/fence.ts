import { FlatlineError } from "../../base/errors.ts";

// Statements that change the database. A read with "for update" matches, too, which costs two short statements more.
const changes = /\b(?:insert|update|delete|create|drop|alter|lock|truncate)\b/i;

/**
 * Knows whether this process may write, and as the writer of which epoch. Connections are read-only by default. Each
 * transaction that writes first locks the writer's row of its epoch until its end: what slips through fails.
 */
export class Fence {
  readonly #place: string;
  #epoch: number | null;
  #onLost: (() => void) | null = null;
  #isLost = false;

  constructor(place: string, epoch: number | null = null) {
    this.#place = place;
    this.#epoch = epoch;
  }

  /** Lets this process write; `onLost` is called once when it may no longer. */
  open(epoch: number, onLost: () => void): void {
    this.#epoch = epoch;
    this.#onLost = onLost;
  }

  /** Another process has taken over. */
  close(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#onLost?.();
  }

  /** Returns SQL that begins a transaction; its last statement has no row if the epoch ended. @throws store_taken */
  begin(text: string): string {
    if (this.#isLost) throw this.lostError();
    if (this.#epoch === null) return `${text} read only; select 1`;
    return `${text} read write; select 1 from writer where epoch = ${this.#epoch} for key share`;
  }

  lostError(): FlatlineError {
    return new FlatlineError("store_taken", `another process writes to the store ${this.#place} by now`);
  }
}

/** Returns whether a statement has to be in a transaction that writes. */
export function isChange(text: string): boolean {
  return changes.test(text);
}
