import { FlatlineError } from "./errors.ts";
import type { Clock } from "./time.ts";

/** Resolves true when `work` has ended, false when it has not within `limitMs`; rejects when `work` does in that time. */
export async function endsWithin(clock: Clock, work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const stopWaiting = new AbortController();
  try {
    return await Promise.race([work.then(() => true), clock.sleep(limitMs, stopWaiting.signal).then(() => false)]);
  } finally {
    stopWaiting.abort();
  }
}

// What was told to give up waits for nothing but its signal.
const giveUpMs = 350;

/**
 * Gives `work` `drainMs` to end by itself, then tells it to give up and waits a moment for that. Answers null when it has ended,
 * else what to say of it; rejects when `work` does.
 */
export async function drain(
  clock: Clock,
  work: Promise<unknown>,
  { drainMs, giveUp }: { readonly drainMs: number; readonly giveUp: () => void },
): Promise<FlatlineError | null> {
  if (await endsWithin(clock, work, drainMs)) return null;
  giveUp();
  if (await endsWithin(clock, work, giveUpMs)) return null;
  return new FlatlineError("unavailable", "what is under way does not end");
}

export interface ReleaseOptions {
  /** It stores what it holds: when it fails, something was not written [false]. */
  readonly stores?: boolean;
}

interface Release extends Required<ReleaseOptions> {
  readonly name: string;
  readonly release: (limitMs: number) => void | Promise<void>;
}

/** A release that threw, or had not ended in time. */
export interface ReleaseFailure {
  readonly name: string;
  readonly error: unknown;
  readonly stores: boolean;
}

/**
 * Things that are released together, because none needs another for it (CONVENTIONS, Shape of modules): acquire, then register
 * the release on the next line. What needs another is in a group that is released before that other's.
 */
export class ReleaseGroup {
  #releases: Release[] = [];

  /** Registers how to release what was just acquired; `release` learns how long it may take. `name` is for the log. */
  add(name: string, release: Release["release"], { stores = false }: ReleaseOptions = {}): void {
    this.#releases.push({ name, release, stores });
  }

  /**
   * Begins every release before it returns, and waits for them at most `limitMs`. One that throws, or hangs, keeps no other;
   * these are in the answer. Calling it again does nothing.
   */
  async releaseAll(clock: Clock, limitMs: number): Promise<ReleaseFailure[]> {
    const releases = this.#releases;
    this.#releases = [];
    const outcomes = await Promise.all(releases.map((one) => releaseOne(one, clock, limitMs)));
    return outcomes.filter((outcome) => outcome !== null);
  }
}

async function releaseOne(
  { name, release, stores }: Release,
  clock: Clock,
  limitMs: number,
): Promise<ReleaseFailure | null> {
  try {
    if (await endsWithin(clock, Promise.resolve(release(limitMs)), limitMs)) return null;
    return {
      name,
      stores,
      error: new FlatlineError("unavailable", `it has not ended within ${Math.round(limitMs)} ms`),
    };
  } catch (error) {
    return { name, stores, error };
  }
}
