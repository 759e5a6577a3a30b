import { FlatlineError } from "./errors.ts";
import type { Clock } from "./time.ts";

/**
 * Resolves to true if `work` ends within `limitMs` and before `signal` aborts, to false if it does not; rejects if `work` rejects
 * by then.
 */
export async function endsWithin(
  clock: Clock,
  work: Promise<unknown>,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const stopWaiting = new AbortController();
  const stopped = signal === undefined ? stopWaiting.signal : AbortSignal.any([signal, stopWaiting.signal]);
  try {
    return await Promise.race([work.then(() => true), clock.sleep(limitMs, stopped).then(() => false)]);
  } finally {
    stopWaiting.abort();
  }
}

// Aborted work needs a moment to see its signal and end.
const giveUpMs = 350;

/**
 * Waits `drainMs` for `work` to end, then aborts it and waits a moment longer. Returns null if it ended, otherwise the
 * problem for the log; rejects if `work` rejects.
 */
export async function drain(
  clock: Clock,
  work: Promise<unknown>,
  { drainMs, giveUp }: { readonly drainMs: number; readonly giveUp: () => void },
): Promise<FlatlineError | null> {
  if (await endsWithin(clock, work, drainMs)) return null;
  giveUp();
  if (await endsWithin(clock, work, giveUpMs)) return null;
  return new FlatlineError("unavailable", "work in progress does not end");
}

interface Release {
  readonly name: string;
  readonly release: (limitMs: number) => void | Promise<void>;
  /** True if the part stores data: its failure means that something was not written. */
  readonly stores: boolean;
}

/** A release that threw, or did not end in time. */
export interface ReleaseFailure extends Omit<Release, "release"> {
  readonly error: unknown;
}

/**
 * A group of resources that do not need each other and are released together (docs/architecture.md, Conventions):
 * acquire, then register the release on the next line. A resource that needs another one belongs to a group that is released
 * earlier.
 */
export class ReleaseGroup {
  #releases: Release[] = [];

  /**
   * Registers the release of a resource that was just acquired; `release` receives its time limit. `name` is for the log.
   */
  add(name: string, release: Release["release"], { stores = false } = {}): void {
    this.#releases.push({ name, release, stores });
  }

  /**
   * Starts every release before it returns, and waits at most `limitMs` for them. A release that throws or hangs does not
   * delay the others; the failed ones are returned. A second call does nothing.
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
    throw new FlatlineError("unavailable", `it has not ended within ${Math.round(limitMs)} ms`);
  } catch (error) {
    return { name, stores, error };
  }
}
