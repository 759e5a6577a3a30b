import { hostname } from "node:os";
// oxlint-disable-next-line no-restricted-imports -- nothing but a name for people
import { pid } from "node:process";
import { FlatlineError } from "../base/errors.ts";
import { secondMs } from "../base/time.ts";

/** The right of this process to write to the store. It ends with the process, or with `close` of the store. */
export interface Writer {
  /** Grows with each process that takes over; always 0 for a file, which a lock holds. */
  readonly epoch: number;
  /** Aborts when another process has taken over, with the error as its reason: this one can write nothing any more. */
  readonly lost: AbortSignal;
  /** Returns whether no other process can have taken over by now. */
  isSure(): boolean;
  /** Proves that the store takes what this process writes. @throws store_taken, store_busy, store_unusable */
  renew(): Promise<void>;
  /** Lets the next process write; a second call does nothing. Does not reject. */
  release(): Promise<void>;
}

export interface TakeWriterOptions {
  /** How long to wait while another process writes [10 s]; Infinity: until it has ended. */
  readonly withinMs?: number;
  /** Ends the wait [never]. */
  readonly signal?: AbortSignal;
  /** Called once with who writes, when there is a wait. */
  readonly onWait?: (holder: string) => void;
}

/** A process that is being replaced may still be closing. */
export const takeWithinMs = 10 * secondMs;

/** Returns the name of this process for another one that waits for it. */
export function holderName(): string {
  return `process ${pid} on ${hostname()}`;
}

/** Creates the error of a process that waited long enough; `place` is the store's name in messages. */
export function heldError(place: string, holder: string): FlatlineError {
  return new FlatlineError(
    "store_busy",
    `${holder} writes to the store ${place}: stop it, or give this one a store of its own`,
  );
}
