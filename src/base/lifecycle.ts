import { FlatlineError } from "./errors.ts";
import type { Clock } from "./time.ts";

/** Resolves to whether `work` ends within `limitMs` and before `signal` aborts; rejects if it rejects by then. */
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

// Aborted work needs a moment to end.
const giveUpMs = 350;

/** Waits for `work`, then aborts it and waits a moment. Returns the problem; null: it ended. Rejects if `work` does. */
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
  /** A failure means that something was not written. */
  readonly stores: boolean;
}

/**
 * Resources that are released together, because none needs another: what needs another one belongs to a group that is
 * released earlier. Acquire, then register the release on the next line (docs/architecture.md, Conventions).
 */
export class ReleaseGroup {
  readonly #releases: Release[] = [];

  /** The release gets its time limit; `name` is for the log. */
  add(name: string, release: Release["release"], { stores = false } = {}): void {
    this.#releases.push({ name, release, stores });
  }

  /** Starts all releases, once, and waits at most `limitMs`. Returns those that failed or did not end in time. */
  async releaseAll(clock: Clock, limitMs: number) {
    const releaseOne = async ({ name, release, stores }: Release) => {
      try {
        if (await endsWithin(clock, Promise.resolve(release(limitMs)), limitMs)) return [];
        throw new FlatlineError("unavailable", `it has not ended within ${Math.round(limitMs)} ms`);
      } catch (error) {
        return [{ name, stores, error }];
      }
    };
    return (await Promise.all(this.#releases.splice(0).map(releaseOne))).flat();
  }
}
