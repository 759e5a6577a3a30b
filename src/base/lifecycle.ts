import type { Clock } from "./time.ts";

interface Release {
  readonly name: string;
  readonly release: () => void | Promise<void>;
}

export interface ReleaseOutcome {
  readonly name: string;
  readonly error: unknown;
}

/**
 * What was acquired, released in reverse order under one deadline (CONVENTIONS, Shape of modules): acquire, then register
 * the release on the next line.
 */
export class ReleaseStack {
  readonly #releases: Release[] = [];

  /** Registers how to release what was just acquired; `name` is for the log when that fails. */
  add(name: string, release: () => void | Promise<void>): void {
    this.#releases.push({ name, release });
  }

  /**
   * Releases everything, last first. One that throws, or is not done when `deadlineMs` have passed in all, does not keep
   * the others; they are in the answer. Calling it again does nothing.
   */
  async releaseAll(clock: Clock, deadlineMs: number): Promise<ReleaseOutcome[]> {
    const failed: ReleaseOutcome[] = [];
    const endsAtMs = clock.monotonicMs() + deadlineMs;
    for (let entry = this.#releases.pop(); entry !== undefined; entry = this.#releases.pop()) {
      const { name, release } = entry;
      const stopWaiting = new AbortController();
      const remainingMs = Math.max(0, endsAtMs - clock.monotonicMs());
      try {
        const late = Symbol("late");
        const outcome = await Promise.race([
          Promise.resolve(release()).then(() => null),
          clock.sleep(remainingMs, stopWaiting.signal).then(() => late),
        ]);
        if (outcome === late) failed.push({ name, error: new Error(`not released within ${deadlineMs} ms`) });
      } catch (error) {
        failed.push({ name, error });
      } finally {
        stopWaiting.abort();
      }
    }
    return failed;
  }
}
